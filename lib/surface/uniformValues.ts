import type { Color, Vector2, Vector3, Vector4 } from 'three';
import {
  type InstanceUniformTypes,
  isSurfaceValue,
  layoutOf,
  SURFACE_VALUES,
  sizeOf,
  type UniformLayout,
  type UniformPlace,
  type UniformType,
} from '../instances/UniformLayout.js';
import { describe, listNames } from '../utils/messages.js';

/** What an instance can be given in the place of what the material says. */
interface SurfaceValues {
  emissive: Color;
  opacity: number;
  roughness: number | null;
  metalness: number | null;
  mapLayer: number;
}

/** What an instance can be given as a uniform of a type. */
interface ValuesOfTypes {
  float: number;
  vec2: Vector2;
  vec3: Vector3;
  vec4: Vector4;
  color: Color;
}

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
    const given = typeof value === 'object' ? target.slice(0, place.size).join(', ') : describe(value);
    throw new Error(`"${place.name}" is ${given}; ${wayOut(place)}`);
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

const wayOut = (place: UniformPlace) =>
  place.type === 'float' ? 'use a finite number.' : `use ${classOf(place)} of finite numbers.`;
