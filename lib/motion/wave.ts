const fract = (x: number): number => x - Math.floor(x);

/** Twin of `motionWave` in the shaders. */
export function motionWave(x: number): number {
  const t = Math.abs(2 * fract(x) - 1);
  return t * t * (6 - 4 * t) - 1;
}
