import { dot, normalGeometry, positionGeometry, vec3, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import type { Rows } from '../../../shaders/tsl.js';
import type { PosedNodes } from './NodeSource.js';

/** Twin of `posedPosition` in GLSL: poses a position at the vertex or beside it. */
export const posedPosition = ({ rows, normal }: PosedNodes, position: Node<'vec3'>): Node<'vec3'> =>
  transform(rows, vec4(normal === undefined ? position : position.sub(positionGeometry), 1));

/** Twin of `posedNormal` in GLSL. */
export const posedNormal = ({ rows, normal }: PosedNodes, direction: Node<'vec3'>): Node<'vec3'> =>
  normal === undefined
    ? posedDirection(rows, direction)
    : posedDirection(rows, direction.sub(normalGeometry)).add(normal);

/** Turns a direction at the vertex as the matrix says. */
export const posedDirection = (rows: Rows, direction: Node<'vec3'>): Node<'vec3'> =>
  transform(rows, vec4(direction, 0));

const transform = ([row0, row1, row2]: Rows, vector: Node<'vec4'>): Node<'vec3'> =>
  vec3(dot(row0, vector), dot(row1, vector), dot(row2, vector));
