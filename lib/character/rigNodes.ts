import { Object3D, type SkinnedMesh, type Vector3 } from 'three';
import type { RigNode } from '../animation/Rig.js';

/** What tracks may name of a skinned mesh besides its own properties. */
interface WithBones {
  skeleton?: { bones: (Object3D | undefined)[]; getBoneByName(name: string): Object3D | undefined };
}

/** The root and all nodes under it, parents first, and their numbers. */
export function readNodes(root: Object3D): { nodes: RigNode[]; indexOf: Map<Object3D, number> } {
  const indexOf = new Map<Object3D, number>();
  root.traverse((node) => indexOf.set(node, indexOf.size));
  const nodes = Array.from(indexOf.keys(), (node): RigNode => {
    const { name, uuid, parent, position, quaternion, scale, rotation, matrix, matrixAutoUpdate } = node;
    // Only newer three.js has pivots.
    const { pivot } = node as { pivot?: Vector3 | null };
    const { skeleton } = node as Partial<SkinnedMesh>;
    return {
      name,
      uuid,
      parent: node === root ? -1 : (indexOf.get(parent as Object3D) as number),
      position: position.toArray(),
      quaternion: quaternion.toArray(),
      scale: scale.toArray(),
      rotation: [rotation.x, rotation.y, rotation.z, rotation.order],
      pivot: pivot?.toArray() ?? null,
      matrix: matrixAutoUpdate ? null : matrix.toArray(),
      bones: skeleton?.bones.map((bone) => indexOf.get(bone) ?? -1) ?? null,
    };
  });
  const [first] = nodes;
  // What moves a root cannot be told from how it stands if it is hidden by a scale of 0.
  const [x, y, z] = first.scale;
  const isInvertible =
    Math.abs(x * y * z * root.quaternion.length()) > 0 && first.position.every(Number.isFinite);
  if (!isInvertible)
    Object.assign(first, { position: [0, 0, 0], quaternion: [0, 0, 0, 1], scale: [1, 1, 1] });
  return { nodes, indexOf };
}

/**
 * A scene of the nodes alone, for clips to move. Their `matrixWorld` is relative to the root at rest: the first node hangs on one that
 * takes its own transform back.
 */
export function createNodes(nodes: readonly RigNode[]): Object3D[] {
  const objects = nodes.map(() => new Object3D());
  nodes.forEach(({ name, uuid, parent, position, quaternion, scale, rotation, pivot, matrix, bones }, i) => {
    const object = objects[i];
    Object.assign(object, { name, uuid });
    object.position.fromArray(position);
    object.rotation.order = rotation[3];
    object.quaternion.fromArray(quaternion);
    object.scale.fromArray(scale);
    if (pivot) Object.assign(object, { pivot: object.position.clone().fromArray(pivot) });
    object.updateMatrix();
    if (matrix) {
      object.matrixAutoUpdate = false;
      if (parent !== -1) object.matrix.fromArray(matrix);
    }
    if (bones) {
      const all = bones.map((bone) => objects[bone] as Object3D | undefined);
      const getBoneByName = (wanted: string) => all.find((bone) => bone?.name === wanted);
      (object as WithBones).skeleton = { bones: all, getBoneByName };
    }
    if (parent !== -1) objects[parent].add(object);
  });
  const [root] = objects;
  const outside = new Object3D().add(root);
  outside.matrixAutoUpdate = false;
  outside.matrix.copy(root.matrix).invert();
  outside.updateMatrixWorld(true);
  return objects;
}

/** A bone of a skinned mesh by its name or number, as tracks have it; undefined if there is none. */
export function boneOf(object: Object3D | undefined, bone: string): Object3D | undefined {
  const { skeleton } = (object ?? {}) as WithBones;
  return skeleton?.getBoneByName(bone) ?? skeleton?.bones[Number(bone)];
}

/** Nodes and everything above them in the hierarchy. @param parentOf The number of a node's parent, -1 for the root. */
export function nodesAbove(parentOf: (node: number) => number, below: Iterable<number>): Set<number> {
  const found = new Set<number>();
  for (const start of below)
    for (let node = start; node !== -1 && !found.has(node); node = parentOf(node)) found.add(node);
  return found;
}
