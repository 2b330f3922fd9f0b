import { InstanceTexture } from './InstanceTexture.js';

/** Numbers of an instance, of which the first is used. */
const STRIDE = 4;

/**
 * For each instance, its row among the poses of the frame before, which stay where they are when instances are swapped: motion
 * vectors lead from that pose to the present one.
 */
export class PreviousRows {
  /** The first number of an instance is the one that it had in the frame before. */
  readonly texture: InstanceTexture;
  /** The number that each had when instances were last posed. */
  private readonly places: Float32Array;
  /** Whether any of them has another one now. */
  private moved = false;
  /** Whether any number in the texture is not the instance's own. */
  private differs = false;

  constructor(private readonly capacity: number) {
    this.texture = new InstanceTexture(capacity, STRIDE);
    this.places = new Float32Array(capacity);
    this.stay();
    for (let i = 0; i < capacity; i++) this.texture.data[i * STRIDE] = i;
  }

  /** Two instances were exchanged. */
  swap(i: number, j: number): void {
    const { places } = this;
    [places[i], places[j]] = [places[j], places[i]];
    this.moved = true;
  }

  /** An instance begins anew: it was nowhere in the frame before, which a number says that no instance has. */
  appear(index: number): void {
    this.places[index] = this.capacity;
    this.moved = true;
  }

  /**
   * Call when instances are posed.
   *
   * @param anew Whether it is the first time in a frame: what was posed before is now the frame before.
   */
  posed(anew: boolean): void {
    if (!this.moved && !(anew && this.differs)) return;
    const { texture, places, capacity } = this;
    const before = anew ? null : texture.data.slice();
    for (let i = 0; i < capacity; i++) {
      const place = places[i];
      texture.data[i * STRIDE] = before === null || place === capacity ? place : before[place * STRIDE];
    }
    texture.changedAll();
    this.differs = this.moved || !anew;
    this.stay();
  }

  dispose(): void {
    this.texture.dispose();
  }

  private stay(): void {
    for (let i = 0; i < this.capacity; i++) this.places[i] = i;
    this.moved = false;
  }
}
