/** By which rules a swarm moves: {@link Swarm} goes by them on the CPU, and SwarmOnGPU in compute. */

/** Units a second, and a second and second. */
export const RUN = 4.4;
export const HASTE = 6;
/** How near others may come, and how strongly they are kept away. */
export const RADIUS = 1.05;
export const PUSH = 4;
/** From how far the light is followed, and how far from where one wants to be one slows down. */
export const SIGHT = 80;
export const SLOWING = 9;
/** Who wants to move slower than that stands. */
export const REST = 0.35;
/** How far from a stone or a wall one begins to go round it. */
export const MARGIN = 1.6;
/** How far beyond a wall's end one goes round it, and how far the wall is in the way there. */
export const AROUND = 1.1;
export const CLEAR = 0.6;
/** Whoever others push harder than that falls. A blast throws whoever is near, as fast. */
export const SHOVE = 4.5;
export const BLAST = 5.5;
export const THROWN = 4;
/** Seconds that somebody who fell takes to be up again. */
export const LYING = 2.6;
/** How quickly one turns to where one goes: shares a second. */
export const TURN = 7;
/** Seconds of a step at most. */
export const LONGEST = 0.05;
/** Seconds in which clips fade. */
export const FADE = 0.25;
/** Clips, the speed at which each is right, and from which on it is played. */
export const GAITS = [
  ['Idle', 0, 0],
  ['Walk', 1.03, 0.3],
  ['Run', 2.52, 1.9],
] as const;
/** From where it reaches, how far to where, and how far about that. */
export interface Obstacle {
  x: number;
  z: number;
  alongX: number;
  alongZ: number;
  radius: number;
}
/** Walls, round whose ends one goes to what is behind them: from where to where. */
export const WALLS: readonly Obstacle[] = [
  [-13, 3, -4, 6],
  [5, -3, 8, -13],
  [14, 15, 25, 14],
  [-22, -18, -11, -14],
].map(([x, z, toX, toZ]) => ({ x, z, alongX: toX - x, alongZ: toZ - z, radius: 0.6 }));
/** What is walked around: x, z and radius. */
export const STONES: readonly (readonly [x: number, z: number, radius: number])[] = [
  [-9, -4, 2.6],
  [15, -6, 2.4],
  [9, 9, 1.7],
  [-17, 10, 2.6],
  [22, 8, 2.8],
  [-26, -10, 3.4],
  [0, -24, 3],
  [-4, 29, 2.6],
];
export const OBSTACLES: readonly Obstacle[] = [
  ...STONES.map(([x, z, radius]) => ({ x, z, alongX: 0, alongZ: 0, radius })),
  ...WALLS,
];
/**
 * Numbers of an agent: x, z and velocity; and its traits: how near it wants to the light, how fast it is, how large, and for how many
 * seconds it is still down.
 */
export const STRIDE = 4;

/** How somebody is: always the same for the same number. */
export function traitsOf(index: number, count: number): [near: number, speed: number, size: number] {
  const chance = (what: number) => {
    const x = Math.sin(index * 127.1 + what * 311.7) * 43758.5453;
    return x - Math.floor(x);
  };
  return [1.6 + 0.62 * Math.sqrt(count * chance(1)), 0.7 + 0.3 * chance(2), 0.9 + 0.18 * chance(3)];
}

/** How far along an obstacle it is nearest to a place, as a share. */
export function nearestOn({ x, z, alongX, alongZ }: Obstacle, toX: number, toZ: number): number {
  const along = (toX - x) * alongX + (toZ - z) * alongZ;
  return Math.min(Math.max(along / Math.max(alongX * alongX + alongZ * alongZ, 1e-5), 0), 1);
}

/** Where a wall ends if it is longer by so much at both ends. */
export function endsOf({ x, z, alongX, alongZ, radius }: Obstacle, more: number) {
  const longer = (radius + more) / Math.hypot(alongX, alongZ);
  const [dx, dz] = [alongX * longer, alongZ * longer];
  return { ax: x - dx, az: z - dz, bx: x + alongX + dx, bz: z + alongZ + dz };
}

/** Where somebody stands to begin with: on a sunflower's spiral, none on an obstacle. */
export function placeOf(index: number): [x: number, z: number] {
  const radius = 0.8 * Math.sqrt(index + 6);
  const angle = index * Math.PI * (3 - Math.sqrt(5));
  let [x, z] = [radius * Math.sin(angle), radius * Math.cos(angle)];
  for (const obstacle of OBSTACLES) {
    const share = nearestOn(obstacle, x, z);
    const [sx, sz] = [obstacle.x + obstacle.alongX * share, obstacle.z + obstacle.alongZ * share];
    const out = Math.max(obstacle.radius / Math.max(Math.hypot(x - sx, z - sz), 1e-5), 1);
    [x, z] = [sx + (x - sx) * out, sz + (z - sz) * out];
  }
  return [x, z];
}

/** The numbers of all agents, and those that stay. */
export function createAgents(count: number): Record<'agents' | 'traits', Float32Array> {
  const [agents, traits] = [new Float32Array(count * STRIDE), new Float32Array(count * STRIDE)];
  for (let i = 0; i < count; i++) {
    agents.set(placeOf(i), i * STRIDE);
    traits.set(traitsOf(i, count), i * STRIDE);
  }
  return { agents, traits };
}
