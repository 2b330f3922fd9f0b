import { type BufferGeometry, Color, InstancedBufferAttribute, type Vector2 } from 'three';
import { InstanceParts } from '../instances/InstanceParts.js';
import { resizedAttribute } from '../utils/resizedAttribute.js';
import { swapItems } from '../utils/swapItems.js';
import { AnimatedInstancedMesh, type Instances } from './AnimatedInstancedMesh.js';

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
      this.shownChanged(index);
    });
  }

  /** Shows these parts of instances and hides all others. */
  setVisiblePartsAt(instances: Instances, visible: readonly (string | number)[]): this {
    if (!Array.isArray(visible)) {
      throw new Error(`${NAME}.setVisiblePartsAt: visible is ${String(visible)}; pass an array of parts.`);
    }
    const shown = new Set(visible.flatMap((part) => this.partIndices(part, 'setVisiblePartsAt')));
    const parts = this.needParts();
    return this.each(instances, 'setVisiblePartsAt', (index) => {
      for (let part = 0; part < parts.count; part++) parts.show(index, part, shown.has(part));
      this.shownChanged(index);
    });
  }

  /** Whether any mesh of a part is shown. */
  getPartVisibleAt(index: number, part: string | number): boolean {
    this.checkIndex(index, 'getPartVisibleAt');
    const indices = this.partIndices(part, 'getPartVisibleAt');
    return this.parts === null || indices.some((one) => this.parts?.isShown(index, one));
  }

  /**
   * Multiplies the colour of a part of instances; on top of `setColorAt`, which goes for all of an instance.
   *
   * @throws If there is no such instance or part, or the colour is not of finite numbers.
   */
  setPartColorAt(instances: Instances, part: string | number, color: Color): this {
    checkColor(color, 'setPartColorAt');
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

  /**
   * Colours an instance; set `instanceColor.needsUpdate` afterwards, as with `InstancedMesh`.
   *
   * @throws If there is no such instance, or the colour is not of finite numbers.
   */
  override setColorAt(index: number, color: Color): this {
    this.checkIndex(index, 'setColorAt');
    checkColor(color, 'setColorAt');
    super.setColorAt(index, color);
    return this;
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

  /** Makes room for as many instances as there may be now. */
  protected resizeLooks(): void {
    const { capacity, instanceColor, parts } = this;
    if (instanceColor !== null && instanceColor.count !== capacity) {
      this.instanceColor = resizedAttribute(instanceColor, capacity, WHITE.toArray());
    }
    if (parts !== null && parts.capacity !== capacity) {
      this.replaceParts(new InstanceParts(capacity, parts.count).copy(parts));
    }
  }

  /** Becomes the same parts, looking the same, on as many instances as there may be here. */
  protected copyParts(source: PartedInstancedMesh): void {
    const { parts, partPaths } = source;
    this.partPaths = partPaths;
    this.replaceParts(parts === null ? null : new InstanceParts(this.capacity, parts.count).copy(parts));
  }

  /**
   * Takes on the parts of another geometry. One that says which vertices belong to which part keeps the names and looks
   * of those that are known; one that says nothing is a single part.
   *
   * @returns Whether the parts are others than before.
   */
  protected matchParts(geometry: BufferGeometry, says: boolean): boolean {
    const { parts, partPaths } = this;
    const numbered = numberedParts(geometry);
    if (says ? numbered.length <= partPaths.length : partPaths.length === 1) return false;
    this.partPaths = says ? [...partPaths, ...numbered.slice(partPaths.length)] : numbered;
    if (parts === null) return true;
    this.replaceParts(says ? new InstanceParts(this.capacity, numbered.length).copy(parts) : null);
    return true;
  }

  /** Called when a part of an instance was shown or hidden. */
  protected abstract shownChanged(index: number): void;

  /** Brings materials and draw parameters up to what the mesh is now. */
  protected abstract prepareDraw(): void;

  /** Whether any part of an instance is drawn. */
  protected isAnyDrawnAt(index: number): boolean {
    return this.parts === null || this.parts.isAnyDrawn(index);
  }

  protected replaceParts(parts: InstanceParts | null): void {
    this.parts?.dispose();
    this.parts = parts;
    this.prepareDraw();
  }

  protected needParts(): InstanceParts {
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

/** Numbers for names, as many as a crowd geometry has parts. */
export function numberedParts(geometry: BufferGeometry): string[][] {
  const partIndex = geometry.getAttribute('partIndex');
  let most = 0;
  for (let vertex = 0; vertex < partIndex.count; vertex++) most = Math.max(most, partIndex.getX(vertex));
  return Array.from({ length: most + 1 }, (_, part) => [String(part)]);
}

/** @throws If a colour would be drawn as garbage. */
function checkColor(color: Color, method: string): void {
  if (Number.isFinite(color?.r) && Number.isFinite(color.g) && Number.isFinite(color.b)) return;
  throw new Error(
    `${NAME}.${method}: color is ${color?.r}, ${color?.g}, ${color?.b}; use a Color of finite numbers.`,
  );
}
