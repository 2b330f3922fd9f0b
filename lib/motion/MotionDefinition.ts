import type { Box3, BufferGeometry, Color, Matrix4, Vector2, Vector3, Vector4 } from 'three';
import type { MotionStage } from '../../shaders/MotionProgram.js';
import type { MotionNodes, MotionTSL, MovedNodes } from '../../shaders/motion.tsl.js';
import type { UniformType } from '../instances/UniformLayout.js';

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
  reach: number | ((values: U) => number);
  /** How fast time passes for it: 2 for twice as fast. It may differ from frame to frame, and nothing jumps. @default 1 */
  rate?: (values: U) => number;
  /**
   * After how much time everything repeats: it goes back to zero then, so that shaders have a number of few digits. Without it,
   * time is exact to a hundredth of a second after a day.
   */
  period?: number;
  /**
   * Is called before uniforms are read, for a draw, for rays or by `reach`, and may change some: to derive them from others.
   *
   * @param geometry That of the crowd that the motion was assigned to.
   * @param rest The box of its rest pose, in the instance's space. Of what is attached to a joint it is that of the geometry. Do not
   * change it.
   */
  prepare?(values: { [K in keyof U]: U[K] }, geometry: BufferGeometry, rest: Box3): void;
  /** Uniforms that `prepare`, or the maker of a ready-made motion, derives: messages do not list them. @internal */
  derived?: readonly (keyof U)[];
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
  /** The same for rays and `getVertexPositionAt`, which otherwise find vertices where they are without the motion. */
  cpu?(vertex: MotionVertex<U>): void;
}

/** The same with nothing left out, for motions of any uniforms. */
export interface MotionDefinition {
  readonly name: string;
  readonly stage: MotionStage;
  readonly types: readonly (readonly [name: string, type: UniformType])[];
  readonly period: number;
  readonly glsl: string;
  readonly functions: string;
  readonly tsl: MotionTSL | undefined;
  readonly cpu: ((vertex: MotionVertex<never>) => void) | undefined;
}
