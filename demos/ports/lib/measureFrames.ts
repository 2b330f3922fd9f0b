import type { Pair } from './Pair.js';
import { addRow } from './rows.js';

/** What a frame takes each version. */
export interface Measured {
  /** Milliseconds of JavaScript, the median. */
  js: number[];
  draws: number[];
  /** Share of the pixels in which the versions differ, at most. */
  off: number;
}

/** The first frames compile shaders, and code that runs often. */
const WARM_UP = 15;

/** Lets both versions run for so many frames. */
export async function measureFrames(pair: Pair, frames: number): Promise<Measured> {
  const { sides } = pair;
  const samples = sides.map((): number[] => []);
  let off = 0;
  for (let i = 0; i < WARM_UP + frames; i++) {
    await new Promise(requestAnimationFrame);
    off = Math.max(off, pair.frame(1));
    if (i >= WARM_UP) sides.forEach((side, at) => void samples[at].push(side.js));
  }
  const js = samples.map((all) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)]);
  const draws = sides.map((side) => side.draws);
  addRow('JavaScript', 'ms a frame', ...js.map((value) => value.toFixed(2)));
  addRow('Draw calls', 'a frame', ...draws.map(String));
  return { js, draws, off };
}
