import type { BufferGeometry, Color, Vector2 } from 'three';
import { describe } from '../utils/describe.js';
import { checkColor } from './InstanceColors.js';
import type { InstanceData } from './InstanceData.js';
import { InstanceParts } from './InstanceParts.js';
import { checkIndex, forEachInstance, type InstanceIds, type Instances } from './instanceRange.js';

/** The mesh whose instances wear them. */
interface PartedMesh {
  readonly capacity: number;
  readonly visibility: InstanceIds;
  /** Called when other textures and shaders are needed. */
  prepareDraw(): void;
  /** Called when a part of an instance was shown or hidden. */
  shownChanged(index: number): void;
}

/**
 * The parts of a mesh's character by name, and what each instance wears of them. Instances that wear all of it as it was
 * baked need no numbers, so there are none until one differs.
 */
export class CharacterParts implements InstanceData {
  /** What instances wear; null until one differs from the baked character. */
  worn: InstanceParts | null = null;
  /** Whether parts of instances were given colours. Shaders read these where they read `instanceColor`. */
  isColored = false;
  /** For each part the names it is known by: its mesh's, then those of the nodes above. */
  paths: readonly (readonly string[])[];
  /** Parts that instances do not show to begin with. */
  private hidden: readonly number[] = [];

  constructor(
    geometry: BufferGeometry,
    private readonly mesh: PartedMesh,
  ) {
    this.paths = numberedParts(geometry);
  }

  get names(): readonly string[] {
    return this.paths.map(([name]) => name);
  }

  /**
   * Indices of the parts that a name stands for.
   *
   * @throws If there is none.
   */
  private indicesOf(part: string | number, caller: string): number[] {
    const { paths } = this;
    if (typeof part === 'number') {
      if (Number.isInteger(part) && part >= 0 && part < paths.length) return [part];
    } else {
      const indices = [...paths.keys()].filter((i) => paths[i].includes(part));
      if (indices.length > 0) return indices;
    }
    const names = this.names.map((name) => `"${name}"`).join(', ');
    throw new Error(`${caller}: no part ${describe(part)}; the character has ${names}.`);
  }

  /** Shows or hides a part of instances. */
  setVisible(instances: Instances, part: string | number, visible: boolean, caller: string): void {
    const indices = this.indicesOf(part, caller);
    const worn = this.need();
    forEachInstance(instances, this.mesh.visibility, caller, (index) => {
      for (const one of indices) worn.show(index, one, visible);
      this.mesh.shownChanged(index);
    });
  }

  /** Hides parts of all instances, and of all that are to come. */
  hideAtFirst(parts: readonly (string | number)[], caller: string): void {
    if (!Array.isArray(parts)) {
      throw new Error(`${caller}: hiddenParts is ${describe(parts)}; pass an array of parts.`);
    }
    if (parts.length === 0) return;
    this.hidden = parts.flatMap((part) => this.indicesOf(part, caller));
    this.need();
    for (let index = 0; index < this.mesh.capacity; index++) this.reset(index);
  }

  /** Shows these parts of instances and hides all others. */
  setVisibleOnly(instances: Instances, visible: readonly (string | number)[], caller: string): void {
    if (!Array.isArray(visible)) {
      throw new Error(`${caller}: visible is ${describe(visible)}; pass an array of parts.`);
    }
    const shown = new Set(visible.flatMap((part) => this.indicesOf(part, caller)));
    const worn = this.need();
    forEachInstance(instances, this.mesh.visibility, caller, (index) => {
      for (let part = 0; part < worn.count; part++) worn.show(index, part, shown.has(part));
      this.mesh.shownChanged(index);
    });
  }

  /** Whether any mesh of a part is shown wherever the instance is. */
  isShown(index: number, part: string | number, caller: string): boolean {
    checkIndex(index, this.mesh.visibility, caller);
    const indices = this.indicesOf(part, caller);
    const { worn } = this;
    return worn === null || indices.some((one) => worn.isShown(index, one));
  }

  /** Whether any part of an instance is drawn. */
  isAnyDrawn(index: number): boolean {
    return this.worn === null || this.worn.isAnyDrawn(index);
  }

  /** Hides an instance with what it is attached to, or shows it again as far as its own parts are shown. */
  showWithOwner(index: number, shown: boolean): void {
    if (this.worn !== null || !shown) this.need().showWithOwner(index, shown);
  }

  setColor(instances: Instances, part: string | number, color: Color, caller: string): void {
    checkColor(color, caller);
    const indices = this.indicesOf(part, caller);
    const worn = this.need();
    forEachInstance(instances, this.mesh.visibility, caller, (index) => {
      for (const one of indices) worn.setColor(index, one, color);
    });
    this.isColored = true;
  }

  /** Of a part of several meshes the colour of the first. */
  getColor(index: number, part: string | number, target: Color, caller: string): Color {
    checkIndex(index, this.mesh.visibility, caller);
    const [first] = this.indicesOf(part, caller);
    return this.worn === null ? target.setRGB(1, 1, 1) : this.worn.getColor(index, first, target);
  }

  setMapOffset(instances: Instances, part: string | number, offset: Vector2, caller: string): void {
    const indices = this.indicesOf(part, caller);
    if (!(Number.isFinite(offset?.x) && Number.isFinite(offset.y))) {
      throw new Error(`${caller}: offset is ${offset?.x}, ${offset?.y}; use finite numbers.`);
    }
    const worn = this.need();
    forEachInstance(instances, this.mesh.visibility, caller, (index) => {
      for (const one of indices) worn.setMapOffset(index, one, offset);
    });
  }

  /** Of a part of several meshes the offset of the first. */
  getMapOffset(index: number, part: string | number, target: Vector2, caller: string): Vector2 {
    checkIndex(index, this.mesh.visibility, caller);
    const [first] = this.indicesOf(part, caller);
    return this.worn === null ? target.set(0, 0) : this.worn.getMapOffset(index, first, target);
  }

  /** Numbers for every instance, which to begin with wears all of the character as it was baked. */
  need(): InstanceParts {
    if (this.worn === null) this.replace(new InstanceParts(this.mesh.capacity, this.paths.length));
    return this.worn as unknown as InstanceParts;
  }

  /**
   * Goes over to the parts of another geometry. One that numbers its parts keeps the names and
   * looks of those that are known; one that does not is a single part.
   *
   * @param numbersParts Whether the geometry has the attribute `partIndex`.
   * @returns Whether the parts are others than before.
   */
  fitGeometry(geometry: BufferGeometry, numbersParts: boolean): boolean {
    const { worn, paths } = this;
    const numbered = numberedParts(geometry);
    if (numbersParts ? numbered.length <= paths.length : paths.length === 1) return false;
    this.paths = numbersParts ? [...paths, ...numbered.slice(paths.length)] : numbered;
    if (!numbersParts) this.hidden = [];
    if (worn === null) return true;
    this.replace(numbersParts ? new InstanceParts(this.mesh.capacity, numbered.length).copy(worn) : null);
    return true;
  }

  /** Lets every instance wear all of the character again. */
  clear(): void {
    this.isColored = false;
    if (this.worn !== null) this.replace(null);
  }

  resize(capacity: number): void {
    const { worn } = this;
    if (worn !== null && worn.capacity !== capacity) {
      const resized = new InstanceParts(capacity, worn.count).copy(worn);
      for (let i = worn.capacity; i < capacity; i++) resized.reset(i, this.hidden);
      this.replace(resized);
    }
  }

  reset(index: number): void {
    if (this.worn === null) return;
    this.worn.reset(index, this.hidden);
    this.mesh.shownChanged(index);
  }

  swap(i: number, j: number): void {
    this.worn?.swap(i, j);
  }

  copy({ worn, isColored, paths, hidden }: CharacterParts): void {
    this.isColored = isColored;
    this.paths = paths;
    this.hidden = hidden;
    this.replace(worn === null ? null : new InstanceParts(this.mesh.capacity, worn.count).copy(worn));
  }

  dispose(): void {
    this.worn?.dispose();
  }

  private replace(worn: InstanceParts | null): void {
    this.worn?.dispose();
    this.worn = worn;
    this.mesh.prepareDraw();
  }
}

/** Numbers for names, as many as a crowd geometry has parts. */
function numberedParts(geometry: BufferGeometry): string[][] {
  const partIndex = geometry.getAttribute('partIndex');
  let last = 0;
  for (let vertex = 0; vertex < partIndex.count; vertex++) last = Math.max(last, partIndex.getX(vertex));
  return Array.from({ length: last + 1 }, (_, part) => [String(part)]);
}
