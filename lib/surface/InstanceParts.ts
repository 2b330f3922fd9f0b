import { Color, type Vector2 } from 'three';
import { type CharacterPart, partPaths } from '../character/crowdGeometry.js';
import { MAP_STEPS, NEARLY_BLACK } from '../constants.js';
import type { DrawnCrowd } from '../core/Crowd.js';
import { addMeshFeature, dropMeshFeature, type MeshFeature } from '../core/CrowdFeature.js';
import { checkColor } from '../instances/InstanceColors.js';
import { copyItem, InstanceTexture } from '../instances/InstanceTexture.js';
import { checkIndex, forEachInstance, type Instances } from '../instances/instanceRange.js';
import { listNames } from '../utils/messages.js';

/** Numbers per part of an instance: red, green, blue, then the place of its map and whether it is drawn. */
const STRIDE = 4;
/**
 * Index of that last number: 1 + u + v · `MAP_STEPS`, where u and v are the offset of the map in steps; negative if the part is
 * hidden. A float32 holds every such number exactly.
 */
const MAP = 3;
/** Texels that a row may take; every device has room for them. */
const MAX_COLUMNS = 2048;

const WHITE = { r: 1, g: 1, b: 1 };
const _color = /*@__PURE__*/ new Color();
const above = (black: number) => Math.max(black, NEARLY_BLACK);

/**
 * A part: the name of a mesh, or of a node, which stands for all meshes below it; an index into `InstanceParts.names`; or the name of a
 * material, which stands for all meshes that are drawn with it, as it was before merging.
 */
export type PartName =
  | string
  | number
  | {
      /** The name of the material, or a pattern for it. */
      material: string | RegExp;
    };

/**
 * Shows and hides parts of single instances, colours them, and moves their maps. The parts are the meshes that the character was
 * baked of. Instances begin with all of them but the character's hidden ones. What is hidden costs no pixels, casts no shadow
 * and is not hit by rays.
 *
 * ```ts
 * const parts = new InstanceParts(crowd);
 * parts.setVisibleAt(3, 'Helmet', false).setColorAt(3, 'Coat', new Color('teal'));
 * ```
 *
 * Parts go by name, index or material, see {@link PartName}. What is attached to joints has parts of its own, mostly one:
 * `new InstanceParts(sword).setVisibleAt(3, 0, false)`.
 *
 * @category Dress and attach
 */
export class InstanceParts implements MeshFeature {
  /** Shaders read colours of parts where they read those of instances. */
  isColored = false;
  /** How many parts there are. */
  count = 0;
  /** What shaders read of them. */
  texture!: InstanceTexture;
  private capacity = 0;
  /** Names of each part: its mesh's, then those of the nodes above. */
  private paths: readonly (readonly string[])[] = [];

  /**
   * @param mesh A crowd, or what is attached to one.
   * @throws If it has some already.
   */
  constructor(private readonly mesh: DrawnCrowd) {
    addMeshFeature(mesh, this);
    mesh.instanceParts = this;
    this.geometryReplaced(false);
  }

  /** Names of the parts: those of the meshes. */
  get names(): readonly string[] {
    return this.paths.map(([name]) => name);
  }

  /**
   * Shows or hides a part of instances.
   *
   * @throws If there is no such instance or part.
   */
  setVisibleAt(instances: Instances, part: PartName, visible: boolean): this {
    return this.each(instances, part, (index, one) => this.show(index, one, visible));
  }

  /** Shows these parts of instances and hides all others. */
  setVisiblePartsAt(instances: Instances, visible: readonly PartName[]): this {
    const shown = new Set(visible.flatMap((part) => this.indicesOf(part)));
    forEachInstance(instances, this.mesh.visibility, (index) => {
      for (let part = 0; part < this.count; part++) this.show(index, part, shown.has(part));
    });
    return this;
  }

  /** Whether any mesh of a part is shown. */
  getVisibleAt(index: number, part: PartName): boolean {
    checkIndex(index, this.mesh.visibility);
    return this.indicesOf(part).some((one) => this.isShown(index, one));
  }

  /**
   * Multiplies the colour of a part of instances; on top of the crowd's `setColorAt`, which goes for all of an instance. From then
   * on `instanceColor = null` makes that white, and leaves the colours of parts.
   *
   * ```ts
   * parts.setColorAt(3, { material: /^Skin/ }, new Color('tan'), { replace: true }); // as if material.color were that
   * ```
   *
   * @param options With `replace` the colour takes the place of that of the part's material, be it black: it is divided by what
   * `material.color` is at the call, and who changes that later multiplies again. An `Impostor` shows what is black as it is.
   * @throws If there is no such instance or part, the colour is not of finite numbers, or it replaces that of several materials.
   */
  setColorAt(instances: Instances, part: PartName, color: Color, { replace = false } = {}): this {
    checkColor(color);
    const materials = replace ? this.materials : null;
    this.each(instances, part, (index, one) => {
      const [replaced, ...others] = materials?.[one] ?? [];
      if (others.length > 0)
        throw new Error(
          `Part "${this.names[one]}" has several materials, whose colours differ; split its mesh.`,
        );
      const { r, g, b } = replaced?.color ?? WHITE;
      _color.setRGB(color.r / above(r), color.g / above(g), color.b / above(b));
      _color.toArray(this.texture.data, this.at(index, one));
      this.texture.changed(index);
    });
    this.isColored = true;
    this.mesh.colors.need();
    return this;
  }

  /** The colour that multiplies a part, in `target`; of a part of several meshes that of the first. */
  getColorAt(index: number, part: PartName, target: Color): Color {
    checkIndex(index, this.mesh.visibility);
    return target.fromArray(this.texture.data, this.at(index, this.indicesOf(part)[0]));
  }

  /**
   * Moves the material's `map` for a part of instances, as `Texture.offset` does for all: with an atlas, each has another skin.
   * Other maps stay. Kept to 1/4096 of the map; whole turns count for nothing.
   *
   * @param offset In uv units, from 0 to 1.
   * @throws If there is no such instance or part, or the offset is not of finite numbers.
   */
  setMapOffsetAt(instances: Instances, part: PartName, { x, y }: Vector2): this {
    if (!Number.isFinite(x + y)) throw new Error(`The offset is ${x}, ${y}; use finite numbers.`);
    const stepsOf = (offset: number) => Math.round((offset - Math.floor(offset)) * MAP_STEPS) % MAP_STEPS;
    const map = 1 + stepsOf(x) + stepsOf(y) * MAP_STEPS;
    return this.each(instances, part, (index, one) => {
      this.texture.data[this.at(index, one) + MAP] = this.isShown(index, one) ? map : -map;
      this.texture.changed(index);
    });
  }

  /** By how much the map of a part is moved, in `target`; of a part of several meshes that of the first. */
  getMapOffsetAt(index: number, part: PartName, target: Vector2): Vector2 {
    checkIndex(index, this.mesh.visibility);
    const steps = Math.abs(this.texture.data[this.at(index, this.indicesOf(part)[0]) + MAP]) - 1;
    return target.set((steps % MAP_STEPS) / MAP_STEPS, Math.floor(steps / MAP_STEPS) / MAP_STEPS);
  }

  /** Gives an instance the parts that another one has. */
  copyAt(from: number, to: number): this {
    copyItem(this.texture, from, to);
    return this;
  }

  /** Whether an instance shows a part, by its number. */
  isShown(index: number, part: number): boolean {
    return part >= this.count || this.texture.data[this.at(index, part) + MAP] > 0;
  }

  /** A geometry that numbers its parts keeps the names of those that are known; one that does not is a single part. @internal */
  geometryReplaced(numbered: boolean): void {
    const { geometry, characterParts, capacity } = this.mesh;
    this.paths = partPaths(geometry, characterParts);
    const { length } = this.paths;
    this.make(length, capacity, numbered || length === this.count ? this : null);
  }

  resize(capacity: number): void {
    if (capacity !== this.capacity) this.make(this.count, capacity);
  }

  reset(index: number): void {
    const { characterParts } = this.mesh;
    this.texture.data.fill(1, this.at(index, 0), this.at(index + 1, 0));
    for (let part = 0; part < this.count; part++)
      if (characterParts[part]?.hidden) this.texture.data[this.at(index, part) + MAP] = -1;
    this.texture.changed(index);
  }

  swap(i: number, j: number): void {
    this.texture.swap(i, j);
  }

  copy(source: InstanceParts): void {
    this.isColored = source.isColored;
    this.paths = source.paths;
    this.make(source.count, this.mesh.capacity, source);
  }

  cloneForMesh(mesh: object): InstanceParts {
    return new InstanceParts(mesh as DrawnCrowd);
  }

  /** Instances show all parts again, in the colours of their materials. */
  dispose(): void {
    this.texture.dispose();
    if (this.mesh.instanceParts !== this) return;
    this.mesh.instanceParts = null;
    dropMeshFeature(this.mesh, this);
    this.mesh.prepareDraw();
  }

  /** Those of each part. */
  private get materials(): CharacterPart['materials'][] {
    const { characterParts, material } = this.mesh;
    return this.paths.map((_, i) => characterParts[i]?.materials ?? [material].flat());
  }

  private at(index: number, part: number): number {
    return (index * this.count + part) * STRIDE;
  }

  private show(index: number, part: number, shown: boolean): void {
    const { data } = this.texture;
    const at = this.at(index, part) + MAP;
    data[at] = shown ? Math.abs(data[at]) : -Math.abs(data[at]);
    this.texture.changed(index);
  }

  private each(instances: Instances, part: PartName, callback: (index: number, part: number) => void): this {
    const parts = this.indicesOf(part);
    forEachInstance(instances, this.mesh.visibility, (index) => {
      for (const one of parts) callback(index, one);
    });
    return this;
  }

  /** @throws If there is no such part. */
  private indicesOf(part: PartName): number[] {
    const { material: wanted = part } = part as { material?: string | RegExp };
    const known = wanted === part ? this.paths : this.materials.map((all) => all.map(({ name }) => name));
    const isWanted = (name: string) =>
      wanted instanceof RegExp ? name.search(wanted) >= 0 : name === wanted;
    const indices = [...known.keys()].filter((i) => i === wanted || known[i].some(isWanted));
    if (indices.length > 0) return indices;
    throw new Error(
      `There is no part ${wanted === part ? '' : 'of material '}${typeof wanted === 'string' ? `"${wanted}"` : wanted}; ` +
        `there are ${listNames([...new Set(known.map(([name]) => name))], wanted)}.`,
    );
  }

  /** Makes room for so many parts of so many instances, which keep what they have, or take it over. */
  private make(count: number, capacity: number, from: InstanceParts | null = this): void {
    const { texture: given, count: parts, capacity: most } = from ?? this;
    const kept = from === null ? 0 : Math.min(capacity, most);
    this.count = count;
    this.capacity = capacity;
    const perRow = 2 ** Math.min(8, Math.max(0, Math.floor(Math.log2(MAX_COLUMNS / count))));
    const made = new InstanceTexture(capacity, count * STRIDE, perRow);
    this.texture?.dispose();
    this.texture = made;
    const size = Math.min(count, parts) * STRIDE;
    for (let index = 0; index < capacity; index++) {
      this.reset(index);
      if (index >= kept) continue;
      const at = index * parts * STRIDE;
      made.data.set(given.data.subarray(at, at + size), this.at(index, 0));
    }
    this.mesh.prepareDraw();
  }
}
