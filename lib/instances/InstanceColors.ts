import { Color, InstancedBufferAttribute } from 'three';
import { ItemUploads, resizedAttribute } from '../utils/attributes.js';
import { describe } from '../utils/messages.js';
import type { InstanceData } from './InstanceData.js';

const WHITE = [1, 1, 1];
const _color = /*@__PURE__*/ new Color();

/** The `instanceColor` of a mesh, which it has only once an instance was given a colour. */
export class InstanceColors implements InstanceData {
  private readonly uploads = new ItemUploads();
  private colors: InstancedBufferAttribute | null = null;

  constructor(
    private readonly mesh: {
      instanceColor: InstancedBufferAttribute | null;
      readonly capacity: number;
      readonly crowd: { readonly places: { readonly shared: boolean } };
    },
  ) {}

  /** Null until an instance was given a colour. Who uploads it asks for it first, and finds what others have said to have changed. */
  get attribute(): InstancedBufferAttribute | null {
    const { colors } = this;
    if (colors !== null) this.uploads.settle(colors);
    return colors;
  }

  set attribute(value: InstancedBufferAttribute | null) {
    this.colors = value;
  }

  /** Gives every instance a colour, white, if they have none. */
  need(): InstancedBufferAttribute {
    this.colors ??= whiteColors(this.mesh.capacity);
    return this.colors;
  }

  /** Has renderers upload an instance's colour, and no more than needed. */
  set(index: number, r: number, g: number, b: number): void {
    const colors = this.need();
    colors.setXYZ(index, r, g, b);
    this.uploads.changed(colors, index, this.mesh.crowd.places.shared);
  }

  resize(capacity: number): void {
    const { colors } = this;
    if (colors !== null && colors.count !== capacity) this.colors = resizedAttribute(colors, capacity, WHITE);
  }

  swap(i: number, j: number): void {
    if (this.colors === null) return;
    _color.fromBufferAttribute(this.colors, i);
    const { r, g, b } = _color;
    this.copyAt(j, i);
    this.set(j, r, g, b);
  }

  reset(index: number): void {
    if (this.colors !== null) this.set(index, 1, 1, 1);
  }

  /** Gives an instance the colour of another one. */
  copyAt(from: number, to: number): void {
    const { colors } = this;
    if (colors !== null) this.set(to, colors.getX(from), colors.getY(from), colors.getZ(from));
  }

  copy({ colors }: InstanceColors): void {
    this.mesh.instanceColor = (colors?.clone() as InstancedBufferAttribute | undefined) ?? null;
  }
}

export const whiteColors = (count: number): InstancedBufferAttribute =>
  new InstancedBufferAttribute(new Float32Array(count * 3).fill(1), 3);

/** @throws If a colour would be drawn as garbage. */
export function checkColor(color: Color): void {
  if (Number.isFinite(color?.r + color?.g + color?.b)) return;
  throw new Error(
    `The color is ${color?.isColor ? color.toArray().join(', ') : describe(color)}; pass a Color of finite numbers: new Color('red').`,
  );
}
