import { targetOf } from '../baking/channels.js';
import { findChangedParts } from '../baking/measureParts.js';
import type { PlannedClip } from '../baking/planClips.js';
import { ClipPoser, skeletonOf } from '../baking/skeleton.js';
import { AFFINE_SIZE } from '../constants.js';
import type { PartFlip } from '../poses/PartFlip.js';
import type { MeshJoint, Rig } from '../poses/Rig.js';
import { isSingular, linearDeterminant, multiplyAffine } from '../utils/affine.js';
import type { Steps } from '../utils/steps.js';

const _scratch = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);

/** Computes skinning matrices of joints that also depend on where their mesh is. */
export class FrameSampler extends ClipPoser {
  constructor(private readonly rig: Rig) {
    super(skeletonOf(rig, false), rig.morphRest);
  }

  override readJoints(out: Float64Array): void {
    super.readJoints(out);
    this.rig.jointMeshes.forEach((mesh, joint) => {
      if (mesh !== null) this.applyMesh(mesh, out, joint * AFFINE_SIZE);
    });
  }

  private applyMesh({ node, bindInverse, vanishes, side }: MeshJoint, out: Float64Array, at: number): void {
    const { model } = this;
    const mesh = this.skeleton.ends[node] * AFFINE_SIZE;
    if (bindInverse !== null) {
      multiplyAffine(bindInverse, 0, out, at, _scratch, 0);
      multiplyAffine(model, mesh, _scratch, 0, out, at);
    }
    const otherSide = side !== 0 && linearDeterminant(model, mesh) < 0 !== side < 0;
    if (!otherSide && !(vanishes && isSingular(model, mesh))) return;
    // Shrink the vertices to a point in the mesh's origin.
    out.fill(0, at, at + AFFINE_SIZE);
    for (let i = 3; i < AFFINE_SIZE; i += 4) out[at + i] = model[mesh + i];
  }
}

/** Gives parts that clips mirror or flatten joints of their own: those that have one matrix in every pose share theirs. */
export function* findPartFlips(rig: Rig, clips: readonly PlannedClip[]): Steps<PartFlip[]> {
  const groups = new Map<number, number>();
  return (yield* findChangedParts(rig, clips)).map((changed) => {
    const anchor = anchorOf(rig, rig.parts[changed.part].node, clips);
    const group = groups.get(anchor) ?? groups.size;
    groups.set(anchor, group);
    return { ...changed, group };
  });
}

/**
 * The uppermost node that has the mesh's matrix in every pose: the mesh itself, or its parent if the mesh has no transform
 * of its own and no clip moves it, and so on.
 */
function anchorOf(rig: Rig, mesh: number, clips: readonly PlannedClip[]): number {
  const { parents, restLocal } = rig;
  const moved = new Set(clips.flatMap(({ clip }) => clip.tracks.map(({ name }) => targetOf(rig, name).node)));
  let node = mesh;
  while (parents[node] !== -1 && !moved.has(node) && isIdentity(restLocal, node * AFFINE_SIZE))
    node = parents[node];
  return node;
}

function isIdentity(m: Float64Array, at: number): boolean {
  for (let i = 0; i < AFFINE_SIZE; i++) if (m[at + i] !== (i % 5 === 0 ? 1 : 0)) return false;
  return true;
}
