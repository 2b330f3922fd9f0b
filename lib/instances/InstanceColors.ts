import { type Color, InstancedBufferAttribute, type InstancedMesh } from 'three';
import type { InstanceData } from '../crowd/CrowdFeature.js';
import { itemChanged, resizedAttribute, swapItems } from '../utils/attributes.js';
import { describe } from '../utils/messages.js';

const WHITE = [1, 1, 1];

/** The `instanceColor` of a mesh, which it has only once an instance was given a colour. */
export class InstanceColors implements InstanceData {
  /** Null until an instance was given a colour. */
  attribute: InstancedBufferAttribute | null = null;

  constructor(private readonly mesh: InstancedMesh) {}

  /** Gives every instance a colour, white, if they have none. */
  need(): void {
    const { mesh } = this;
    mesh.instanceColor ??= whiteColors(mesh.instanceMatrix.count);
  }

  resize(capacity: number): void {
    const { instanceColor } = this.mesh;
    if (instanceColor === null || instanceColor.count === capacity) return;
    this.mesh.instanceColor = resizedAttribute(instanceColor, capacity, WHITE);
  }

  swap(i: number, j: number): void {
    const { instanceColor } = this.mesh;
    if (instanceColor === null) return;
    swapItems(instanceColor.array, i, j, instanceColor.itemSize);
    itemChanged(instanceColor, i);
    itemChanged(instanceColor, j);
  }

  reset(index: number): void {
    const { instanceColor } = this.mesh;
    if (instanceColor === null) return;
    instanceColor.setXYZ(index, 1, 1, 1);
    itemChanged(instanceColor, index);
  }

  /** Gives an instance the colour of another one. */
  copyAt(from: number, to: number): void {
    const { instanceColor } = this.mesh;
    if (instanceColor === null) return;
    instanceColor.setXYZ(to, instanceColor.getX(from), instanceColor.getY(from), instanceColor.getZ(from));
    itemChanged(instanceColor, to);
  }

  copy({ mesh: { instanceColor } }: InstanceColors): void {
    this.mesh.instanceColor = (instanceColor?.clone() as InstancedBufferAttribute | undefined) ?? null;
  }

  /** `InstancedMesh.dispose` frees the attribute. */
  dispose(): void {}
}

export const whiteColors = (count: number): InstancedBufferAttribute =>
  new InstancedBufferAttribute(new Float32Array(count * 3).fill(1), 3);

/** @throws If a colour would be drawn as garbage. */
export function checkColor(color: Color): void {
  if (Number.isFinite(color?.r + color?.g + color?.b)) return;
  const given = color?.isColor ? color.toArray().join(', ') : describe(color);
  throw new Error(`The color is ${given}; pass a Color of finite numbers: new Color('red').`);
}
