import { Color, Euler, Matrix4, Quaternion, Vector3 } from 'three';
import { random } from '../random.js';

/** Draws whatever calls of a crowd take. Times are sums of powers of two, with which clocks reckon exactly. */
export class Dice {
  readonly next: () => number;

  constructor(seed: number) {
    this.next = random(seed);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  /** A whole number from 0 to `n - 1`. */
  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)];
  }

  /** Seconds from 0 to `most`, in steps of 1/16. */
  seconds(most: number): number {
    return this.below(most * 16 + 1) / 16;
  }

  vector(size: number): Vector3 {
    const one = () => (this.next() * 2 - 1) * size;
    return new Vector3(one(), one(), one());
  }

  rotation(): Quaternion {
    const { x, y, z } = this.vector(3);
    return new Quaternion().setFromEuler(new Euler(x, y, z));
  }

  /** Somewhere on a square of ground. */
  place(size = 6): Matrix4 {
    const turn = new Quaternion().setFromAxisAngle(new Vector3(0, 1, 0), this.next() * 6);
    const at = this.vector(size).setY(0);
    return new Matrix4().compose(at, turn, new Vector3().setScalar(0.75 + this.next() / 2));
  }

  color(): Color {
    return new Color(this.below(5) / 4, this.below(5) / 4, this.below(5) / 4);
  }
}
