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
/** How far from a stone one begins to go round it. */
export const MARGIN = 1.6;
/** How quickly one turns to where one goes: shares a second. */
export const TURN = 7;
/** Seconds in which clips fade. */
export const FADE = 0.25;
/** Clips, the speed at which each is right, and from which on it is played. */
export const GAITS = [
  ['Idle', 0, 0],
  ['Walk', 1.03, 0.3],
  ['Run', 2.52, 1.9],
] as const;
/** What is walked around: x, z and radius. */
export const STONES: readonly (readonly [x: number, z: number, radius: number])[] = [
  [-9, -4, 2.6],
  [11, -9, 3.2],
  [9, 9, 1.7],
  [-17, 10, 2.6],
  [22, 8, 2.8],
  [-26, -10, 3.4],
  [0, -24, 3],
  [-4, 29, 2.6],
];
/** Numbers of an agent: x, z and velocity; and those that stay: how near it wants to the light, how fast it is, how large. */
export const STRIDE = 4;

/** How somebody is: always the same for the same number. */
export function traitsOf(index: number, count: number): [near: number, speed: number, size: number] {
  const chance = (what: number) => {
    const x = Math.sin(index * 127.1 + what * 311.7) * 43758.5453;
    return x - Math.floor(x);
  };
  return [1.6 + 0.62 * Math.sqrt(count * chance(1)), 0.7 + 0.3 * chance(2), 0.9 + 0.18 * chance(3)];
}

/** Where somebody stands to begin with: on a sunflower's spiral, none on a stone. */
export function placeOf(index: number): [x: number, z: number] {
  const radius = 0.8 * Math.sqrt(index + 6);
  const angle = index * Math.PI * (3 - Math.sqrt(5));
  let [x, z] = [radius * Math.sin(angle), radius * Math.cos(angle)];
  for (const [sx, sz, r] of STONES) {
    const distance = Math.hypot(x - sx, z - sz);
    if (distance < r) [x, z] = [sx + ((x - sx) * r) / distance, sz + ((z - sz) * r) / distance];
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
