import type { BufferAttribute, BufferGeometry, DataTexture } from 'three';
import { Vector3 } from 'three';

const _morph = /*@__PURE__*/ new Vector3();

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
