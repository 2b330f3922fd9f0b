import { Object3D, type SkinnedMesh, type Vector3 } from 'three';
import type { Rig } from '../animation/Rig.js';

type Nodes = Pick<Rig, 'nodes' | 'parents'>;

/** The root and all nodes under it. */
export function nodesOf(root: Object3D): Nodes {
  const nodes: Object3D[] = [];
  root.traverse((node) => nodes.push(node));
  const parents = Int32Array.from(nodes, (node, i) =>
    i === 0 ? -1 : nodes.indexOf(node.parent as Object3D),
  );
  root = nodes[0];
  // What moves a root cannot be told from how it stands if it is hidden by a scale of 0.
  const [x, y, z] = root.scale;
  const isInvertible =
    Math.abs(x * y * z * root.quaternion.length()) > 0 && root.position.length() < Infinity;
  if (!isInvertible) nodes[0] = Object.assign(new Object3D(), { name: root.name, uuid: root.uuid });
  return { nodes, parents };
}

/** Puts a node where another stands. */
export function placeAs(node: Object3D, { position, quaternion, scale }: Object3D): void {
  node.position.copy(position);
  node.quaternion.copy(quaternion);
  node.scale.copy(scale);
}

/** A copy of a node, with its bones if that is a skinned mesh. */
export interface NodeCopy extends Object3D {
  skeleton?: { bones: (NodeCopy | undefined)[]; getBoneByName(name: string): NodeCopy | undefined };
}

/**
 * A scene of the nodes alone, for clips to move. Their `matrixWorld` is relative to the root at rest: the first node hangs on one that
 * takes its own transform back.
 */
export function copyNodes({ nodes, parents }: Nodes): NodeCopy[] {
  const copies = nodes.map((): NodeCopy => new Object3D());
  nodes.forEach((node, i) => {
    const copy = copies[i];
    // Types of three.js have no pivots.
    const { name, uuid, pivot } = node as Object3D & { pivot: Vector3 | null };
    Object.assign(copy, { name, uuid, pivot });
    copy.rotation.order = node.rotation.order;
    placeAs(copy, node);
    copy.updateMatrix();
    copy.matrixAutoUpdate = node.matrixAutoUpdate;
    if (i > 0) copies[parents[i]].add(copy);
    if (i > 0 && !node.matrixAutoUpdate) copy.matrix.copy(node.matrix);
    const { skeleton } = node as Partial<SkinnedMesh>;
    if (!skeleton) return;
    const bones = skeleton.bones.map((bone) => copies[nodes.indexOf(bone)] as NodeCopy | undefined);
    const getBoneByName = (wanted: string) => bones.find((bone) => bone?.name === wanted);
    copy.skeleton = { bones, getBoneByName };
  });
  const outside = new Object3D().add(copies[0]);
  outside.matrixAutoUpdate = false;
  outside.matrix.copy(copies[0].matrix).invert();
  outside.updateMatrixWorld(true);
  return copies;
}

/** Nodes and everything above them in the hierarchy. @param parents Number of each node's parent, -1 for the root. */
export function nodesAbove(parents: ArrayLike<number>, below: Iterable<number>): Set<number> {
  const found = new Set<number>();
  for (const start of below)
    for (let node = start; node !== -1 && !found.has(node); node = parents[node]) found.add(node);
  return found;
}
