import { Box3, Matrix4, type Object3D, Vector3 } from 'three';
import { Reference } from '../../demos/lib/Reference.js';

export { drawnMeshes, Reference } from '../../demos/lib/Reference.js';

/** Height of the character in its rest pose under an identity matrix, by which errors are measured. */
export function characterHeight(root: Object3D): number {
  const reference = new Reference(root, new Matrix4());
  reference.root.updateMatrixWorld(true);
  const box = new Box3();
  reference.forEachVertex((_, position) => box.expandByPoint(position));
  const size = box.getSize(new Vector3());
  return Math.max(size.x, size.y, size.z);
}
