import {
  dot,
  Fn,
  normalGeometry,
  normalLocal,
  positionGeometry,
  positionLocal,
  positionPrevious,
  tangentLocal,
  vec3,
  vec4,
} from 'three/tsl';
import type { Node, NodeBuilder } from 'three/webgpu';
import type { ShaderVariant } from '../../../shaders/ShaderVariant.js';
import { buildOf, type Rows } from '../../../shaders/tsl.js';
import { type DrawnCrowd, isCrowd } from '../DrawnCrowd.js';
import { instanceNode, type PartNode, partNode, variantFor } from './crowdNodes.js';
import { motionBuild } from './motionNodes.js';
import { nodeSourceOf } from './nodeSources.js';

/** Poses position, normal and tangent of the vertex, in the place of three.js's skinning. */
export function poseCrowd(
  crowd: DrawnCrowd,
  builder: NodeBuilder,
  variant: ShaderVariant,
  part: PartNode,
): void {
  const build = buildOf(builder);
  const skin = Fn(() => {
    const instance = instanceNode(crowd, builder);
    const vertex = { crowd, build, variant, instance, part, morph: true };
    const { rows, previous } = nodeSourceOf(crowd).skinningMatrix(vertex);

    const motion = motionBuild(crowd, builder, variant);
    const apply = (matrix: Rows, vector: Node<'vec4'>, by?: readonly [Node<'vec3'>, Node<'vec3'>]) =>
      by === undefined ? transform(matrix, vector) : transform(matrix, vector.add(vec4(by[0], 0))).add(by[1]);

    if (build.needsPreviousData()) {
      const then = previous?.() ?? rows;
      const moved = motion?.move(then, true);
      positionPrevious.assign(apply(then, vec4(positionLocal, 1), moved?.shift));
    }
    const moved = motion?.move(rows, false);
    positionLocal.assign(apply(rows, vec4(positionLocal, 1), moved?.shift));
    if (build.hasGeometryAttribute('normal')) {
      normalLocal.assign(apply(rows, vec4(normalLocal, 0), moved?.turn));
    }
    if (build.hasGeometryAttribute('tangent')) tangentLocal.assign(transform(rows, vec4(tangentLocal, 0)));
  }, 'void');
  skin();
}

/** Builds on what is being built: the crowd's own nodes, or `otherwise` for any other object. */
function forCrowd(vector: Node<'vec4'>, otherwise: Node<'vec3'>): Node<'vec3'> {
  const skinned = Fn((builder: NodeBuilder) => {
    const build = buildOf(builder);
    const { object: crowd, material } = build;
    if (!isCrowd(crowd)) return otherwise;
    const variant = variantFor(material, crowd);
    const part = partNode(crowd, variant, builder);
    const instance = instanceNode(crowd, builder);
    const vertex = { crowd, build, variant, instance, part, morph: false };
    return transform(nodeSourceOf(crowd).skinningMatrix(vertex).rows, vector);
  });
  return skinned();
}

/**
 * TSL building block: the geometry's position as the instance's pose has it, before the instance matrix, in whatever
 * node of the vertex stage asks for it. On other objects than crowds it is `positionGeometry`.
 *
 * ```ts
 * const material = new MeshBasicNodeMaterial();
 * // stripes that stick to the posed body, not to the world
 * material.colorNode = varying(skinnedInstancePosition()).y.mul(20).fract();
 * ```
 */
export function skinnedInstancePosition(): Node<'vec3'> {
  return forCrowd(vec4(positionGeometry, 1), positionGeometry);
}

/** TSL building block: the geometry's normal as the instance's pose has it, before the instance matrix; not normalised. */
export function skinnedInstanceNormal(): Node<'vec3'> {
  return forCrowd(vec4(normalGeometry, 0), normalGeometry);
}

function transform([row0, row1, row2]: Rows, vector: Node<'vec4'>): Node<'vec3'> {
  return vec3(dot(row0, vector), dot(row1, vector), dot(row2, vector));
}
