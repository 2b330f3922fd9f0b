import type { DataTexture } from 'three';
import { type BufferAttribute, Quaternion, Vector3 } from 'three';
import type { Precision } from '../animation/BoneTextureData.js';
import { expandByClips } from '../animation/jointBoxes.js';
import { createPoseMix } from '../animation/PoseMix.js';
import type { PosedCrowd, PoseSource } from '../animation/PoseSource.js';
import { PARAM_MORPH_TEXEL, PARAM_ROWS, PARAM_STRIDE } from '../constants.js';
import type { VertexReader } from './VertexReader.js';
import type { VertexTextureData } from './VertexTextureData.js';

/** The vertex texture of a crowd that it poses: no other has its name. */
export const verticesOf = ({ boneTexture }: Pick<PosedCrowd, 'boneTexture'>) =>
  boneTexture as unknown as {
    readonly vertexData: VertexTextureData;
    readonly vertexTexels: DataTexture;
    readonly vertexReader: VertexReader;
  };

const _pose = /*@__PURE__*/ createPoseMix();
const _turned = /*@__PURE__*/ new Vector3();
const _normal = /*@__PURE__*/ new Vector3();
const _way = /*@__PURE__*/ new Vector3();
const _turn = /*@__PURE__*/ new Quaternion();

/** Adds what an instance shows of a vertex, a frame at a time. */
function mix(crowd: PosedCrowd, vertex: number, read: 'addPosition' | 'addNormal', target: Vector3): Vector3 {
  const { vertexReader: reader } = verticesOf(crowd);
  const joints = crowd.geometry.getAttribute('skinIndex');
  const number = joints.getY(vertex) + joints.getZ(vertex) * 65536 - 1;
  target.set(0, 0, 0);
  for (let i = 0; i < _pose.count; i++) {
    const { frame0, frame1, alpha, weight } = _pose.clips[i];
    reader[read](frame0, number, weight * (1 - alpha), target);
    if (alpha > 0) reader[read](frame1, number, weight * alpha, target);
  }
  return target;
}

/**
 * Poses a position near a vertex, or the vertex itself: by the turn that normals make, as `posingMatrix` in the shaders.
 */
function posePosition(crowd: PosedCrowd, vertex: number, target: Vector3): Vector3 {
  const { position, normal } = crowd.geometry.attributes;
  _way
    .fromBufferAttribute(position as BufferAttribute, vertex)
    .sub(target)
    .negate();
  if (verticesOf(crowd).vertexData.normals && normal !== undefined && _way.lengthSq() > 0) {
    _normal.fromBufferAttribute(normal as BufferAttribute, vertex).normalize();
    mix(crowd, vertex, 'addNormal', _turned).normalize();
    _way.applyQuaternion(_turn.setFromUnitVectors(_normal, _turned));
  }
  return mix(crowd, vertex, 'addPosition', target).add(_way);
}

/** Name of the source that poses crowds by vertex textures of a precision. */
export const vertexSourceName = (precision: Precision): string => `vertices ${precision}`;

/** Vertices that were baked frame by frame: each reads and mixes its own. */
const vertexSource = (precision: Precision): PoseSource => ({
  name: vertexSourceName(precision),
  hasFrames: true,
  setParameters({ boneTexture }, parameters) {
    const { layout } = boneTexture;
    parameters[PARAM_ROWS] = layout.height;
    parameters[PARAM_STRIDE] = layout.stride;
    parameters[PARAM_MORPH_TEXEL] = Math.log2(verticesOf({ boneTexture }).vertexData.width);
  },

  pose({ playback, interpolate }, instance) {
    playback.pose(instance, interpolate, _pose);
  },
  posedVertex: posePosition,
  posedNormal(crowd, vertex, target) {
    if (!verticesOf(crowd).vertexData.normals) return target;
    return target.copy(mix(crowd, vertex, 'addNormal', _turned));
  },
  expandBounds({ boneTexture: { data } }, target) {
    expandByClips(target, data);
  },
});

/** What poses crowds by vertex textures of a precision. */
export const VERTEX_SOURCES = {
  half: /*@__PURE__*/ vertexSource('half'),
  float: /*@__PURE__*/ vertexSource('float'),
};
