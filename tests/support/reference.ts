import { Box3, Matrix4, type Object3D, Vector3 } from 'three';
import { drawnMeshes, Reference } from '../../demos/lib/Reference.js';
import { type CrowdMesh, getVertexPosition } from './library.js';

export { drawnMeshes, Reference } from '../../demos/lib/Reference.js';

/** A box around what three.js has posed. */
export function boundsOf(reference: Reference): Box3 {
  const box = new Box3();
  reference.forEachVertex((_, position) => box.expandByPoint(position));
  return box;
}

/** Height of the character in its rest pose under an identity matrix, by which errors are measured. */
export function characterHeight(root: Object3D): number {
  const reference = new Reference(root, new Matrix4());
  reference.root.updateMatrixWorld(true);
  const size = boundsOf(reference).getSize(new Vector3());
  return Math.max(size.x, size.y, size.z);
}

/** How far a vertex is from where it is on what three.js has posed, at most. */
export function farthestVertex(
  posed: Object3D,
  where: (vertex: number, target: Vector3) => Vector3,
  step = 1,
): number {
  let worst = 0;
  const expected = new Vector3();
  const actual = new Vector3();
  let first = 0;
  for (const mesh of drawnMeshes(posed)) {
    const { count } = mesh.geometry.getAttribute('position');
    for (let vertex = 0; vertex < count; vertex += step) {
      mesh.getVertexPosition(vertex, expected).applyMatrix4(mesh.matrixWorld);
      const off = where(first + vertex, actual).distanceTo(expected);
      // Not with Math.max: NaN is worse than any number.
      if (!(off <= worst)) worst = off;
    }
    first += count;
  }
  return worst;
}

/** How far a vertex of an instance is from where three.js has it, at most. */
export const offFrom = (posed: Object3D, crowd: CrowdMesh, index = 0): number =>
  farthestVertex(posed, (vertex, target) => getVertexPosition(crowd, index, vertex, target));
