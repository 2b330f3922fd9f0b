import type { Vector3 } from 'three';
import type { MotionTSL } from '../../shaders/motion.tsl.js';
import type { UniformType } from '../instances/UniformLayout.js';
import { checkAreOptions } from '../utils/checkOptions.js';
import { describe } from '../utils/describe.js';
import { Motion } from './Motion.js';
import type {
  MotionDefinition,
  MotionOptions,
  MotionUniform,
  MotionValue,
  MotionValues,
} from './MotionDefinition.js';
import { combineMotions } from './MotionSet.js';

/** Values of uniforms of a motion, or objects that hold them, which others may share; what is left out is as it was defined. */
export type MotionSettings<U> = { readonly [K in keyof U]?: U[K] | MotionUniform<U[K]> };

/** Makes motions of a kind. */
export type MotionMaker<U extends MotionValues> = (
  settings?: MotionSettings<U>,
  options?: { reach?: number },
) => Motion<U>;

/** Names that statements of motions may read, and that are therefore no names of uniforms. */
const TAKEN = /^(position|normal|color|time|random|instance|(instance|model|world)Matrix|gl_.*|.*__.*)$/;

/**
 * Defines a kind of motion: how it moves the vertices of crowds in time. Define it once, outside of functions that run often;
 * motions of one kind share their shaders.
 *
 * ```ts
 * const hop = defineMotion({
 *   name: 'hop',
 *   uniforms: { height: 0.5 },
 *   reach: ({ height }) => height,
 *   glsl: 'position.y += height * abs( sin( 3.0 * time + 6.28 * random ) );',
 *   tsl: ({ position, time, random, uniforms, vec3 }) =>
 *     position.add(vec3(0, uniforms.height.mul(time.mul(3).add(random.mul(6.28)).sin().abs()), 0)),
 * });
 * crowd.motion = hop({ height: 0.3 });
 * ```
 *
 * @returns A function that makes motions of the kind. Its second argument may say another `reach`, for uniforms that change
 * later: bounds then stay as they are.
 * @throws If there is no `glsl`, or a uniform has no name or value that it can have.
 */
export function defineMotion<U extends MotionValues = Record<never, never>>(
  options: MotionOptions<U>,
): MotionMaker<U> {
  checkAreOptions(options, 'defineMotion');
  const { name, stage = 'afterSkinning', period = Infinity, glsl, functions = '', tsl, cpu } = options;
  const caller = 'defineMotion';
  if (typeof glsl !== 'string') {
    throw new Error(
      `${caller}: glsl of "${name}" is ${describe(glsl)}; pass statements that change \`position\`.`,
    );
  }
  if (stage !== 'beforeSkinning' && stage !== 'afterSkinning') {
    throw new Error(
      `${caller}: stage of "${name}" is ${describe(stage)}; use 'beforeSkinning' or 'afterSkinning'.`,
    );
  }
  if (!(period > 0)) throw new Error(`${caller}: period of "${name}" is ${period}; use a number above 0.`);
  if (typeof options.reach !== 'function') checkReach(options.reach, name, caller);
  const initial = (options.uniforms ?? {}) as U;
  const { derived = [] } = options;
  const shown = Object.keys(initial).filter((uniform) => !derived.includes(uniform));
  const definition: MotionDefinition = {
    name,
    stage,
    types: Object.entries(initial).map(([uniform, value]) => {
      if (!/^[a-zA-Z]\w*$/.test(uniform) || TAKEN.test(uniform)) {
        throw new Error(`${caller}: "${uniform}" is no name for a uniform of "${name}"; use another one.`);
      }
      return [uniform, typeOf(value, `${caller}: uniform ${uniform} of "${name}"`)] as const;
    }),
    period,
    glsl,
    functions,
    tsl: tsl as MotionTSL | undefined,
    cpu: cpu as MotionDefinition['cpu'],
  };

  return (settings = {}, { reach } = {}) => {
    if (reach !== undefined) checkReach(reach, name, name);
    const uniforms = uniformsOf(initial, shown, settings as Readonly<Record<string, unknown>>, name);
    const values = valuesOf<U>(uniforms);
    const given = reach ?? options.reach;
    return new Motion<U>(definition, uniforms, {
      values,
      reach: () => (typeof given === 'function' ? given(values) : given),
      rate: () => options.rate?.(values) ?? 1,
      prepare: (geometry, rest) => options.prepare?.(values, geometry, rest),
      combine: combineMotions,
    });
  };
}

/**
 * Uniforms of one motion: objects that were passed in, or new ones.
 *
 * @param shown Names that messages list.
 */
function uniformsOf(
  initial: MotionValues,
  shown: readonly string[],
  settings: Readonly<Record<string, unknown>>,
  name: string,
): Record<string, { value: MotionValue }> {
  for (const key in settings) {
    if (Object.hasOwn(initial, key)) continue;
    const known = shown.join(', ') || 'none';
    throw new Error(`${name}: no uniform "${key}"; there are ${known}.`);
  }
  const uniforms: Record<string, { value: MotionValue }> = {};
  for (const key in initial) {
    const given = settings[key] ?? initial[key];
    const held = typeof given === 'object' && given !== null && 'value' in given;
    const uniform = (held ? given : { value: copyOf(given as MotionValue) }) as { value: MotionValue };
    const type = typeOf(initial[key], name);
    if (typeOf(uniform.value, `${name}: ${key}`) !== type) {
      throw new Error(`${name}: ${key} is ${describe(uniform.value)}; use ${describe(initial[key])}.`);
    }
    uniforms[key] = uniform;
  }
  return uniforms;
}

/** The values of uniforms under their names, read and written where they are. */
function valuesOf<U>(uniforms: Readonly<Record<string, { value: MotionValue }>>): U {
  const values = {};
  for (const key in uniforms) {
    Object.defineProperty(values, key, {
      enumerable: true,
      get: () => uniforms[key].value,
      set: (value: MotionValue) => {
        uniforms[key].value = value;
      },
    });
  }
  return values as U;
}

/** Motions of one kind must not share a vector by chance. What is no value is an error later. */
const copyOf = (value: MotionValue): MotionValue =>
  typeof value === 'object' && value !== null ? (value.clone?.() ?? value) : value;

/** Types by the flags that three.js's classes have: a page may have two copies of them. */
const TYPES = { isVector2: 'vec2', isVector3: 'vec3', isVector4: 'vec4', isColor: 'color' } as const;

/** @throws If a uniform cannot be that. */
function typeOf(value: unknown, what: string): UniformType {
  if (typeof value === 'number') return checked([value], 'float', what);
  const flags = value as Readonly<Record<string, unknown>> | null;
  for (const [flag, type] of Object.entries(TYPES)) {
    if (flags?.[flag] === true) return checked((value as Vector3).toArray(), type, what);
  }
  throw new Error(`${what} is ${describe(value)}; use a number, a Vector2, 3 or 4, or a Color.`);
}

function checked(numbers: readonly number[], type: UniformType, what: string): UniformType {
  if (numbers.every(Number.isFinite)) return type;
  throw new Error(`${what} is ${numbers.join(', ')}; use finite numbers.`);
}

function checkReach(reach: number, name: string, caller: string): void {
  if (reach >= 0 && reach < Infinity) return;
  throw new Error(
    `${caller}: reach of "${name}" is ${reach}; say by how many units it moves a vertex at most, a finite number from 0.`,
  );
}
