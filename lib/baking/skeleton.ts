import { Matrix4, type Object3D, type Vector3 } from 'three';
import type { PoseTracks } from '../animation/PoseTracks.js';
import { type Rig, STILL } from '../animation/Rig.js';
import { nodesAbove } from '../character/rigNodes.js';
import { AFFINE_SIZE } from '../constants.js';
import { affineOf } from '../utils/affine.js';
import type { RigPoser } from './RigPoser.js';

/** The nodes of a rig that joints hang on, as pose tracks have them. */
export interface Skeleton extends Omit<PoseTracks, 'keys' | 'shorts' | 'table' | 'clips'> {
  /** Index of each node of the rig among those of the skeleton; -1 for those that are left out. */
  place: Int32Array;
}

const NOT_FIXED = /*@__PURE__*/ Array.from({ length: AFFINE_SIZE }, () => Number.NaN);

/** @param morphs Whether clips move morph targets. */
export function skeletonOf({ rig, nodes: objects }: RigPoser, morphs: boolean): Skeleton {
  const { nodes, parents: above, jointNodes, jointInverses, morphRest } = rig;
  const names: string[] = [];
  const parents: number[] = [];
  const rest: number[] = [];
  const fixed: number[] = [];
  const add = (name: string, parent: number, trs: readonly number[], matrix: Matrix4 | null): number => {
    parents.push(parent);
    rest.push(...trs);
    fixed.push(...(matrix ? affineOf(matrix) : NOT_FIXED));
    return names.push(name) - 1;
  };
  const place = new Int32Array(nodes.length).fill(-1);
  // What hangs on a node, which differs for nodes that turn about a pivot.
  const ends = place.slice();
  const pivotOf = (node: number) =>
    nodes[node].matrixAutoUpdate ? (nodes[node] as { pivot?: Vector3 | null }).pivot : null;
  const needed = nodesAbove(above, jointNodes);
  nodes.forEach(({ name, position, quaternion, scale, matrixAutoUpdate }, node) => {
    if (!needed.has(node)) return;
    const trs = [...position, ...quaternion, ...scale];
    const parent = node === 0 ? -1 : ends[above[node]];
    const pivot = pivotOf(node);
    if (!pivot) {
      ends[node] = place[node] = add(name, parent, trs, matrixAutoUpdate ? null : objects[node].matrix);
      return;
    }
    // A node that turns about a pivot is one that turns about its origin between two that move everything there and back.
    const [x, y, z] = pivot;
    place[node] = add(name, add('', parent, STILL, new Matrix4().makeTranslation(x, y, z)), trs, null);
    ends[node] = add('', place[node], STILL, new Matrix4().makeTranslation(-x, -y, -z));
  });

  // A joint with a pivot ends before the node that moves everything back, so that what clips move is the joint's own node.
  const inverses = jointInverses.slice();
  jointNodes.forEach((node, joint) => {
    pivotOf(node)
      ?.toArray()
      .forEach((value, row) => {
        inverses[joint * AFFINE_SIZE + row * 4 + 3] -= value;
      });
  });
  const influences = new Float64Array(morphs ? Math.ceil(morphRest.length / 4) * 4 : 0);
  if (morphs) influences.set(morphRest);
  return {
    place,
    names,
    parents: Int32Array.from(parents),
    rest: Float64Array.from(rest),
    fixed: Float64Array.from(fixed),
    before: Float64Array.from(affineOf((objects[0].parent as Object3D).matrix)),
    morphRest: influences,
    inverses,
    jointNodes: jointNodes.map((node) => place[node]),
  };
}

/** A little less than the largest float32. */
const MAX_FLOAT = 3.4e38;

/**
 * Checks the skinning matrices of all joints.
 *
 * @param pose `AFFINE_SIZE` numbers a joint.
 * @param clip Names the clip in the message; left out for the rest pose.
 * @throws If one is not finite.
 */
export function checkPose({ jointNames }: Rig, pose: Float64Array, clip?: string): void {
  let bad = 0;
  while (Math.abs(pose[bad]) < MAX_FLOAT) bad++;
  if (bad >= pose.length) return;
  throw new Error(
    `The matrix of joint "${jointNames[Math.floor(bad / AFFINE_SIZE)]}" holds ${pose[bad]} in ${clip ?? 'the rest pose'}; ` +
      'mend the transforms of the nodes above it, its bind matrices, or the clip.',
  );
}
