import { warnOnce } from '../utils/warnOnce.js';
import type { InstanceData } from './InstanceData.js';
import { InstanceUniforms } from './InstanceUniforms.js';
import { checkIndex, forEachInstance, type InstanceIds, type Instances } from './instanceRange.js';
import {
  type InstanceUniformTypes,
  initialOf,
  isLook,
  LOOKS,
  layoutOf,
  type UniformLayout,
  type UniformPlace,
} from './UniformLayout.js';
import { checkDeclared } from './uniformTypes.js';

/** The mesh whose instances have them. */
interface UniformMesh {
  readonly capacity: number;
  readonly visibility: InstanceIds;
  /** Called when other textures and shaders are needed. */
  prepareDraw(): void;
}

/**
 * What each instance of a mesh has for shaders by name: uniforms that the user has declared, and what takes the place of the
 * material's own. There are no numbers until there is something to be told apart.
 */
export class CharacterUniforms implements InstanceData {
  private own: InstanceUniforms | null = null;
  /** Those of the mesh that this one is attached to, which it has too as long as it has none of its own. */
  private owner: CharacterUniforms | null = null;
  /** Whether its own are those that the mesh it was copied from had of its owner: what it is attached to has them in turn. */
  private inherited = false;

  constructor(private readonly mesh: UniformMesh) {}

  /** What shaders read; null if all instances look as the material says. */
  get numbers(): InstanceUniforms | null {
    return this.own ?? this.owner?.numbers ?? null;
  }

  /**
   * Gives all instances uniforms, zero to begin with.
   *
   * @throws If a name or a type is none, or they are too many numbers.
   */
  declare(types: InstanceUniformTypes, caller: string): void {
    const layout = checkDeclared(types, caller);
    if (layout.texels > 0) this.replace(new InstanceUniforms(this.mesh.capacity, layout));
  }

  /** Shares those of the mesh that this one is attached to, until instances of this one are given some of their own. */
  follow(owner: CharacterUniforms | null): void {
    this.owner = owner;
    if (owner !== null && this.inherited) this.replace(null);
    else this.mesh.prepareDraw();
  }

  /** Gives instances the numbers that a uniform is. `place` says its name and type, see {@link CharacterUniforms.placeOf}. */
  set(instances: Instances, place: UniformPlace, numbers: ArrayLike<number>, caller: string): void {
    forEachInstance(instances, this.mesh.visibility, caller, (index) => {
      const own = this.need(place);
      own.set(index, own.layout.places.get(place.name) as UniformPlace, numbers);
    });
  }

  /** The numbers that a uniform of an instance is, in an array that holds them from index `at` on. */
  get(index: number, name: string, caller: string): { numbers: ArrayLike<number>; at: number } {
    checkIndex(index, this.mesh.visibility, caller);
    const { numbers } = this;
    const place = numbers?.layout.places.get(name);
    if (numbers === null || place === undefined) return { numbers: initialOf(name), at: 0 };
    return { numbers: numbers.data, at: numbers.indexOf(index, place) };
  }

  /**
   * Name and type of a uniform that was declared, or of what takes the place of the material's, and where it lies.
   *
   * @throws If there is none of that name.
   */
  placeOf(name: string, caller: string): UniformPlace {
    const place = this.layout.places.get(name);
    if (place !== undefined) return place;
    if (isLook(name)) return { name, type: LOOKS[name].type, at: 0, size: LOOKS[name].initial.length };
    const declared = [...this.layout.places.keys()]
      .filter((one) => !isLook(one))
      .map((one) => `"${one}"`)
      .join(', ');
    throw new Error(
      `${caller}: no uniform "${name}"; the crowd has ${declared || 'none'}. Declare it: from(root, clips, count, { uniforms: { ${name}: 'float' } }).`,
    );
  }

  resize(capacity: number): void {
    const { own, inherited } = this;
    if (own === null || own.capacity === capacity) return;
    this.replace(new InstanceUniforms(capacity, own.layout).copy(own));
    this.inherited = inherited;
  }

  swap(i: number, j: number): void {
    this.own?.swap(i, j);
  }

  reset(index: number): void {
    this.own?.reset(index);
  }

  copy({ own, numbers }: CharacterUniforms): void {
    if (numbers === null && this.own === null) return;
    // What was declared here stays, as it was declared: shaders of the user may ask for it.
    const types = new Map(numbers?.layout.types());
    for (const [name, type] of this.own?.layout.types() ?? []) {
      const other = types.get(name) ?? type;
      if (other !== type) {
        warnOnce(
          `SkinnedInstancedMesh.copy: the uniform "${name}" is of type "${type}" here and of "${other}" there, so that its values are not copied; declare it alike.`,
        );
      }
      types.set(name, type);
    }
    const copied = new InstanceUniforms(this.mesh.capacity, layoutOf(types));
    const inherited = own === null && (this.own === null || this.inherited);
    this.replace(numbers === null ? copied : copied.copy(numbers));
    this.inherited = inherited;
  }

  dispose(): void {
    this.own?.dispose();
  }

  /** Numbers of this mesh's own, with room for a uniform. */
  private need({ name, type }: UniformPlace): InstanceUniforms {
    const { own, numbers, layout } = this;
    if (own?.layout.places.has(name)) {
      this.inherited = false;
      return own;
    }
    const wider = layout.places.has(name) ? layout : layout.with(name, type);
    const replaced = new InstanceUniforms(this.mesh.capacity, wider);
    this.replace(numbers === null ? replaced : replaced.copy(numbers));
    return replaced;
  }

  private get layout(): UniformLayout {
    return this.numbers?.layout ?? layoutOf([]);
  }

  private replace(own: InstanceUniforms | null): void {
    this.own?.dispose();
    this.own = own;
    this.inherited = false;
    this.mesh.prepareDraw();
  }
}
