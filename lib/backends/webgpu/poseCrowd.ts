import {
  attribute,
  Fn,
  float,
  If,
  int,
  normalGeometry,
  normalLocal,
  positionGeometry,
  positionLocal,
  positionPrevious,
  tangentLocal,
} from 'three/tsl';
import type { Node, NodeBuilder } from 'three/webgpu';
import { type FollowJoints, followJoints, shownRows } from '../../../shaders/palette.tsl.js';
import type { ShaderVariant } from '../../../shaders/ShaderVariant.js';
import turnedNormalNodes from '../../../shaders/skinVertex.glsl.js?nodes=turnedNormalGLSL';
import { buildOf, onceABuild, type Rows } from '../../../shaders/tsl.js';
import { SHADING_COLUMN } from '../../constants.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { isCrowd } from '../../core/drawnCrowds.js';
import { instanceNode, morphVertex, partNode, variantFor } from './crowdNodes.js';
import { nodesOf, type PartNode, type PosedNodes } from './featureNodes.js';
import { posedDirection, posedNormal, posedPosition, unevenNormal } from './NodeSource.js';
import { nodeSourceOf } from './nodeSources.js';

/**
 * Poses position, normal and tangent of the vertex, in the place of three.js's skinning.
 *
 * @param placed Whether it also places them.
 */
export function poseCrowd(
  crowd: DrawnCrowd,
  builder: NodeBuilder,
  variant: ShaderVariant,
  part: PartNode,
  placed: boolean,
): void {
  const build = buildOf(builder);
  const skin = Fn(() => {
    const vertex = { ...vertexOf(crowd, builder, variant, part), morph: true, placed };
    const posed = nodeSourceOf(crowd).skinningMatrix(vertex);
    placing(crowd, builder).unplacing = posed.unplacing;
    if (crowd.morphTargetInfluences?.length) morphVertex(crowd, builder, posed.influence ?? null);

    const motion = variant.motion > 0 ? nodesOf('InstanceMotions') : null;
    const apply = (
      pose: typeof posedPosition,
      by: PosedNodes,
      vector: Node<'vec3'>,
      moved?: readonly [Node<'vec3'>, Node<'vec3'>],
    ) => (moved === undefined ? pose(by, vector) : pose(by, vector.add(moved[0])).add(moved[1]));

    if (build.needsPreviousData()) {
      const then = posed.previous?.() ?? posed;
      const moved = motion?.(crowd, builder, variant, then, true);
      positionPrevious.assign(apply(posedPosition, then, positionLocal, moved?.shift));
    }
    const moved = motion?.(crowd, builder, variant, posed, false);
    positionLocal.assign(apply(posedPosition, posed, positionLocal, moved?.shift));
    if (build.hasGeometryAttribute('normal')) {
      normalLocal.assign(apply(posedNormal, posed, normalLocal, moved?.turn));
      const turnUneven = () => {
        if (placed && isUneven(crowd))
          normalLocal.assign(unevenNormal(unplacingOf(crowd, builder), normalLocal));
      };
      if (build.hasGeometryAttribute(SHADING_COLUMN) && posed.normal === undefined) {
        const joint = int(attribute<'float'>(SHADING_COLUMN, 'float')).toVar();
        If(joint.greaterThan(0), () => {
          const follow: FollowJoints = (add) => add(joint.sub(1).toVar(), float(1));
          const own = { ...vertex, follow, morph: false };
          const [x, y, z] = nodeSourceOf(crowd).skinningMatrix(own).rows;
          const { turnedNormal } = turnedNormalNodes<{ turnedNormal(...of: Node<'vec3'>[]): Node<'vec3'> }>();
          normalLocal.assign(turnedNormal(x.xyz, y.xyz, z.xyz, normalLocal));
        }).Else(turnUneven);
      } else turnUneven();
    }
    if (build.hasGeometryAttribute('tangent')) tangentLocal.assign(posedDirection(posed.rows, tangentLocal));
  }, 'void');
  skin();
}

/** What pose sources are told of a vertex. Builds on the current stack. */
const vertexOf = (crowd: DrawnCrowd, builder: NodeBuilder, variant: ShaderVariant, part: PartNode) => ({
  crowd,
  build: buildOf(builder),
  variant,
  instance: instanceNode(crowd, builder),
  follow: followJoints(variant.influences),
  shown: (rows: () => Rows) => shownRows(variant, part, rows),
});

const placing = /*@__PURE__*/ onceABuild((): { unplacing?: () => Rows } => ({}));

/** The rows of the inverse of the instance's matrix, once vertices were placed as they were posed. Builds on the current stack. */
export const unplacingOf = (crowd: DrawnCrowd, builder: NodeBuilder): Rows =>
  (placing(crowd, builder).unplacing as () => Rows)();

/** Whether an instance may be scaled unevenly. */
export const isUneven = ({ views, crowd: { written } }: DrawnCrowd): boolean =>
  views.groups.uneven || written?.places === true;

/** Builds on what is being built: a vector as the crowd's pose has it, or as it is for any other object. */
function forCrowd(pose: typeof posedPosition, vector: Node<'vec3'>): Node<'vec3'> {
  const skinned = Fn((builder: NodeBuilder) => {
    const { object: crowd, material } = buildOf(builder);
    if (!isCrowd(crowd)) return vector;
    const variant = variantFor(material, crowd);
    const part = partNode(crowd, variant, builder);
    const vertex = { ...vertexOf(crowd, builder, variant, part), morph: false, placed: false };
    return pose(nodeSourceOf(crowd).skinningMatrix(vertex), vector);
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
 *
 * @category Dress and attach
 */
export function skinnedInstancePosition(): Node<'vec3'> {
  return forCrowd(posedPosition, positionGeometry);
}

/**
 * TSL building block: the geometry's normal as the instance's pose has it, before the instance matrix; not normalised.
 *
 * @category Dress and attach
 */
export function skinnedInstanceNormal(): Node<'vec3'> {
  return forCrowd(posedNormal, normalGeometry);
}
