import { find } from '../../lib/page.js';
import { comparePictures } from './comparePictures.js';
import type { Side } from './Side.js';

/** Both versions of a program, at the same simulated time. */
export class Pair {
  private readonly difference = find<HTMLCanvasElement>('[data-view=difference]');
  private readonly pixels: ImageData;

  constructor(
    readonly sides: readonly [plain: Side, ported: Side],
    width: number,
    height: number,
  ) {
    for (const canvas of [this.difference, ...sides.map((side) => side.canvas)]) {
      canvas.width = width;
      canvas.height = height;
    }
    this.pixels = new ImageData(width, height);
  }

  /** Lets both go on by so many steps, draws them, and says in what share of the pixels they differ, 0 to 1. */
  frame(steps: number): number {
    for (const side of this.sides) side.frame(steps);
    const [plain, ported] = this.sides.map((side) => side.picture());
    const off = comparePictures(plain, ported, this.pixels);
    this.difference.getContext('2d')?.putImageData(this.pixels, 0, 0);
    return off;
  }
}
