import { dot, normalGeometry, positionGeometry, vec3, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import type { FollowJoints } from '../../../shaders/palette.tsl.js';
import type { ShaderVariant } from '../../../shaders/ShaderVariant.js';
import type { Build, Rows } from '../../../shaders/tsl.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import type { PosedNodes } from './featureNodes.js';
import type { WebGPUPoses } from './WebGPUPoses.js';

/** How a pose source poses vertices in node materials: the twin of its `glsl`. */
export interface NodeSource {
  /** The name of the `PoseSource`. */
  readonly name: string;
  /** What a pass poses of a crowd before it is drawn. Its matrices can place the instance too. */
  posesOf?(renderer: object, crowd: DrawnCrowd): WebGPUPoses;
  /** Builds on the current stack. */
  skinningMatrix(vertex: {
    /** The crowd that is built for. Others may share the build: what is theirs must be asked for at each draw. */
    crowd: DrawnCrowd;
    build: Build;
    variant: ShaderVariant;
    follow: FollowJoints;
    /** The instance that is drawn. */
    instance: Node<'int'>;
    /** Gives a matrix for vertices of parts that are not hidden, see `shownRows`. */
    shown(rows: () => Rows): Rows;
    /** Whether `influence` will be asked for. */
    morph: boolean;
    /** Whether matrices shall place the instance too, where they can. */
    placed: boolean;
  }): PosedNodes & {
    /** What clips add to the influence of a morph target; null for nothing. Builds on the current stack. */
    influence?: ((target: Node<'int'>) => Node<'float'>) | null;
    /** Null if that is not known. Builds on the current stack. */
    previous: (() => PosedNodes) | null;
    /** Rows of the inverse of the instance's matrix, of a source with a pass. Builds on the current stack. */
    unplacing?: () => Rows;
  };
}

/** Twin of `posedPosition` in GLSL: poses a position at the vertex or beside it. */
export const posedPosition = ({ rows, normal }: PosedNodes, position: Node<'vec3'>): Node<'vec3'> =>
  transform(rows, vec4(normal === undefined ? position : position.sub(positionGeometry), 1));

/** Twin of `posedNormal` in GLSL. */
export const posedNormal = ({ rows, normal }: PosedNodes, direction: Node<'vec3'>): Node<'vec3'> =>
  normal === undefined
    ? posedDirection(rows, direction)
    : posedDirection(rows, direction.sub(normalGeometry)).add(normal);

/** Where an instance may be scaled unevenly, a placed normal is turned as three.js does it, by the inverse's transpose. */
export function unevenNormal(unplacing: Rows, normal: Node<'vec3'>): Node<'vec3'> {
  const { x, y, z } = posedDirection(unplacing, normal).toVar();
  return unplacing[0].xyz.mul(x).add(unplacing[1].xyz.mul(y)).add(unplacing[2].xyz.mul(z));
}

/** Turns a direction at the vertex as the matrix says. */
export const posedDirection = (rows: Rows, direction: Node<'vec3'>): Node<'vec3'> =>
  transform(rows, vec4(direction, 0));

const transform = ([row0, row1, row2]: Rows, vector: Node<'vec4'>): Node<'vec3'> =>
  vec3(dot(row0, vector), dot(row1, vector), dot(row2, vector));
