import type { BufferAttribute, BufferGeometry, DataTexture, InterleavedBufferAttribute } from 'three';
import { Vector3 } from 'three';
import { SKIN_STRIDE, SKIN_WEIGHT } from '../character/crowdGeometry.js';
import { AFFINE_SIZE } from '../constants.js';
import type { PoseMix } from '../poses/PoseMix.js';
import type { BoneTexture } from '../texture/BoneTexture.js';

const _joint = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);
const _morph = /*@__PURE__*/ new Vector3();
const _skinned = /*@__PURE__*/ new Float64Array(3);

/**
 * Position of a vertex in a pose, relative to the character's root: the CPU twin of `shaders/skinVertex.glsl.ts`.
 *
 * @param geometry A crowd geometry, whose weights are sorted and end at the first zero.
 */
export function skinVertex(
  geometry: BufferGeometry,
  boneTexture: BoneTexture,
  pose: PoseMix,
  influences: number,
  vertex: number,
  target: Vector3,
): Vector3 {
  const skin = (geometry.getAttribute('skinIndex') as InterleavedBufferAttribute).data.array;
  const at = vertex * SKIN_STRIDE;
  const { x, y, z } = target;
  _skinned.fill(0);

  for (let i = 0; i < influences; i++) {
    const weight = skin[at + SKIN_WEIGHT + i];
    if (weight <= 0) break;
    boneTexture.readPose(pose, skin[at + i], _joint);
    for (let row = 0; row < 3; row++) {
      const m = row * 4;
      _skinned[row] += weight * (_joint[m] * x + _joint[m + 1] * y + _joint[m + 2] * z + _joint[m + 3]);
    }
  }

  return target.fromArray(_skinned);
}

/**
 * Position of a vertex before skinning, with morph targets: by the instance's own influences, or if it has none by
 * `influences`, and what its clips add to them.
 *
 * @param added See `BoneTexture.readMorphs`; may be empty.
 */
export function morphVertex(
  geometry: BufferGeometry,
  morphTexture: DataTexture | null,
  influences: readonly number[],
  added: ArrayLike<number>,
  index: number,
  vertex: number,
  target: Vector3,
): Vector3 {
  target.fromBufferAttribute(geometry.getAttribute('position') as BufferAttribute, vertex);
  const morphs = geometry.morphAttributes.position;
  if (!morphs) return target;

  const own = morphTexture?.image.data as Float32Array | undefined;
  const at = index * (morphTexture?.image.width ?? 0) + 1;
  for (let i = 0; i < morphs.length; i++) {
    const weight = (own === undefined ? influences[i] : own[at + i]) + (i < added.length ? added[i] : 0);
    if (weight !== 0)
      target.addScaledVector(_morph.fromBufferAttribute(morphs[i] as BufferAttribute, vertex), weight);
  }
  return target;
}
