import type { Box3, BufferGeometry, Color, Matrix4, Vector2, Vector3, Vector4 } from 'three';
import type { MotionSource, MotionStage } from '../../../shaders/MotionProgram.js';
import type { MotionNodes, MotionTSL, MovedNodes } from '../../../shaders/motion.tsl.js';
import type { UniformType } from '../../instances/UniformLayout.js';
import { describe } from '../../utils/messages.js';

/** What a uniform of a motion can be. */
export type MotionValue = number | Vector2 | Vector3 | Vector4 | Color;

/** Uniforms of a motion by their names: values, or objects that hold them and may be shared with others. */
export type MotionValues = Readonly<Record<string, MotionValue>>;

/** An object that holds the value of a uniform. */
export interface MotionUniform<T> {
  /** What it is now. */
  value: T;
}

/** Uniforms as objects that hold values, as three.js has them: assign to `value`, or change what it is. */
export type MotionUniforms<U> = { readonly [K in keyof U]: MotionUniform<U[K]> };

/** What a motion is told of a vertex on the CPU, and what it changes. */
export interface MotionVertex<U> {
  /** As it was modelled, or, after skinning, as it is posed, in the instance's own space. Move it. */
  readonly position: Vector3;
  /** After skinning it is that of the rest pose. Reading only: on the CPU nothing is done with it. */
  readonly normal: Vector3;
  /** The vertex colour; zero where the geometry has none. */
  readonly color: Vector4;
  /** As in shaders. */
  time: number;
  /** A number of the instance's own, at least 0 and below 1. */
  random: number;
  /** Its id. */
  instance: number;
  /** Where the instance stands in the crowd. */
  readonly instanceMatrix: Matrix4;
  /** Where the crowd stands in the world. */
  readonly modelMatrix: Matrix4;
  /** Where the instance stands in the world. */
  readonly worldMatrix: Matrix4;
  /** The uniforms' values. */
  uniforms: { readonly [K in keyof U]: U[K] };
}

/** What a motion does, for {@link defineMotion}. */
export interface MotionOptions<U extends MotionValues> {
  /** For messages. */
  name: string;
  /** Whether vertices are moved as they were modelled, or as they are posed. @default 'afterSkinning' */
  stage?: MotionStage;
  /** Uniforms and what each is unless it is said otherwise: numbers, vectors, colours. @default none */
  uniforms?: U;
  /**
   * The farthest that it ever moves a vertex, in units of the instance, or how to tell from the uniforms: bounds grow by it. An
   * instance that is twice as large is moved twice as far. Before skinning it is in units of the geometry as it was modelled.
   */
  maxOffset: number | ((values: U) => number);
  /** How fast time passes for it: 2 for twice as fast. It may differ from frame to frame, and nothing jumps. @default 1 */
  rate?: (values: U) => number;
  /**
   * After how much time everything repeats: it goes back to zero then, so that shaders have a number of few digits. Without it,
   * time is exact to a hundredth of a second after a day.
   */
  period?: number;
  /**
   * Is called before uniforms are read, for a draw, for rays or by `maxOffset`, and may change some: to derive them from others.
   *
   * @param geometry That of the crowd that the motion was assigned to.
   * @param rest The box of its rest pose, in the instance's space. Of what is attached to a joint it is that of the geometry. Do not
   * change it.
   */
  prepare?(values: { [K in keyof U]: U[K] }, geometry: BufferGeometry, rest: Box3): void;
  /**
   * GLSL statements for WebGLRenderer. They change `vec3 position`, and `vec3 normal` if they like; and read
   * `vec4 color`, `float time`, `float random`, `int instance`, `mat4 instanceMatrix`, `mat4 modelMatrix`, `mat4 worldMatrix`, and
   * the uniforms by their names.
   */
  glsl: string;
  /** GLSL functions that the statements call. What several motions have in common is declared once if the text is the same. */
  functions?: string;
  /** The same for WebGPURenderer: returns where the vertex is, and the normal if it turns. */
  tsl?(vertex: MotionNodes<U>): MovedNodes;
  /** The same for rays and `getVertexPosition`, which otherwise find vertices where they are without the motion. */
  cpu?(vertex: MotionVertex<U>): void;
}

/** The same with nothing left out, for motions of any uniforms. */
export interface MotionDefinition extends MotionSource {
  readonly types: readonly (readonly [name: string, type: UniformType])[];
  readonly period: number;
  readonly cpu: ((vertex: MotionVertex<never>) => void) | undefined;
}

/**
 * Moves the vertices of crowds in time: what makers of {@link defineMotion} return, for {@link InstanceMotions}
 * of a crowd, or of several, which then share its uniforms.
 *
 * ```ts
 * const high = hop({ height: 0.3 });
 * new InstanceMotions(rabbits, high);
 * new InstanceMotions(frogs, high);
 * high.uniforms.height.value = 0.5; // at any time
 * ```
 *
 * @category Move
 */
export class Motion<U = unknown> {
  /** For type testing. */
  readonly isMotion = true;
  /** What it is called in messages. */
  readonly name: string;
  /** Whether vertices are moved as they were modelled, or as they are posed. */
  readonly stage: MotionStage;
  /** Change the `value` of any at any time: nothing is compiled anew. */
  readonly uniforms: MotionUniforms<U>;

  /** @internal */
  constructor(
    /** @internal */
    readonly definition: MotionDefinition,
    uniforms: Readonly<Record<string, { value: MotionValue }>>,
    /** @internal */
    readonly hooks: {
      /** The uniforms' values under their names. */
      readonly values: object;
      maxOffset(): number;
      rate(): number;
      prepare(geometry: BufferGeometry, rest: Box3): void;
    },
  ) {
    this.name = definition.name;
    this.stage = definition.stage;
    this.uniforms = uniforms as MotionUniforms<U>;
  }

  /**
   * The farthest that it moves a vertex, in units of the instance; before skinning, in those of the geometry as it was modelled.
   * Where that depends on the geometry, it is that of the mesh for which the motion was prepared last: who asks
   * prepares it first, see `MotionSet`.
   *
   * @throws If that is no finite number from 0.
   * @internal
   */
  get maxOffset(): number {
    const maxOffset = this.hooks.maxOffset();
    if (maxOffset >= 0 && maxOffset < Infinity) return maxOffset;
    throw new Error(
      `Motion.maxOffset: that of "${this.name}" is ${maxOffset}; its uniforms, or its \`maxOffset\`, must give a finite number from 0.`,
    );
  }
}

/** Values of uniforms of a motion, or objects that hold them, which others may share; what is left out is as it was defined. */
export type MotionSettings<U> = { readonly [K in keyof U]?: U[K] | MotionUniform<U[K]> };

/** Makes motions of a kind. */
export type MotionMaker<U extends MotionValues> = (
  settings?: MotionSettings<U>,
  options?: { maxOffset?: number },
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
 *   maxOffset: ({ height }) => height,
 *   glsl: 'position.y += height * abs( sin( 3.0 * time + 6.28 * random ) );',
 *   tsl: ({ position, time, random, uniforms, vec3 }) =>
 *     position.add(vec3(0, uniforms.height.mul(time.mul(3).add(random.mul(6.28)).sin().abs()), 0)),
 * });
 * new InstanceMotions(crowd, hop({ height: 0.3 }));
 * ```
 *
 * @returns A function that makes motions of the kind. Its second argument may say another `maxOffset`, for uniforms that change
 * later: bounds then stay as they are.
 * @throws If there is no `glsl`, or a uniform has no name or value that it can have.
 *
 * @category Move
 */
export function defineMotion<U extends MotionValues = Record<never, never>>(
  options: MotionOptions<U>,
): MotionMaker<U> {
  const { name, stage = 'afterSkinning', period = Infinity, glsl, functions = '', tsl, cpu } = options;
  const caller = 'defineMotion';
  if (!(period > 0)) throw new Error(`${caller}: period of "${name}" is ${period}; use a number above 0.`);
  if (typeof options.maxOffset !== 'function') checkMaxOffset(options.maxOffset, name, caller);
  const initial = (options.uniforms ?? {}) as U;
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

  return (settings = {}, { maxOffset } = {}) => {
    if (maxOffset !== undefined) checkMaxOffset(maxOffset, name, name);
    const uniforms = uniformsOf(initial, settings as Readonly<Record<string, unknown>>, name);
    const values = valuesOf<U>(uniforms);
    const given = maxOffset ?? options.maxOffset;
    return new Motion<U>(definition, uniforms, {
      values,
      maxOffset: () => (typeof given === 'function' ? given(values) : given),
      rate: () => options.rate?.(values) ?? 1,
      prepare: (geometry, rest) => options.prepare?.(values, geometry, rest),
    });
  };
}

/** Uniforms of one motion: objects that were passed in, or new ones. */
function uniformsOf(
  initial: MotionValues,
  settings: Readonly<Record<string, unknown>>,
  name: string,
): Record<string, { value: MotionValue }> {
  for (const key in settings) {
    if (Object.hasOwn(initial, key)) continue;
    throw new Error(`${name}: no uniform "${key}"; there are ${Object.keys(initial).join(', ') || 'none'}.`);
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

function checkMaxOffset(maxOffset: number, name: string, caller: string): void {
  if (maxOffset >= 0 && maxOffset < Infinity) return;
  throw new Error(
    `${caller}: maxOffset of "${name}" is ${maxOffset}; say by how many units it moves a vertex at most, a finite number from 0.`,
  );
}
