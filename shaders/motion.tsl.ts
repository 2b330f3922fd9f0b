import type { Color, Vector2, Vector3, Vector4 } from 'three';
import type { Node } from 'three/webgpu';

/** What a uniform of a motion is as a node. */
export type MotionUniformNode<T> = T extends number
  ? Node<'float'>
  : T extends Vector2
    ? Node<'vec2'>
    : T extends Vector4
      ? Node<'vec4'>
      : T extends Vector3 | Color
        ? Node<'vec3'>
        : never;

/** A matrix whose columns may be asked for, which the types of three.js have left out. */
export type MatrixNode = Node<'mat4'> & Columns;

/** What a matrix has for its columns. */
export interface Columns {
  /** A column. */
  element(column: number): Node<'vec4'>;
}

/** What a motion is told of a vertex in node materials. Nodes that are not asked for cost nothing. */
export interface MotionNodes<U> {
  /** Where the vertex is: as it was modelled, or, after skinning, as it is posed, in the instance's own space. */
  readonly position: Node<'vec3'>;
  /** After skinning it is not normalised. */
  readonly normal: Node<'vec3'>;
  /** The vertex colour; zero where the geometry has none. */
  readonly color: Node<'vec4'>;
  /** Seconds on the crowd's clock; for a motion with a `rate`, as much time as passed for it. */
  readonly time: Node<'float'>;
  /** A number of the instance's own, at least 0 and below 1. */
  readonly random: Node<'float'>;
  /** Its id. */
  readonly instance: Node<'int'>;
  /** Where the instance stands in the crowd. */
  readonly instanceMatrix: MatrixNode;
  /** Where the crowd stands in the world. */
  readonly modelMatrix: MatrixNode;
  /** Where the instance stands in the world. */
  readonly worldMatrix: MatrixNode;
  /** From the world to the space of the camera. */
  readonly viewMatrix: MatrixNode;
  /** An attribute of the geometry, of three numbers. */
  attribute(name: string): Node<'vec3'>;
  /** The uniforms as nodes. */
  readonly uniforms: { readonly [K in keyof U]: MotionUniformNode<U[K]> };
  /** For motions that shall not import three/tsl: its function of that name. */
  vec3(x: Node<'float'> | number, y: Node<'float'> | number, z: Node<'float'> | number): Node<'vec3'>;
}

/** Where a motion moves a vertex to, and its normal if that turns too. */
export type MovedNodes = Node<'vec3'> | TurnedNodes;

/** Where a motion moves a vertex and its normal to. */
export interface TurnedNodes {
  /** The place. */
  position: Node<'vec3'>;
  /** Need not be of length 1. */
  normal: Node<'vec3'>;
}

/** A motion in node materials; `never` stands for the uniforms of any motion. */
export type MotionTSL = (vertex: MotionNodes<never>) => MovedNodes;
