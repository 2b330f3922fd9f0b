import { changedPixels, difference } from '../support/pictures.js';

/** What an engine made of a scene. */
export interface Drawn {
  scene: string;
  renderer: string;
  /** What the renderer drew with: 'WebGL 2' or 'WebGPU'. */
  backend: string;
  /** Of the character, in units of the numbers. */
  height: number;
  seconds: number;
  /** RGBA bytes. */
  picture: Uint8Array;
  /** The same without the crowd. */
  empty: Uint8Array;
  /** Read back from the GPU, by name. */
  numbers: Record<string, Float32Array>;
}

/** How far two engines may be apart. */
export interface Bounds {
  /** Share of the pixels that the crowd covers which may differ by more than 8 of 255 in a channel. */
  pixels: number;
  /** How far apart numbers may be, as a share of the character's height. */
  numbers: number;
}

export interface Verdict {
  /** Pixels that the crowd covers in either picture. */
  covered: number;
  /** Share of those that differ. */
  pixels: number;
  /** The largest difference of two numbers, as a share of the character's height; Infinity where one is missing. */
  numbers: number;
  /** What is wrong, in words; empty if nothing is. */
  failures: string[];
}

/** Pixels that a crowd covers at least; fewer, and nothing to speak of was compared. */
const LEAST = 1500;

/** How many pixels the crowd covers. */
export const coverage = ({ picture, empty }: Drawn): number => changedPixels(picture, empty);

/** What is wrong with a scene by itself, in words. */
export function check(drawn: Drawn): string[] {
  const failures: string[] = [];
  const covered = coverage(drawn);
  if (!(covered >= LEAST)) failures.push(`the crowd covers ${covered} pixels, fewer than ${LEAST}`);
  for (const [name, values] of Object.entries(drawn.numbers)) {
    if (values.length === 0) failures.push(`${name}: there are no numbers`);
    const at = values.findIndex((value) => !Number.isFinite(value));
    if (at >= 0) failures.push(`${name}: number ${at} is ${values[at]}`);
  }
  return failures;
}

/** Compares what two engines made of the same scene. */
export function compare(expected: Drawn, drawn: Drawn, bounds: Bounds): Verdict {
  const failures = check(drawn);
  const { covered, wrong } = difference(expected.picture, drawn.picture, expected.empty);
  if (!(wrong <= bounds.pixels)) {
    failures.push(`${percent(wrong)} of ${covered} pixels differ, at most ${percent(bounds.pixels)} may`);
  }

  let worst = 0;
  for (const name of new Set([...Object.keys(expected.numbers), ...Object.keys(drawn.numbers)])) {
    const off = distance(expected.numbers[name], drawn.numbers[name]) / expected.height;
    if (!(off <= bounds.numbers)) {
      failures.push(
        `${name}: off by ${off.toExponential(1)} of the height, at most ${bounds.numbers} is allowed`,
      );
    }
    if (!(off <= worst)) worst = off;
  }
  return { covered, pixels: wrong, numbers: worst, failures };
}

/** The largest difference of two numbers at the same place; Infinity if they are not as many. */
function distance(a: Float32Array | undefined, b: Float32Array | undefined): number {
  if (a === undefined || b === undefined || a.length !== b.length) return Infinity;
  let worst = 0;
  for (let i = 0; i < a.length; i++) {
    const off = Math.abs(a[i] - b[i]);
    // A number that is none is never near another.
    if (!(off <= worst)) worst = Number.isNaN(off) ? Infinity : off;
  }
  return worst;
}

/** A share in words. */
export const percent = (share: number): string => `${(share * 100).toFixed(3)} %`;
