import { comparePictures } from './comparePictures.js';
import type { Pair } from './Pair.js';
import { addRow, percent } from './rows.js';
import { STEP } from './Side.js';

/** What both versions showed at a moment. */
export interface Moment {
  time: number;
  /** Shares of the pixels, 0 to 1: in which the versions differ, and which changed since the moment before. */
  off: number;
  changed: number;
  /** Draw calls of the one and of the other. */
  draws: number[];
}

/** Goes to moments one after the other, and writes down how far the two versions are apart there. */
export async function visitMoments(pair: Pair, times: readonly number[]): Promise<Moment[]> {
  const { sides } = pair;
  const moments: Moment[] = [];
  let steps = 0;
  let before: ImageData | null = null;
  for (const time of times) {
    const wanted = Math.round(time / STEP);
    for (const side of sides) side.pass(wanted - steps);
    steps = wanted;
    // WebGPURenderer moves skeletons and draws shadows once a frame
    await new Promise(requestAnimationFrame);
    const off = pair.frame(0);
    const picture = sides[0].picture();
    const changed = before === null ? 1 : comparePictures(before, picture);
    before = picture;
    const draws = sides.map((side) => side.draws);
    moments.push({ time, off, changed, draws });
    addRow(
      `at ${time} s`,
      `${percent(off)} of pixels differ`,
      ...draws.map((calls) => `${calls} draw calls`),
    );
  }
  return moments;
}
