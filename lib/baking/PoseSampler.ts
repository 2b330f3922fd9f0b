import { type AnimationClip, Matrix4 } from 'three';
import { composeNode } from '../character/collectRig.js';
import { AFFINE_SIZE } from '../constants.js';
import type { Rig } from '../poses/Rig.js';
import { affineFromMatrix4, affineToMatrix4, multiplyAffine } from '../utils/affine.js';
import { type BoundTracks, bindTracks } from './bindTracks.js';
import { type TrackTargets, trackTargetsOf } from './trackTargets.js';

const REST: BoundTracks = { tracks: [], morphs: [], still: [], missing: [], unsupported: [] };

/**
 * Computes the skinning matrices of all joints of a rig for a clip at a time, relative to the rig's root.
 *
 * The root's own transform is left out, since an instance matrix takes its place. If a clip moves the root itself, that
 * motion counts relative to the transform that the root had when the rig was collected.
 */
export class PoseSampler {
  readonly rig: Rig;
  /** Influences of the rig's morph targets in the last sample. */
  readonly influences: Float64Array;

  private readonly trs: Float64Array;
  private readonly local: Float64Array;
  /** Matrices of nodes relative to the root, in the last sample. */
  protected readonly model: Float64Array;
  private readonly scratch = new Float64Array(AFFINE_SIZE);
  private readonly rootRestInverse: Float64Array;

  private readonly targets: TrackTargets;
  private bound: BoundTracks = REST;
  /** Nodes whose local matrix this clip changes. */
  private moved: number[] = [];
  /** Nodes, parents first, whose model matrix this clip changes. */
  private carried: number[] = [];
  private readonly animated: Uint8Array;
  private readonly needed: Uint8Array;

  constructor(rig: Rig) {
    const count = rig.parents.length;
    this.rig = rig;
    this.influences = rig.morphRest.slice();
    this.trs = rig.rest.slice();
    this.local = rig.restLocal.slice();
    this.model = new Float64Array(count * AFFINE_SIZE);
    this.animated = new Uint8Array(count);
    this.rootRestInverse = invertedRest(rig);
    this.targets = trackTargetsOf(rig);

    this.needed = nodesAbove(rig.parents, [
      ...rig.jointNodes,
      ...rig.jointMeshes.flatMap((mesh) => mesh?.node ?? []),
    ]);
    this.setClip(null);
  }

  /** Chooses a clip, or the rest pose. Tells which of its tracks could not be bound. */
  setClip(clip: AnimationClip | null): BoundTracks {
    const { rig, trs, local, animated, needed } = this;

    this.influences.set(rig.morphRest);
    trs.set(rig.rest);
    local.set(rig.restLocal);
    animated.fill(0);
    this.bound = clip === null ? REST : bindTracks(rig, clip, trs, this.influences, this.targets);

    // three.js ignores position, rotation and scale of an object that updates its matrix itself.
    const isMoved = (node: number) => rig.fixed[node] === 0 && needed[node] === 1;
    for (const { node } of this.bound.tracks) if (isMoved(node)) animated[node] = 1;
    this.moved = [];
    for (let node = 0; node < animated.length; node++) if (animated[node]) this.moved.push(node);

    for (const track of this.bound.tracks) {
      track.interpolant.evaluate(0);
      track.apply?.();
    }
    for (const node of this.moved) this.composeLocal(node);
    for (const node of this.bound.still) if (isMoved(node)) this.composeLocal(node);

    this.carried = [];
    for (let node = 0; node < rig.parents.length; node++) {
      if (!needed[node]) continue;
      this.composeModel(node);
      const parent = rig.parents[node];
      if (parent !== -1 && animated[parent]) animated[node] = 1;
      if (animated[node]) this.carried.push(node);
    }

    return this.bound;
  }

  /**
   * Writes the skinning matrix of each joint at `time` seconds.
   *
   * @param out At least `joints × AFFINE_SIZE` numbers.
   */
  sample(time: number, out: Float64Array): void {
    const { rig, model } = this;
    const { jointNodes, jointInverses } = rig;

    for (const track of this.bound.tracks) {
      track.interpolant.evaluate(time);
      if (track.apply !== null) track.apply();
    }
    for (const track of this.bound.morphs) {
      track.interpolant.evaluate(time);
      track.apply?.();
    }
    for (const node of this.moved) this.composeLocal(node);
    for (const node of this.carried) this.composeModel(node);

    for (let joint = 0; joint < jointNodes.length; joint++) {
      const at = joint * AFFINE_SIZE;
      multiplyAffine(model, jointNodes[joint] * AFFINE_SIZE, jointInverses, at, out, at);
    }
  }

  /** Writes a node's matrix relative to the root in the last sample. */
  readModel(node: number, out: Float64Array): void {
    const at = node * AFFINE_SIZE;
    out.set(this.model.subarray(at, at + AFFINE_SIZE));
  }

  private composeLocal(node: number): void {
    const { trs, local, scratch, rig } = this;
    if (node === 0) {
      composeNode(trs, 0, rig.pivots, scratch, 0);
      multiplyAffine(this.rootRestInverse, 0, scratch, 0, local, 0);
    } else {
      composeNode(trs, node, rig.pivots, local, node * AFFINE_SIZE);
    }
  }

  private composeModel(node: number): void {
    const at = node * AFFINE_SIZE;
    const parent = this.rig.parents[node];
    if (parent === -1) this.model.set(this.local.subarray(at, at + AFFINE_SIZE), at);
    else multiplyAffine(this.model, parent * AFFINE_SIZE, this.local, at, this.model, at);
  }
}

/** Inverse of the root's own transform, which is no part of the poses: 12 numbers. */
export function invertedRest({ rest, pivots }: Rig): Float64Array {
  const inverse = new Float64Array(AFFINE_SIZE);
  composeNode(rest, 0, pivots, inverse, 0);
  affineFromMatrix4(affineToMatrix4(inverse, 0, new Matrix4()).invert(), inverse, 0);
  return inverse;
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
  const length = jointNames.length * AFFINE_SIZE;
  for (let i = 0; i < length; i++) {
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
