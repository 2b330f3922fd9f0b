import {
  type BufferGeometry,
  Group,
  Int16BufferAttribute,
  Matrix4,
  type Mesh,
  type Object3D,
  type SkinnedMesh,
  Vector3,
} from 'three';
import { type NumberArray, shareAttribute } from '../../lib/utils/geometries.js';

/** Writes normals as bytes, weights too, and uvs as 16-bit numbers, as compressed files have them. */
export function quantise(geometry: BufferGeometry): void {
  const kinds: Record<string, NumberArray> = { normal: Int8Array, uv: Uint16Array, skinWeight: Uint8Array };
  for (const [name, Shares] of Object.entries(kinds)) {
    const source = geometry.getAttribute(name);
    if (source === undefined || source.normalized) continue;
    const shares = shareAttribute(Shares, source.count, source.itemSize);
    for (let i = 0; i < source.count; i++) {
      let rest = 1;
      for (let k = source.itemSize - 1; k >= 0; k--) {
        const value = source.getComponent(i, k);
        // Weights are in order, and add up to one.
        const share = name !== 'skinWeight' ? value : k === 0 ? rest : Math.floor(value * 255) / 255;
        shares.setComponent(i, k, share);
        rest -= share;
      }
    }
    geometry.setAttribute(name, shares);
  }
}

/**
 * Writes positions as 16-bit numbers in a box of each mesh's own, as glTF-Transform's `quantize` does: inverse bind matrices move those of
 * skins back, and a node those of rigid meshes.
 */
export function quantisePositions(root: Object3D): void {
  for (const mesh of root.getObjectsByProperty('isMesh', true) as Mesh[]) {
    const geometry = mesh.geometry.clone();
    mesh.geometry = geometry;
    geometry.computeBoundingBox();
    const center = new Vector3();
    const { x, y, z } = geometry.boundingBox!.getSize(new Vector3());
    geometry.boundingBox!.getCenter(center);
    const half = Math.max(x, y, z) / 2;
    const place = new Matrix4().makeScale(half, half, half).setPosition(center);
    const floats = geometry.getAttribute('position').clone().applyMatrix4(place.clone().invert());
    const shorts = new Int16BufferAttribute(new Int16Array(floats.count * 3), 3, true);
    for (let i = 0; i < floats.count; i++) shorts.setXYZ(i, floats.getX(i), floats.getY(i), floats.getZ(i));
    geometry.setAttribute('position', shorts);
    const { skeleton } = mesh as SkinnedMesh;
    if (skeleton !== undefined) {
      const own = skeleton.clone();
      own.boneInverses = own.boneInverses.map((inverse) => inverse.clone().multiply(place));
      (mesh as SkinnedMesh).skeleton = own;
      continue;
    }
    const node = new Group();
    node.applyMatrix4(mesh.matrix);
    mesh.parent?.add(node);
    node.add(mesh, ...mesh.children);
    mesh.position.copy(center);
    mesh.scale.setScalar(half);
    mesh.quaternion.identity();
  }
  root.updateMatrixWorld(true);
}
