/** Seconds by which a key may be off its frame: what float32 rounds times of a minute to. */
export const KEY_TOLERANCE = 4e-6;

/** The same where only the frame rate is asked for: files that are text have times of four or five decimals. */
export const LOOSE_TOLERANCE = 2e-4;

/** Frames per second above which a clip counts as having no frame rate. */
const MAX_RATE = 240;

/**
 * Finds the frame rate at which a clip was made: the slowest one at which every key is on a frame, counted from 0. Clips are
 * exported at 24, 30 or 60 frames per second, and keys that are on frames can be stored without a time each.
 *
 * Result for keys at 0, 0.1 and 0.25 s: 20.
 *
 * @param times Key times in seconds, of all tracks, in any order.
 * @param tolerance Seconds by which a key may be off its frame. @default 4e-6
 * @returns 0 if all keys are at 0; null if there is no such rate up to 240 frames per second.
 */
export function findKeyGrid(times: ArrayLike<number>, tolerance = KEY_TOLERANCE): number | null {
  const sorted = distinct(new Float64Array(times).sort());
  let gap = Infinity;
  for (let i = 0; i < sorted.length; i++) {
    const step = sorted[i] - (i === 0 ? 0 : sorted[i - 1]);
    if (step > tolerance) gap = Math.min(gap, step);
  }
  if (gap === Infinity) return 0;

  // The smallest gap between keys may be several frames.
  for (let frames = 1; frames / gap <= MAX_RATE * (1 + KEY_TOLERANCE); frames++) {
    const rate = refined(sorted, frames / gap);
    if (worstOf(sorted, rate) <= tolerance) return rate;
  }
  return null;
}

/** Removes repeated numbers from sorted ones. */
function distinct(sorted: Float64Array): Float64Array {
  let count = 0;
  for (let i = 0; i < sorted.length; i++) {
    if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[count++] = sorted[i];
  }
  return sorted.subarray(0, count);
}

/** The rate near a guess that fits the keys best. The guess comes from one gap, whose rounding adds up over many frames. */
function refined(sorted: Float64Array, guess: number): number {
  let rate = guess;
  for (const time of sorted) {
    const frame = Math.round(time * rate);
    // Each key makes the rate more precise, as long as it is clear which frame the key is on.
    if (frame > 0 && Math.abs(time * rate - frame) < 0.1) rate = frame / time;
  }
  // Exporters write whole rates, or halves.
  const whole = Math.round(rate * 2) / 2;
  if (!(Math.abs(whole - rate) < 1e-3 * rate && whole > 0)) return rate;
  return worstOf(sorted, whole) <= Math.max(worstOf(sorted, rate), KEY_TOLERANCE / 4) ? whole : rate;
}

/** How far a key is off its frame at most, in seconds. */
function worstOf(sorted: Float64Array, rate: number): number {
  let worst = 0;
  for (const time of sorted) worst = Math.max(worst, Math.abs(Math.round(time * rate) / rate - time));
  return worst;
}
