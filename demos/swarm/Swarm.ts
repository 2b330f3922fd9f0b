import {
  createAgents,
  GAITS,
  HASTE,
  MARGIN,
  PUSH,
  RADIUS,
  REST,
  RUN,
  SIGHT,
  SLOWING,
  STONES,
  STRIDE,
  TURN,
} from './rules.js';

/** Cells along a side, each as wide as others count as near. */
const CELLS = 256;

const cellAt = (x: number) => Math.min(Math.max(Math.floor(x / RADIUS) + CELLS / 2, 0), CELLS - 1);

/** A swarm that the CPU steers: what SwarmOnGPU does in compute, line by line. */
export class Swarm {
  readonly agents: Float32Array;
  /** Which of the clips each plays, and how fast: pairs. */
  readonly gaits: Float32Array;
  private readonly traits: Float32Array;
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
    const [near, quick] = [traits[at], traits[at + 1]];

    // to the light, but not all to one place
    let [wx, wz] = [lightX - x, lightZ - z];
    const distance = Math.max(Math.hypot(wx, wz), 1e-5);
    const left = distance - near;
    const follows = left > 0 && distance < SIGHT;
    const speed = follows ? (RUN * quick * Math.min(left / SLOWING, 1)) / distance : 0;
    wx *= speed;
    wz *= speed;

    // around stones
    for (const [sx, sz, radius] of STONES) {
      const [ox, oz] = [x - sx, z - sz];
      const off = Math.max(Math.hypot(ox, oz), 1e-5);
      const [nx, nz] = [ox / off, oz / off];
      const inward =
        Math.max(-(wx * nx + wz * nz), 0) * Math.min(Math.max(1 - (off - radius) / MARGIN, 0), 1);
      const side = wx * -nz + wz * nx < 0 ? -inward : inward;
      wx += nx * inward - nz * side;
      wz += nz * inward + nx * side;
    }

    // apart from each other
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
        wx += ax * strength;
        wz += az * strength;
      }
    }

    const wanted = Math.hypot(wx, wz);
    const kept = wanted < REST ? 0 : Math.min((RUN * quick) / wanted, 1);
    const [dx, dz] = [wx * kept - vx, wz * kept - vz];
    const change = Math.min((HASTE * delta) / Math.max(Math.hypot(dx, dz), 1e-5), 1);
    const [nvx, nvz] = [vx + dx * change, vz + dz * change];
    let [nextX, nextZ] = [x + nvx * delta, z + nvz * delta];
    for (const [sx, sz, radius] of STONES) {
      const [ox, oz] = [nextX - sx, nextZ - sz];
      const out = Math.max(radius / Math.max(Math.hypot(ox, oz), 1e-5), 1);
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
    if (speed > REST) {
      const turn = Math.min(TURN * delta, 1);
      dx += (vx / speed - dx) * turn;
      dz += (vz / speed - dz) * turn;
    }
    const scale = size / Math.max(Math.hypot(dx, dz), 1e-5);
    [dx, dz] = [dx * scale, dz * scale];
    matrices.set([dz, 0, -dx, 0, 0, size, 0, 0, dx, 0, dz, 0, x, 0, z, 1], m);
    let gait = 0;
    while (gait + 1 < GAITS.length && speed >= GAITS[gait + 1][2]) gait++;
    const [, right] = GAITS[gait];
    gaits[i * 2] = gait;
    gaits[i * 2 + 1] = right === 0 ? 1 : Math.max(Math.round((speed * 8) / right) / 8, 0.125);
  }
}
