import type { Object3D } from 'three';
import {
  dot,
  Fn,
  normalGeometry,
  normalLocal,
  OnObjectUpdate,
  positionGeometry,
  positionLocal,
  positionPrevious,
  tangentLocal,
  vec3,
  vec4,
} from 'three/tsl';
import type { Node, NodeBuilder } from 'three/webgpu';
import { morphTargets } from '../../../shaders/morphTargets.tsl.js';
import type { ShaderVariant } from '../../../shaders/ShaderVariant.js';
import { skinningMatrix } from '../../../shaders/skinningMatrix.tsl.js';
import { buildOf, type Rows } from '../../../shaders/tsl.js';
import { type DrawnCrowd, isCrowd } from '../DrawnCrowd.js';
import { crowdNodes, type PartNode, partNode, variantFor } from './crowdNodes.js';
import { posedMatrix } from './posedMatrix.js';

/** Poses position, normal and tangent of the vertex, in the place of three.js's skinning. */
export function poseCrowd(
  crowd: DrawnCrowd,
  builder: NodeBuilder,
  variant: ShaderVariant,
  part: PartNode,
): void {
  const build = buildOf(builder);
  if (variant.encoding === 'tracks') {
    posePosed(crowd, builder, variant, part);
    return;
  }
  const skin = Fn(() => {
    const { boneTexture, playback, draw, previous } = crowdNodes(crowd, part);

    // Morph targets that clips move, on top of those that three.js has applied.
    const morphs = variant.morphs ? morphTargets(crowd.geometry) : null;
    if (morphs !== null) {
      OnObjectUpdate(({ object }: { object: Object3D | null }) => {
        if (isCrowd(object)) morphs.value.value = morphs.textureOf(object.geometry);
      });
    }
    const rows = skinningMatrix(boneTexture, playback, draw, variant, morphs?.add);

    if (build.needsPreviousData()) {
      // From the morphed position: three.js keeps no weights of the frame before.
      const before = skinningMatrix(boneTexture, playback, previous, variant);
      positionPrevious.assign(transform(before, vec4(positionLocal, 1)));
    }
    positionLocal.assign(transform(rows, vec4(positionLocal, 1)));
    if (build.hasGeometryAttribute('normal')) normalLocal.assign(transform(rows, vec4(normalLocal, 0)));
    if (build.hasGeometryAttribute('tangent')) tangentLocal.assign(transform(rows, vec4(tangentLocal, 0)));
  }, 'void');
  skin();
}

/** The same for a crowd that a pass of its own has posed. */
function posePosed(crowd: DrawnCrowd, builder: NodeBuilder, variant: ShaderVariant, part: PartNode): void {
  const build = buildOf(builder);
  const skin = Fn(() => {
    const rows = posedMatrix(crowd, builder, variant, part);
    // Poses of the frame before are not kept: motion vectors know the instances' own movement only.
    if (build.needsPreviousData()) positionPrevious.assign(transform(rows, vec4(positionLocal, 1)));
    positionLocal.assign(transform(rows, vec4(positionLocal, 1)));
    if (build.hasGeometryAttribute('normal')) normalLocal.assign(transform(rows, vec4(normalLocal, 0)));
    if (build.hasGeometryAttribute('tangent')) tangentLocal.assign(transform(rows, vec4(tangentLocal, 0)));
  }, 'void');
  skin();
}

/** Builds on what is being built: the crowd's own nodes, or `otherwise` for any other object. */
function forCrowd(vector: Node<'vec4'>, otherwise: Node<'vec3'>): Node<'vec3'> {
  const skinned = Fn((builder: NodeBuilder) => {
    const { object, material } = buildOf(builder);
    if (!isCrowd(object)) return otherwise;
    const variant = variantFor(material, object);
    if (variant.encoding === 'tracks') {
      const part = partNode(object, variant);
      return transform(posedMatrix(object, builder, variant, part), vector);
    }
    const { boneTexture, playback, draw } = crowdNodes(object, partNode(object, variant));
    return transform(skinningMatrix(boneTexture, playback, draw, variant), vector);
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
