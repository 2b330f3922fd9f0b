import type { Color, Material, Vector2, Vector3, Vector4 } from 'three';
import {
  type InstanceUniformTypes,
  isSurfaceValue,
  layoutOf,
  SURFACE_VALUES,
  type SurfaceValue,
  sizeOf,
  type UniformLayout,
  type UniformPlace,
  type UniformType,
} from '../instances/UniformLayout.js';
import { describe, listNames } from '../utils/messages.js';
import { hasArrayMap } from '../utils/surfaceMaps.js';

/** What an instance can be given in the place of what the material says. */
type SurfaceValues = Record<'opacity' | 'mapLayer', number> &
  Record<'roughness' | 'metalness', number | null> & { emissive: Color };

/** What an instance can be given as a uniform of a type. */
type ValuesOfTypes = { float: number; vec2: Vector2; vec3: Vector3; vec4: Vector4; color: Color };

/** What an instance can be given as a uniform: a number for a float, else the vector or colour of its type. */
export type UniformValue = ValuesOfTypes[UniformType];

/** A name and a value for each of `T`. */
type EntriesOf<T> = { [K in keyof T]: [name: K, value: T[K]] }[keyof T];

type Declared<T extends InstanceUniformTypes> = { [K in keyof T & string]: ValuesOfTypes[T[K]] };

/** A uniform's name and a value of its type: one of those declared as `T`, any where that is not known, or of the material's. */
export type UniformEntry<T extends InstanceUniformTypes> =
  | EntriesOf<SurfaceValues>
  | (string extends keyof T ? [name: string & {}, value: UniformValue] : EntriesOf<Declared<T>>);

/** Names of those that are numbers. */
export type NumberName<T extends InstanceUniformTypes> = string extends keyof T
  ? string
  : Extract<UniformEntry<T>, [string, number]>[0];

/** Numbers that may be declared: with what the library adds, they fit into the varyings that every device has. */
const MAX_NUMBERS = 16;

const TYPES: readonly UniformType[] = ['float', 'vec2', 'vec3', 'vec4', 'color'];
const COMPONENTS = ['x', 'y', 'z', 'w'] as const;
const CHANNELS = ['r', 'g', 'b'] as const;

const keysOf = ({ type, size }: UniformPlace): readonly string[] =>
  type === 'color' ? CHANNELS : COMPONENTS.slice(0, size);

/**
 * The layout of uniforms that a user declares.
 *
 * @throws If a name or a type is none, or they are too many numbers.
 */
export function checkDeclared(types: InstanceUniformTypes): UniformLayout {
  let numbers = 0;
  for (const [name, type] of Object.entries(types)) {
    const size = sizeOf(type);
    if (size === undefined) {
      throw new Error(`uniforms.${name} is ${describe(type)}; use ${listNames(TYPES, type)}.`);
    }
    // GLSL keeps names with two underscores in a row for itself.
    if (!/^[a-zA-Z]\w*$/.test(name) || name.includes('__')) {
      throw new Error(
        `"${name}" cannot be the name of a uniform; use a letter, then letters, digits and single underscores.`,
      );
    }
    if (isSurfaceValue(name) && SURFACE_VALUES[name].type !== type) {
      throw new Error(
        `uniforms.${name} is '${type}', but that of instances is a '${SURFACE_VALUES[name].type}'; use that, or another name.`,
      );
    }
    numbers += isSurfaceValue(name) ? 0 : size;
  }
  if (numbers > MAX_NUMBERS) {
    throw new Error(
      `Uniforms are ${numbers} numbers for each instance, of at most ${MAX_NUMBERS}; declare fewer, or pack several into a vec4.`,
    );
  }
  return layoutOf(Object.entries(types));
}

/**
 * Writes the numbers of a value to the beginning of an array.
 *
 * @throws If it is no value of the uniform's type, or is not finite.
 */
export function numbersOf(value: UniformValue, place: UniformPlace, target: number[]): void {
  const numbers = value as unknown as Record<string, number>;
  if (place.type === 'float') target[0] = value as number;
  else keysOf(place).forEach((key, i) => (target[i] = numbers?.[key]));
  for (let i = 0; i < place.size; i++) {
    if (Number.isFinite(target[i])) continue;
    throw new Error(
      `"${place.name}" is ${typeof value === 'object' ? target.slice(0, place.size).join(', ') : describe(value)}; ` +
        `use ${place.type === 'float' ? 'a finite number' : `${classOf(place)} of finite numbers`}.`,
    );
  }
}

/**
 * The value of these numbers: a number for a float, else `target` with the numbers in it.
 *
 * @throws If there is no target of the uniform's type.
 */
export function readValue<T extends UniformValue | undefined>(
  numbers: ArrayLike<number>,
  at: number,
  place: UniformPlace,
  target: T,
): number | T {
  if (place.type === 'float') return numbers[at];
  const vector = target as unknown as Record<string, number> | undefined;
  const keys = keysOf(place);
  if (typeof vector?.[keys[keys.length - 1]] !== 'number') {
    throw new Error(
      `target is ${String(target)}; pass ${classOf(place)} for the ${place.type} "${place.name}".`,
    );
  }
  keys.forEach((key, i) => (vector[key] = numbers[at + i]));
  return target;
}

const classOf = ({ type, size }: UniformPlace) => (type === 'color' ? 'a Color' : `a Vector${size}`);

/** Whether a material, of whichever class, shows what instances have in the place of what it says. */
export function showsIn(look: SurfaceValue, material: Material): boolean {
  const fields = material as unknown as Record<string, unknown>;
  const { transparent, alphaHash, alphaTest, alphaToCoverage } = material;
  if (fields.isShaderMaterial === true || (look === 'emissive' && fields.emissiveNode)) return true;
  if (look === 'opacity')
    return transparent || alphaHash || alphaTest > 0 || alphaToCoverage || Boolean(fields.alphaTestNode);
  return look === 'mapLayer' ? hasArrayMap(material) : fields[look] !== undefined;
}

/** What to do where it does not. */
export const wayOutOf = (look: SurfaceValue): string =>
  ({
    emissive:
      'emits no light; use a Lambert, Phong, toon, standard or physical one, or colour instances by setColorAt',
    opacity: 'is opaque; set transparent, alphaHash or alphaTest of it',
    roughness: 'has no roughness; use a MeshStandardMaterial or a MeshPhysicalMaterial',
    metalness: 'has no metalness; use a MeshStandardMaterial or a MeshPhysicalMaterial',
    mapLayer: 'has no texture array; give it a DataArrayTexture or a CompressedArrayTexture as its map',
  })[look];
