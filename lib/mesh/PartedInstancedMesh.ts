import { Color, InstancedBufferAttribute, type Vector2 } from 'three';
import { swapItems } from '../utils/swapItems.js';
import { AnimatedInstancedMesh, type Instances } from './AnimatedInstancedMesh.js';
import { InstanceParts } from './InstanceParts.js';

const NAME = 'SkinnedInstancedMesh';

/**
 * An animated mesh whose instances may each wear other parts of the character, in other colours, in the same draw call.
 */
export abstract class PartedInstancedMesh extends AnimatedInstancedMesh {
  /**
   * Which parts of instances are shown and in what colour; null until one is not as it came. Use the methods.
   *
   * @internal
   */
  parts: InstanceParts | null = null;

  /** For each part the names it is known by: its mesh's, then those of the nodes above. */
  protected partPaths: readonly (readonly string[])[] = [['']];

  /** Names of the parts of the character: those of its meshes. Parts go by the names of nodes above them too. */
  get partNames(): readonly string[] {
    return this.partPaths.map(([name]) => name);
  }

  /**
   * Shows or hides a part of instances. What is hidden costs no pixels, casts no shadow and is not hit by rays.
   *
   * @param part Name of a mesh, or of a node, which stands for all meshes below it; or an index into `partNames`.
   * @throws If there is no such instance or part.
   */
  setPartVisibleAt(instances: Instances, part: string | number, visible: boolean): this {
    const indices = this.partIndices(part, 'setPartVisibleAt');
    const parts = this.needParts();
    return this.each(instances, 'setPartVisibleAt', (index) => {
      for (const one of indices) parts.show(index, one, visible);
    });
  }

  /** Shows these parts of instances and hides all others. */
  setVisiblePartsAt(instances: Instances, visible: readonly (string | number)[]): this {
    const shown = new Set(visible.flatMap((part) => this.partIndices(part, 'setVisiblePartsAt')));
    const parts = this.needParts();
    return this.each(instances, 'setVisiblePartsAt', (index) => {
      for (let part = 0; part < parts.count; part++) parts.show(index, part, shown.has(part));
    });
  }

  /** Whether any mesh of a part is shown. */
  getPartVisibleAt(index: number, part: string | number): boolean {
    this.checkIndex(index, 'getPartVisibleAt');
    const indices = this.partIndices(part, 'getPartVisibleAt');
    return this.parts === null || indices.some((one) => this.parts?.isShown(index, one));
  }

  /** Multiplies the colour of a part of instances; on top of `setColorAt`, which goes for all of an instance. */
  setPartColorAt(instances: Instances, part: string | number, color: Color): this {
    const indices = this.partIndices(part, 'setPartColorAt');
    const parts = this.needParts();
    // Shaders and materials take part colours in where they take in instance colours.
    this.instanceColor ??= new InstancedBufferAttribute(new Float32Array(this.capacity * 3).fill(1), 3);
    return this.each(instances, 'setPartColorAt', (index) => {
      for (const one of indices) parts.setColor(index, one, color);
    });
  }

  /** The colour that multiplies a part; of a part of several meshes that of the first. */
  getPartColorAt(index: number, part: string | number, target: Color): Color {
    this.checkIndex(index, 'getPartColorAt');
    const [first] = this.partIndices(part, 'getPartColorAt');
    return this.parts === null ? target.copy(WHITE) : this.parts.getColor(index, first, target);
  }

  /**
   * Moves the material's `map` for a part of instances, as `Texture.offset` does for all: with an atlas, each wears
   * another skin. Other maps stay. Kept to 1/4096 of the map; whole turns count for nothing.
   *
   * @param offset In uv units, from 0 to 1.
   */
  setPartMapOffsetAt(instances: Instances, part: string | number, offset: Vector2): this {
    const indices = this.partIndices(part, 'setPartMapOffsetAt');
    if (!(Number.isFinite(offset?.x) && Number.isFinite(offset.y))) {
      throw new Error(
        `${NAME}.setPartMapOffsetAt: offset is ${offset?.x}, ${offset?.y}; use finite numbers.`,
      );
    }
    const parts = this.needParts();
    return this.each(instances, 'setPartMapOffsetAt', (index) => {
      for (const one of indices) parts.setMapOffset(index, one, offset);
    });
  }

  /** By how much the map of a part is moved; of a part of several meshes that of the first. */
  getPartMapOffsetAt(index: number, part: string | number, target: Vector2): Vector2 {
    this.checkIndex(index, 'getPartMapOffsetAt');
    const [first] = this.partIndices(part, 'getPartMapOffsetAt');
    return this.parts === null ? target.set(0, 0) : this.parts.getMapOffset(index, first, target);
  }

  protected override swapLooks(i: number, j: number): void {
    const { instanceColor } = this;
    if (instanceColor !== null) {
      swapItems(instanceColor.array, i, j, instanceColor.itemSize);
      instanceColor.needsUpdate = true;
    }
    this.parts?.swap(i, j);
  }

  /** Called when `parts` became another object. */
  protected abstract partsReplaced(): void;

  protected replaceParts(parts: InstanceParts | null): void {
    this.parts?.dispose();
    this.parts = parts;
    this.partsReplaced();
  }

  private needParts(): InstanceParts {
    if (this.parts === null) this.replaceParts(new InstanceParts(this.capacity, this.partPaths.length));
    return this.parts as unknown as InstanceParts;
  }

  private partIndices(part: string | number, method: string): number[] {
    const { partPaths } = this;
    if (typeof part === 'number') {
      if (Number.isInteger(part) && part >= 0 && part < partPaths.length) return [part];
    } else {
      const indices = [...partPaths.keys()].filter((i) => partPaths[i].includes(part));
      if (indices.length > 0) return indices;
    }
    const known = this.partNames.map((name) => `"${name}"`).join(', ');
    throw new Error(
      `${NAME}.${method}: no part ${typeof part === 'number' ? part : `"${part}"`}; the character has ${known}.`,
    );
  }
}

const WHITE = /*@__PURE__*/ new Color(1, 1, 1);
