import type { Color } from 'three';
import type { DrawnCrowd } from '../core/Crowd.js';
import { addMeshFeature, dropMeshFeature, type MeshFeature } from '../core/CrowdFeature.js';
import { copyItem, InstanceTexture } from '../instances/InstanceTexture.js';
import { checkIndex, forEachInstance, type Instances } from '../instances/instanceRange.js';
import {
  type InstanceUniformTypes,
  initialOf,
  isSurfaceValue,
  layoutOf,
  SURFACE_VALUES,
  type SurfaceValue,
  type UniformLayout,
  type UniformPlace,
} from '../instances/UniformLayout.js';
import { listNames, warnOnce } from '../utils/messages.js';
import {
  checkDeclared,
  type NumberName,
  numbersOf,
  readValue,
  showsIn,
  type UniformEntry,
  type UniformValue,
  wayOutOf,
} from './uniformValues.js';

const _numbers: number[] = [];

/** The numbers that each instance has for shaders, as texels. */
class UniformTexels {
  readonly texture: InstanceTexture;

  private readonly stride: number;
  /** The numbers of an instance to which none were given. */
  private readonly initial: Float32Array;

  /** @param source Of which the uniforms and instances that both have are taken over; a uniform of another type is another one. */
  constructor(
    readonly capacity: number,
    readonly layout: UniformLayout,
    source: UniformTexels | null,
  ) {
    this.stride = layout.texels * 4;
    this.initial = new Float32Array(this.stride);
    for (const { name, at, size } of layout.places.values()) {
      this.initial.set(initialOf(name).slice(0, size), at);
    }
    this.texture = new InstanceTexture(capacity, this.stride);
    for (let i = 0; i < capacity; i++) this.texture.data.set(this.initial, i * this.stride);
    for (const from of source?.layout.places.values() ?? []) {
      const place = layout.places.get(from.name);
      if (from.type !== place?.type) continue;
      for (let i = 0; i < Math.min(capacity, source?.capacity ?? 0); i++) {
        const first = (source as UniformTexels).indexOf(i, from);
        const numbers = (source as UniformTexels).texture.data.subarray(first, first + from.size);
        this.texture.data.set(numbers, this.indexOf(i, place));
      }
    }
  }

  /** Index of a uniform's first number among those of all instances. */
  indexOf(index: number, { at }: UniformPlace): number {
    return index * this.stride + at;
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

  reset(index: number): void {
    this.texture.data.set(this.initial, index * this.stride);
    this.texture.changed(index);
  }
}

/**
 * Numbers that each instance of a mesh has for shaders, by name: in the place of what the material says, as clones have whose
 * materials are clones too, and for shaders of your own, where GLSL reads `instanceUniform_NAME` and TSL
 * `instanceUniform('NAME', type)`. What is attached to joints has those of its crowd, unless it is given some of its own.
 *
 * | name | value | |
 * |---|---|---|
 * | `'emissive'` | `Color` | added to the light that the material emits; black adds nothing |
 * | `'opacity'` | number | multiplies that of materials with `transparent`, `alphaHash` or `alphaTest`; shadows do not fade |
 * | `'roughness'`, `'metalness'` | number from 0 | in the place of the material's, times its map; null for the material's own |
 * | `'mapLayer'` | whole number | layer of a `map` that is an array of textures |
 * | names of yours | number, vector, `Color` | zero to begin with |
 *
 * ```ts
 * const uniforms = new InstanceUniforms(crowd, { dirt: 'float' });
 * uniforms.setAt(3, 'dirt', 0.8).setAt(3, 'emissive', new Color(1, 0, 0));
 * ```
 *
 * @category Dress and attach
 */
export class InstanceUniforms<T extends InstanceUniformTypes = InstanceUniformTypes> implements MeshFeature {
  private texels: UniformTexels | null = null;

  /**
   * @param types Uniforms of yours: at most 16 numbers. Of the material's, those named here compile with the first frame,
   * others when they are first set.
   * @throws If a name or a type is none, or they are too many numbers, or the mesh has some already.
   */
  constructor(
    private readonly mesh: DrawnCrowd,
    types: T = {} as T,
  ) {
    const layout = checkDeclared(types);
    addMeshFeature(mesh, this);
    mesh.uniforms = this as unknown as InstanceUniforms;
    if (layout.texels > 0) this.make(layout);
  }

  /** What shaders read; null as long as instances have nothing. */
  get numbers(): UniformTexels | null {
    return this.texels;
  }

  /**
   * @param entry Name and value of the uniform, see the class.
   * @throws If there is no such instance or uniform, or the value is of another type or not finite.
   */
  setAt(instances: Instances, ...entry: UniformEntry<T>): this;
  setAt(instances: Instances, name: string, value: UniformValue | null): this {
    const place = this.placeOf(name);
    if (isSurfaceValue(name)) {
      if (name === 'roughness' || name === 'metalness' || name === 'mapLayer') {
        if (value !== null && !((value as number) >= 0)) {
          throw new Error(`${name} is ${value}; use a number from 0, or null for the material's own.`);
        }
        value ??= SURFACE_VALUES[name].initial[0];
        if (name === 'mapLayer' && !Number.isInteger(value))
          throw new Error(`mapLayer is ${value}; use a whole number from 0.`);
      }
      this.warnUnseen(name);
    }
    numbersOf(value as UniformValue, place, _numbers);
    forEachInstance(instances, this.mesh.visibility, (index) => {
      const texels = this.withPlace(place);
      texels.set(index, texels.layout.places.get(name) as UniformPlace, _numbers);
    });
    return this;
  }

  /** The value of an instance: in `target` if it is a vector or a colour; null for a roughness that is the material's own. */
  getAt(index: number, name: 'roughness' | 'metalness'): number | null;
  getAt(index: number, name: NumberName<T>): number;
  getAt<V extends UniformValue>(index: number, name: UniformEntry<T>[0], target: V): V;
  getAt(index: number, name: string, target?: UniformValue): UniformValue | null {
    const place = this.placeOf(name);
    checkIndex(index, this.mesh.visibility);
    const { texels } = this;
    const own = texels?.layout.places.get(name);
    const value =
      texels === null || own === undefined
        ? readValue(initialOf(name), 0, place, target)
        : readValue(texels.texture.data, texels.indexOf(index, own), place, target);
    if (name === 'roughness' || name === 'metalness') return (value as number) < 0 ? null : (value as number);
    return value as number | Color;
  }

  /** Lets an instance have what another one has. */
  copyAt(from: number, to: number): this {
    if (this.texels) copyItem(this.texels.texture, from, to);
    return this;
  }

  resize(capacity: number): void {
    const { texels } = this;
    if (texels !== null && texels.capacity !== capacity) this.make(texels.layout);
  }

  swap(i: number, j: number): void {
    this.texels?.texture.swap(i, j);
  }

  reset(index: number): void {
    this.texels?.reset(index);
  }

  cloneForMesh(mesh: object): InstanceUniforms {
    return new InstanceUniforms(mesh as DrawnCrowd);
  }

  copy({ texels }: this): void {
    if (texels === null && this.texels === null) return;
    // What was declared here stays as it was declared: shaders of the user may ask for it.
    const types = new Map(texels?.layout.types());
    for (const [name, type] of this.texels?.layout.types() ?? []) {
      const other = types.get(name) ?? type;
      if (other !== type) {
        warnOnce(
          `The uniform "${name}" is of type "${type}" here and of "${other}" in what is copied, so that its values are not; declare it alike.`,
        );
      }
      types.set(name, type);
    }
    this.make(layoutOf(types), texels);
  }

  /** Instances look as their material says again. */
  dispose(): void {
    this.texels?.texture.dispose();
    this.texels = null;
    if (this.mesh.uniforms !== this) return;
    this.mesh.uniforms = null;
    dropMeshFeature(this.mesh, this);
    this.mesh.prepareDraw();
  }

  /** Says that what instances are given shows in none of the mesh's materials. */
  private warnUnseen(name: SurfaceValue): void {
    const { material } = this.mesh;
    // For thousands of instances in each frame: it makes no arrays of one.
    if (Array.isArray(material) ? material.some((one) => showsIn(name, one)) : showsIn(name, material))
      return;
    const [{ type, name: own }] = [material].flat();
    warnOnce(`It does not show, since the material ${type} "${own}" ${wayOutOf(name)}.`);
  }

  /** @throws If there is no uniform of that name. */
  private placeOf(name: string): UniformPlace {
    const place = this.texels?.layout.places.get(name);
    if (place !== undefined) return place;
    if (isSurfaceValue(name))
      return { name, type: SURFACE_VALUES[name].type, at: 0, size: SURFACE_VALUES[name].initial.length };
    throw new Error(
      `There is no uniform "${name}"; there are ${listNames(
        [...new Set([...(this.texels?.layout.places.keys() ?? []), ...Object.keys(SURFACE_VALUES)])],
        name,
      )}. Declare one of yours: new InstanceUniforms(crowd, { ${name}: 'float' }).`,
    );
  }

  private withPlace({ name, type }: UniformPlace): UniformTexels {
    const { texels } = this;
    if (texels?.layout.places.has(name)) return texels;
    return this.make((texels?.layout ?? layoutOf([])).with(name, type));
  }

  private make(layout: UniformLayout, from: UniformTexels | null = this.texels): UniformTexels {
    const made = new UniformTexels(this.mesh.capacity, layout, from);
    this.texels?.texture.dispose();
    this.texels = made;
    this.mesh.prepareDraw();
    return made;
  }
}
