import { InstanceTexture } from '../instances/InstanceTexture.js';
import { initialOf, type UniformLayout, type UniformPlace } from '../instances/UniformLayout.js';
import { swapItems } from '../utils/attributes.js';

/** The numbers that each instance has for shaders, as texels. */
export class UniformTexels {
  readonly texture: InstanceTexture;

  private readonly stride: number;
  /** The numbers of an instance to which none were given. */
  private readonly initial: Float32Array;

  constructor(
    readonly capacity: number,
    readonly layout: UniformLayout,
  ) {
    this.stride = layout.texels * 4;
    this.initial = new Float32Array(this.stride);
    for (const { name, at, size } of layout.places.values()) {
      this.initial.set(initialOf(name).slice(0, size), at);
    }
    this.texture = new InstanceTexture(capacity, this.stride);
    for (let i = 0; i < capacity; i++) this.texture.data.set(this.initial, i * this.stride);
  }

  /** Index of a uniform's first number among those of all instances. */
  indexOf(index: number, { at }: UniformPlace): number {
    return index * this.stride + at;
  }

  get data(): Float32Array {
    return this.texture.data;
  }

  /** Takes over the numbers that a uniform is. Nothing is uploaded if they are the same as before. */
  set(index: number, place: UniformPlace, numbers: ArrayLike<number>): void {
    const { data } = this.texture;
    const first = this.indexOf(index, place);
    let differs = false;
    for (let i = 0; i < place.size; i++) {
      const value = Math.fround(numbers[i]);
      if (data[first + i] === value) continue;
      data[first + i] = value;
      differs = true;
    }
    if (differs) this.texture.changed(index);
  }

  swap(i: number, j: number): void {
    swapItems(this.texture.data, i, j, this.stride);
    this.texture.changed(i);
    this.texture.changed(j);
  }

  copyItem(from: number, to: number): void {
    const { stride } = this;
    this.data.copyWithin(to * stride, from * stride, (from + 1) * stride);
    this.texture.changed(to);
  }

  reset(index: number): void {
    this.texture.data.set(this.initial, index * this.stride);
    this.texture.changed(index);
  }

  /** Takes over what another has of the uniforms and instances that both have; a uniform of another type is another one. */
  copy(source: UniformTexels): this {
    const capacity = Math.min(this.capacity, source.capacity);
    for (const place of this.layout.places.values()) {
      const from = source.layout.places.get(place.name);
      if (from?.type !== place.type) continue;
      for (let i = 0; i < capacity; i++) {
        const first = source.indexOf(i, from);
        this.data.set(source.data.subarray(first, first + place.size), this.indexOf(i, place));
      }
    }
    this.texture.changedAll();
    return this;
  }

  dispose(): void {
    this.texture.dispose();
  }
}
