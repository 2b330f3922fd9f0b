import type { BufferGeometry, Matrix4 } from 'three';
import { Float32BufferAttribute, Matrix4 as Matrix, Uint16BufferAttribute } from 'three';
import { affineToMatrix4 } from '../utils/affine.js';

const _bind = /*@__PURE__*/ new Matrix();

/**
 * A copy of a geometry, all of whose vertices follow one joint.
 *
 * @param bind See `BoneTexture.socket`.
 * @param offset Where the geometry is in the joint's own space.
 */
export function bindToJoint(
  source: BufferGeometry,
  joint: number,
  bind: readonly number[],
  offset: Matrix4,
): BufferGeometry {
  const geometry = source.clone().applyMatrix4(affineToMatrix4(bind, 0, _bind).multiply(offset));
  const { count } = geometry.getAttribute('position');
  const indices = new Uint16Array(count * 4);
  const weights = new Float32Array(count * 4);
  for (let vertex = 0; vertex < count; vertex++) {
    indices[vertex * 4] = joint;
    weights[vertex * 4] = 1;
  }
  geometry.setAttribute('skinIndex', new Uint16BufferAttribute(indices, 4));
  geometry.setAttribute('skinWeight', new Float32BufferAttribute(weights, 4));
  geometry.deleteAttribute('partIndex');
  return geometry;
}
