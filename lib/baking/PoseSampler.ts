import { type AnimationClip, Matrix4 } from 'three';
import { AFFINE_SIZE } from '../constants.js';
import type { MeshJoint, Rig } from '../poses/Rig.js';
import {
  affineFromMatrix4,
  affineToMatrix4,
  isSingular,
  linearDeterminant,
  multiplyAffine,
} from '../utils/affine.js';
import { type BoundTracks, bindTracks } from './bindTracks.js';
import { composeNode } from './collectRig.js';
import { nodesAbove } from './nodesAbove.js';
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
  private readonly model: Float64Array;
  private readonly scratch = new Float64Array(AFFINE_SIZE);
  private readonly rootRestInverse: Float64Array;

  private readonly targets: TrackTargets;
  /** Joints that also depend on where their mesh is. */
  private readonly meshJoints: readonly (readonly [joint: number, mesh: MeshJoint])[];
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
    this.meshJoints = rig.jointMeshes.flatMap((mesh, joint) => (mesh ? [[joint, mesh] as const] : []));

    this.needed = nodesAbove(rig.parents, [
      ...rig.jointNodes,
      ...this.meshJoints.map(([, { node }]) => node),
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
    for (const [joint, mesh] of this.meshJoints) this.applyMesh(mesh, out, joint * AFFINE_SIZE);
  }

  /** Applies to a joint's matrix what it takes from its mesh. */
  private applyMesh({ node, bindInverse, vanishes, side }: MeshJoint, out: Float64Array, at: number): void {
    const { model, scratch } = this;
    const mesh = node * AFFINE_SIZE;
    if (bindInverse !== null) {
      multiplyAffine(bindInverse, 0, out, at, scratch, 0);
      multiplyAffine(model, mesh, scratch, 0, out, at);
    }
    const otherSide = side !== 0 && linearDeterminant(model, mesh) < 0 !== side < 0;
    if (!otherSide && !(vanishes && isSingular(model, mesh))) return;
    // Shrink the vertices to a point in the mesh's origin.
    out.fill(0, at, at + AFFINE_SIZE);
    for (let i = 3; i < AFFINE_SIZE; i += 4) out[at + i] = model[mesh + i];
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
