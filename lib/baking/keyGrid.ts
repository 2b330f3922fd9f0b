/** Seconds by which a key may be off the grid: what float32 rounds times of a minute to. */
const TOLERANCE = 4e-6;

/** Frames per second beyond which a clip counts as having no grid. */
const MAX_RATE = 240;

/**
 * The slowest frame rate of which every key time is a whole number of frames, counted from 0; null if there is none up to
 * 240 frames per second. Clips are exported at 24, 30 or 60 frames per second, and keys that stand on such a grid can be
 * stored as they are, without a time each.
 *
 * Result for keys at 0, 0.1 and 0.25 s: 20.
 *
 * @param times Key times in seconds, of all tracks, in any order.
 */
export function findKeyGrid(times: Iterable<number>): number | null {
  const sorted = Float64Array.from(new Set(times)).sort();
  let gap = Infinity;
  for (let i = 0; i < sorted.length; i++) {
    const step = sorted[i] - (i === 0 ? 0 : sorted[i - 1]);
    if (step > TOLERANCE) gap = Math.min(gap, step);
  }
  if (gap === Infinity) return 0;

  for (let divisions = 1; divisions / gap <= MAX_RATE * (1 + TOLERANCE); divisions++) {
    const rate = refined(sorted, divisions / gap);
    if (sorted.every((time) => Math.abs(Math.round(time * rate) / rate - time) <= TOLERANCE)) return rate;
  }
  return null;
}

/** The rate near a first guess that fits the last key best: the guess comes from one gap, whose rounding adds up. */
function refined(sorted: Float64Array, guess: number): number {
  let rate = guess;
  for (const time of sorted) {
    const frame = Math.round(time * rate);
    // Only keys that the guess can still tell from their neighbours may move it.
    if (frame > 0 && Math.abs(time * rate - frame) < 0.1) rate = frame / time;
  }
  // Exporters write whole rates.
  const whole = Math.round(rate * 2) / 2;
  return Math.abs(whole - rate) < 1e-3 * rate && whole > 0 ? nearer(sorted, whole, rate) : rate;
}

function nearer(sorted: Float64Array, a: number, b: number): number {
  const worst = (rate: number) =>
    sorted.reduce((most, time) => Math.max(most, Math.abs(Math.round(time * rate) / rate - time)), 0);
  return worst(a) <= Math.max(worst(b), TOLERANCE / 4) ? a : b;
}
