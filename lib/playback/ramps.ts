/**
 * A number that goes evenly to another one within a time, as four numbers of an array from a place `at`: weights of clips and
 * of layers. Shaders read the same four numbers.
 */
export type Ramps = Float64Array;

/** The number at the start, and from the end on. */
export const RAMP_FROM = 0;
export const RAMP_TO = 1;
/** Seconds of the clock at which it starts. */
export const RAMP_START = 2;
/** Share of the way that is done each second; 0 when there is none, and the number is `RAMP_TO`. */
export const RAMP_RATE = 3;

/** Numbers of a ramp. */
export const RAMP_SIZE = 4;

/** How much of the way is done, 0 to 1. */
export function rampDone(ramps: Ramps, at: number, clock: number): number {
  const rate = ramps[at + RAMP_RATE];
  return rate === 0 ? 1 : Math.min(Math.max((clock - ramps[at + RAMP_START]) * rate, 0), 1);
}

/** What the number is. */
export function rampAt(ramps: Ramps, at: number, clock: number): number {
  if (ramps[at + RAMP_RATE] === 0) return ramps[at + RAMP_TO];
  const from = ramps[at + RAMP_FROM];
  return from + (ramps[at + RAMP_TO] - from) * rampDone(ramps, at, clock);
}

/** Lets the number go from what it is at `clock` to another, within so many seconds. */
export function rampTo(ramps: Ramps, at: number, clock: number, value: number, seconds: number): void {
  ramps[at + RAMP_FROM] = seconds > 0 ? rampAt(ramps, at, clock) : value;
  ramps[at + RAMP_TO] = value;
  ramps[at + RAMP_START] = clock;
  ramps[at + RAMP_RATE] = seconds > 0 ? 1 / seconds : 0;
}

/** Lets the number stay what it comes to. */
export function endRamp(ramps: Ramps, at: number): void {
  ramps[at + RAMP_FROM] = ramps[at + RAMP_TO];
  ramps[at + RAMP_RATE] = 0;
}

/**
 * Writes a ramp as shaders read it.
 *
 * @param held Whether the instance is paused: the number then stays what it is at `clock`.
 */
export function encodeRamp(
  ramps: Ramps,
  at: number,
  clock: number,
  held: boolean,
  out: Float32Array,
  to: number,
): void {
  const value = held ? rampAt(ramps, at, clock) : 0;
  out[to + RAMP_FROM] = held ? value : ramps[at + RAMP_FROM];
  out[to + RAMP_TO] = held ? value : ramps[at + RAMP_TO];
  out[to + RAMP_START] = ramps[at + RAMP_START];
  out[to + RAMP_RATE] = held ? 0 : ramps[at + RAMP_RATE];
}
