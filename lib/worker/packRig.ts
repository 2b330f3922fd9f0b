import { type Bone, Euler, Object3D, type SkinnedMesh, Vector3 } from 'three';
import type { Rig, RigPart } from '../animation/Rig.js';

/** A rig as plain data, which a worker can be sent. */
export type SentRig = Omit<Rig, 'nodes'> & { nodes: ReturnType<typeof packNode>[] };

type WithPivot = Object3D & { pivot?: Vector3 | null };

export const packRig = ({ nodes, parts, ...rig }: Rig): SentRig => ({
  ...rig,
  nodes: nodes.map((node) => packNode(node, nodes)),
  parts: parts.map(
    ({ node, joints, mirrorJoints, rigid, model, morphOffset, morphCount, morphIndices }): RigPart => {
      return { node, joints, mirrorJoints, rigid, model, morphOffset, morphCount, morphIndices };
    },
  ),
});

function packNode(node: Object3D, nodes: Object3D[]) {
  const { name, uuid, type, matrixAutoUpdate, position, quaternion, scale, rotation, matrix } = node;
  const { x, y, z, order } = rotation;
  return {
    own: { name, uuid, type, matrixAutoUpdate },
    position: position.toArray(),
    quaternion: quaternion.toArray(),
    scale: scale.toArray(),
    rotation: [x, y, z, order] as const,
    matrix: matrix.toArray(),
    pivot: (node as WithPivot).pivot?.toArray(),
    bones: (node as Partial<SkinnedMesh>).skeleton?.bones.map((bone) => nodes.indexOf(bone)),
  };
}

/** The rig that `packRig` has packed, with nodes as in the scene that it is from. */
export function unpackRig({ nodes: sent, ...rig }: SentRig): Rig {
  const nodes = sent.map(({ own, position, quaternion, scale, rotation, matrix, pivot }) => {
    const node: WithPivot = Object.assign(new Object3D(), own);
    node.position.fromArray(position);
    node.quaternion.fromArray(quaternion);
    // The node's own would compute the quaternion anew.
    Object.defineProperty(node, 'rotation', { value: new Euler(...rotation) });
    node.scale.fromArray(scale);
    node.matrix.fromArray(matrix);
    if (pivot) node.pivot = new Vector3().fromArray(pivot);
    return node;
  });
  sent.forEach(({ bones }, i) => {
    if (bones) Object.assign(nodes[i], { skeleton: { bones: bones.map((bone) => nodes[bone] as Bone) } });
  });
  return { ...rig, nodes };
}
