import {
  AROUND,
  BLAST,
  CLEAR,
  createAgents,
  endsOf,
  GAITS,
  HASTE,
  LYING,
  MARGIN,
  nearestOn,
  OBSTACLES,
  PUSH,
  RADIUS,
  REST,
  RUN,
  SHOVE,
  SIGHT,
  SLOWING,
  STRIDE,
  THROWN,
  TURN,
  WALLS,
} from './rules.js';

/** Cells along a side, each as wide as others count as near. */
const CELLS = 256;

/** Of each wall where it is in the way, and where one goes round it. */
const DETOURS = WALLS.map((wall) => ({ clear: endsOf(wall, CLEAR), around: endsOf(wall, AROUND) }));

/** On which side of a line a place is, and how far. */
const sideOf = (ax: number, az: number, bx: number, bz: number, x: number, z: number) =>
  (bx - ax) * (z - az) - (bz - az) * (x - ax);

const cellAt = (x: number) => Math.min(Math.max(Math.floor(x / RADIUS) + CELLS / 2, 0), CELLS - 1);

/** A swarm that the CPU steers: what SwarmOnGPU does in compute, line by line. */
export class Swarm {
  readonly agents: Float32Array;
  /** Which of the clips each plays, and how fast: pairs. Behind the clips for speeds comes that of a fall. */
  readonly gaits: Float32Array;
  readonly traits: Float32Array;
  /** Where a blast is in the next step: x and z, and 1 if there is one. */
  readonly blast: [x: number, z: number, is: number] = [0, 0, 0];
  private readonly next: Float32Array;
  private readonly ends = new Uint32Array(CELLS * CELLS);
  private readonly ids: Uint32Array;

  /** @param matrices Where all stand: an `instanceMatrix`'s numbers. */
  constructor(
    private readonly count: number,
    readonly matrices: Float32Array,
  ) {
    const { agents, traits } = createAgents(count);
    this.agents = agents;
    this.traits = traits;
    this.next = new Float32Array(agents.length);
    this.ids = new Uint32Array(count);
    this.gaits = new Float32Array(count * 2);
    for (let i = 0; i < count; i++) matrices[i * 16 + 10] = 1;
  }

  step(delta: number, lightX: number, lightZ: number): void {
    this.sort();
    for (let i = 0; i < this.count; i++) this.steer(i, delta, lightX, lightZ);
    for (let i = 0; i < this.count; i++) this.settle(i, delta);
  }

  /** A counting sort by cells. */
  private sort(): void {
    const { agents, ends, ids, count } = this;
    const cellOf = (i: number) => cellAt(agents[i * STRIDE + 1]) * CELLS + cellAt(agents[i * STRIDE]);
    ends.fill(0);
    for (let i = 0; i < count; i++) ends[cellOf(i)]++;
    let sum = 0;
    for (let cell = 0; cell < ends.length; cell++) {
      sum += ends[cell];
      ends[cell] = sum - ends[cell];
    }
    for (let i = 0; i < count; i++) ids[ends[cellOf(i)]++] = i;
  }

  private steer(i: number, delta: number, lightX: number, lightZ: number): void {
    const { agents, traits, next, ends, ids } = this;
    const at = i * STRIDE;
    const [x, z, vx, vz] = [agents[at], agents[at + 1], agents[at + 2], agents[at + 3]];
    const [near, quick, down] = [traits[at], traits[at + 1], traits[at + 3]];

    // to the light, but not all to one place
    let [wx, wz] = [lightX - x, lightZ - z];
    const distance = Math.max(Math.hypot(wx, wz), 1e-5);
    const left = distance - near;
    const follows = left > 0 && distance < SIGHT;
    const speed = follows ? (RUN * quick * Math.min(left / SLOWING, 1)) / distance : 0;
    wx *= speed;
    wz *= speed;

    // round the ends of walls that are between
    let [aimX, aimZ] = [lightX, lightZ];
    for (const { clear, around } of DETOURS) {
      const { ax, az, bx, bz } = clear;
      const here = sideOf(ax, az, bx, bz, x, z) * sideOf(ax, az, bx, bz, aimX, aimZ);
      const across = sideOf(x, z, aimX, aimZ, ax, az) * sideOf(x, z, aimX, aimZ, bx, bz);
      if (here >= 0 || across >= 0) continue;
      const wayBy = (endX: number, endZ: number) =>
        Math.hypot(x - endX, z - endZ) + Math.hypot(lightX - endX, lightZ - endZ);
      const isFirst = wayBy(around.ax, around.az) < wayBy(around.bx, around.bz);
      aimX = isFirst ? around.ax : around.bx;
      aimZ = isFirst ? around.az : around.bz;
    }
    if (aimX !== lightX || aimZ !== lightZ) {
      const pace = (speed * distance) / Math.max(Math.hypot(aimX - x, aimZ - z), 1e-5);
      [wx, wz] = [(aimX - x) * pace, (aimZ - z) * pace];
    }

    // around stones, and along walls
    for (const obstacle of OBSTACLES) {
      const { radius } = obstacle;
      const share = nearestOn(obstacle, x, z);
      const ox = x - obstacle.x - obstacle.alongX * share;
      const oz = z - obstacle.z - obstacle.alongZ * share;
      const off = Math.max(Math.hypot(ox, oz), 1e-5);
      const [nx, nz] = [ox / off, oz / off];
      const inward =
        Math.max(-(wx * nx + wz * nz), 0) * Math.min(Math.max(1 - (off - radius) / MARGIN, 0), 1);
      const side = wx * -nz + wz * nx < 0 ? -inward : inward;
      wx += nx * inward - nz * side;
      wz += nz * inward + nx * side;
    }

    // apart from each other
    let [px, pz] = [0, 0];
    const [left0, right] = [cellAt(x - RADIUS), cellAt(x + RADIUS)];
    for (let row = Math.max(cellAt(z) - 1, 0); row <= Math.min(cellAt(z) + 1, CELLS - 1); row++) {
      const first = row * CELLS;
      const begin = first + left0 === 0 ? 0 : ends[first + left0 - 1];
      for (let k = begin; k < ends[first + right]; k++) {
        const other = ids[k] * STRIDE;
        const [ax, az] = [x - agents[other], z - agents[other + 1]];
        const away = Math.hypot(ax, az);
        if (other === at || away >= RADIUS || away <= 1e-5) continue;
        const strength = PUSH * (1 / away - 1 / RADIUS);
        px += ax * strength;
        pz += az * strength;
      }
    }
    wx += px;
    wz += pz;

    // what happens to them
    const [bx, bz] = [x - this.blast[0], z - this.blast[1]];
    const far = Math.max(Math.hypot(bx, bz), 1e-5);
    const isThrown = this.blast[2] > 0 && far < BLAST;
    const falls = down <= 0 && (isThrown || Math.hypot(px, pz) > SHOVE);
    traits[at + 3] = falls ? LYING : Math.max(down - delta, 0);

    const wanted = Math.hypot(wx, wz);
    const kept = wanted < REST || down > 0 ? 0 : Math.min((RUN * quick) / wanted, 1);
    const [dx, dz] = [wx * kept - vx, wz * kept - vz];
    const change = Math.min((HASTE * delta) / Math.max(Math.hypot(dx, dz), 1e-5), 1);
    let [nvx, nvz] = [vx + dx * change, vz + dz * change];
    if (isThrown) [nvx, nvz] = [(bx / far) * THROWN, (bz / far) * THROWN];
    let [nextX, nextZ] = [x + nvx * delta, z + nvz * delta];
    for (const obstacle of OBSTACLES) {
      const share = nearestOn(obstacle, nextX, nextZ);
      const sx = obstacle.x + obstacle.alongX * share;
      const sz = obstacle.z + obstacle.alongZ * share;
      const [ox, oz] = [nextX - sx, nextZ - sz];
      const out = Math.max(obstacle.radius / Math.max(Math.hypot(ox, oz), 1e-5), 1);
      nextX = sx + ox * out;
      nextZ = sz + oz * out;
    }
    next[at] = nextX;
    next[at + 1] = nextZ;
    next[at + 2] = nvx;
    next[at + 3] = nvz;
  }

  /** Writes where somebody stands, and which clip is right. */
  private settle(i: number, delta: number): void {
    const { agents, next, matrices, traits, gaits } = this;
    const at = i * STRIDE;
    for (let k = at; k < at + STRIDE; k++) agents[k] = next[k];
    const [x, z, vx, vz] = [agents[at], agents[at + 1], agents[at + 2], agents[at + 3]];
    const size = traits[at + 2];
    const speed = Math.hypot(vx, vz);
    const m = i * 16;
    const length = Math.max(Math.hypot(matrices[m + 8], matrices[m + 10]), 1e-5);
    let [dx, dz] = [matrices[m + 8] / length, matrices[m + 10] / length];
    const isDown = traits[at + 3] > 0;
    if (speed > REST && !isDown) {
      const turn = Math.min(TURN * delta, 1);
      dx += (vx / speed - dx) * turn;
      dz += (vz / speed - dz) * turn;
    }
    const scale = size / Math.max(Math.hypot(dx, dz), 1e-5);
    [dx, dz] = [dx * scale, dz * scale];
    matrices.set([dz, 0, -dx, 0, 0, size, 0, 0, dx, 0, dz, 0, x, 0, z, 1], m);
    let gait = 0;
    while (gait + 1 < GAITS.length && speed >= GAITS[gait + 1][2]) gait++;
    if (isDown) {
      gaits[i * 2] = GAITS.length;
      gaits[i * 2 + 1] = 1;
      return;
    }
    const [, right] = GAITS[gait];
    gaits[i * 2] = gait;
    gaits[i * 2 + 1] = right === 0 ? 1 : Math.max(Math.round((speed * 8) / right) / 8, 0.125);
  }
}
