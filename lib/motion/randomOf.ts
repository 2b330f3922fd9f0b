/**
 * The random number of a seed, at least 0 and below 1. Twin of `motionRandom` in the shaders: Jarzynski and Olano, "Hash
 * Functions for GPU Rendering", 2020, `pcg`.
 */
export function randomOf(seed: number): number {
  const state = Math.imul(seed, 747796405) + 2891336453;
  const shift = ((state >>> 28) + 4) & 31;
  const word = Math.imul((state >>> shift) ^ state, 277803737);
  return (((word >>> 22) ^ word) >>> 8) / 2 ** 24;
}
