import { Matrix4 } from 'three';
import { composeModel } from '../animation/mixPose.js';
import { type PoseTracks, PROPERTY_OFFSETS } from '../animation/PoseTracks.js';
import { type Rig, TRS_SIZE } from '../animation/Rig.js';
import { composeNode, STILL as STILL_TRS } from '../character/collectRig.js';
import { AFFINE_SIZE } from '../constants.js';
import { affineFromMatrix4, affineToMatrix4, multiplyAffine } from '../utils/affine.js';
import { type BoundClip, type Channel, MORPHS, STILL } from './channels.js';

/** The nodes of a rig that joints and meshes hang on, as pose tracks have them. */
export interface Skeleton extends Omit<PoseTracks, 'keys' | 'shorts' | 'table' | 'clips'> {
  /** Index of each node of the rig among those of the skeleton; -1 for those that are left out. */
  place: Int32Array;
  /** The same for what hangs on the node, which differs for nodes that turn about a pivot. */
  ends: Int32Array;
}

/** @param morphs Whether clips move morph targets. */
export function skeletonOf(rig: Rig, morphs: boolean): Skeleton {
  const { parents, pivots, jointNodes, jointMeshes } = rig;
  const nodes: { node: number; parent: number; fixed: ArrayLike<number> | null }[] = [];
  const place = new Int32Array(parents.length).fill(-1);
  const ends = place.slice();
  const pivotOf = (node: number) => (rig.fixed[node] === 1 ? undefined : pivots.get(node));
  const add = (node: number, parent: number, fixed: ArrayLike<number> | null): number =>
    nodes.push({ node, parent, fixed }) - 1;
  const meshes = jointMeshes.flatMap((mesh) => mesh?.node ?? []);
  nodesAbove(parents, [...jointNodes, ...meshes]).forEach((needed, node) => {
    if (needed === 0) return;
    const parent = node === 0 ? -1 : ends[parents[node]];
    const pivot = pivotOf(node);
    if (pivot === undefined) {
      ends[node] = place[node] = add(node, parent, rig.fixed[node] === 1 ? fixedMatrix(rig, node) : null);
      return;
    }
    // A node that turns about a pivot is one that turns about its origin between two that move everything there and back.
    const [x, y, z] = pivot;
    const there = add(-1, parent, [1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z]);
    place[node] = add(node, there, null);
    ends[node] = add(-1, place[node], [1, 0, 0, -x, 0, 1, 0, -y, 0, 0, 1, -z]);
  });

  const rest = new Float64Array(nodes.length * TRS_SIZE);
  const fixed = new Float64Array(nodes.length * AFFINE_SIZE).fill(Number.NaN);
  nodes.forEach((one, i) => {
    rest.set(
      one.node === -1 ? STILL_TRS : rig.rest.subarray(one.node * TRS_SIZE, (one.node + 1) * TRS_SIZE),
      i * TRS_SIZE,
    );
    if (one.fixed !== null) fixed.set(one.fixed, i * AFFINE_SIZE);
  });
  const morphRest = new Float64Array(morphs ? Math.ceil(rig.morphRest.length / 4) * 4 : 0);
  if (morphs) morphRest.set(rig.morphRest);
  // A joint with a pivot ends before the node that moves everything back, so that what clips move is the joint's own node.
  const inverses = rig.jointInverses.slice();
  jointNodes.forEach((node, joint) => {
    pivotOf(node)?.forEach((value, row) => {
      inverses[joint * AFFINE_SIZE + row * 4 + 3] -= value;
    });
  });
  const before = new Float64Array(AFFINE_SIZE);
  composeNode(rig.rest, 0, pivots, before, 0);
  affineFromMatrix4(affineToMatrix4(before, 0, new Matrix4()).invert(), before, 0);
  return {
    place,
    ends,
    names: nodes.map(({ node }) => (node === -1 ? '' : rig.names[node])),
    parents: Int32Array.from(nodes, ({ parent }) => parent),
    rest,
    fixed,
    before,
    morphRest,
    inverses,
    jointNodes: Int32Array.from(jointNodes, (node) => place[node]),
  };
}

/** The root's own transform is no part of the poses: `PoseTracks.before` takes it back. */
function fixedMatrix({ rest, pivots, restLocal }: Rig, node: number): ArrayLike<number> {
  if (node !== 0) return restLocal.subarray(node * AFFINE_SIZE, (node + 1) * AFFINE_SIZE);
  const matrix = new Float64Array(AFFINE_SIZE);
  composeNode(rest, 0, pivots, matrix, 0);
  return matrix;
}

/** Poses a skeleton by the channels of a clip, as three.js would the scene. */
export class ClipPoser {
  /** Local transforms of the nodes, `TRS_SIZE` numbers each, and behind them the influences of the morph targets. */
  readonly state: Float64Array;
  /** Matrices of the nodes relative to the root, 12 numbers each. */
  readonly model: Float64Array;
  private readonly rest: Float64Array;
  private moving: { channel: Channel; at: number }[] = [];

  /** At rest. */
  constructor(
    readonly skeleton: Skeleton,
    morphRest: Float64Array,
  ) {
    const { rest, parents } = skeleton;
    this.rest = Float64Array.of(...rest, ...morphRest);
    this.state = this.rest.slice();
    this.model = new Float64Array(parents.length * AFFINE_SIZE);
    composeModel(skeleton, this.state, this.model);
  }

  get influences(): Float64Array {
    return this.state.subarray(this.skeleton.rest.length);
  }

  setClip({ channels }: BoundClip): void {
    const { state, skeleton } = this;
    state.set(this.rest);
    this.moving = [];
    for (const channel of channels) {
      const { property, node } = channel;
      const place = property === MORPHS ? skeleton.parents.length : skeleton.place[node];
      if (place === -1) continue;
      const at = place * TRS_SIZE + (PROPERTY_OFFSETS[property] ?? 0);
      channel.evaluate(0, state, at);
      if (!channel.tracks.every(({ curve }) => curve === STILL)) this.moving.push({ channel, at });
    }
  }

  /** Poses it as at a time, in seconds. */
  sample(time: number): void {
    for (const { channel, at } of this.moving) channel.evaluate(time, this.state, at);
    composeModel(this.skeleton, this.state, this.model);
  }

  /** Writes the skinning matrix of each joint, 12 numbers each. */
  readJoints(out: Float64Array): void {
    const { jointNodes, inverses } = this.skeleton;
    for (let joint = 0; joint < jointNodes.length; joint++) {
      const at = joint * AFFINE_SIZE;
      multiplyAffine(this.model, jointNodes[joint] * AFFINE_SIZE, inverses, at, out, at);
    }
  }
}

/** A little less than the largest float32. */
const MAX_FLOAT = 3.4e38;

/**
 * Checks the skinning matrices of all joints.
 *
 * @param pose `AFFINE_SIZE` numbers a joint.
 * @param clip Names the clip in the message, e.g. `the rest pose`.
 * @throws If one is not finite.
 */
export function checkPose({ jointNames }: Rig, pose: Float64Array, clip: string): void {
  for (let i = 0; i < pose.length; i++) {
    if (Math.abs(pose[i]) < MAX_FLOAT) continue;
    throw new Error(
      `The matrix of joint "${jointNames[Math.floor(i / AFFINE_SIZE)]}" holds ${pose[i]} in ${clip}; ` +
        'mend the transforms of the nodes above it, its bind matrices, or the clip.',
    );
  }
}

/**
 * Marks nodes and everything above them in the hierarchy.
 *
 * @param parents Index of each node's parent, -1 for the root.
 * @returns 1 for each of `nodes`, their parents, and so on up to the root; 0 for all others.
 */
export function nodesAbove(parents: Int32Array, nodes: Iterable<number>): Uint8Array {
  const found = new Uint8Array(parents.length);
  for (const start of nodes) {
    for (let node = start; node !== -1 && found[node] === 0; node = parents[node]) found[node] = 1;
  }
  return found;
}
