import type { InstancedMesh } from 'three';
import type { BoneTexture } from '../animation/BoneTexture.js';
import type { MorphRange } from '../animation/jointBoxes.js';
import { createPoseMix } from '../animation/PoseMix.js';
import type { MeshMorphs } from '../crowd/CrowdFeature.js';

/** How much farther than an influence asks for its range grows. */
const HEADROOM = 1.25;

/** The influences of morph targets that instances of a mesh have had, without what clips add. Bounds hold all of them. */
export class MorphInfluences implements MorphRange {
  /** For each target the least and the greatest influence. They only grow. */
  readonly least: number[] = [];
  readonly most: number[] = [];
  /** Goes up when one of these changes. */
  version = 0;
  /** What gives instances influences of their own; null where all have those of the mesh. */
  ofInstances: MeshMorphs | null = null;

  constructor(private readonly mesh: InstancedMesh & { readonly clipsMorph: boolean }) {}

  /** Grows by the influences that all instances share, which users write into an array of three.js. */
  growByShared(): void {
    const { morphTargetInfluences: shared } = this.mesh;
    if (shared === undefined) return;
    const { least, most } = this;
    if (most.length !== shared.length) {
      // Boxes hold influences from 0 to 1 anyway. What clips add to the shared ones comes on top, which boxes hold tightly at first.
      const { clipsMorph } = this.mesh;
      for (let target = 0; target < shared.length; target++) {
        // What is no number would stay so for ever: nothing is less or greater.
        const influence = Number.isNaN(shared[target]) ? 0 : shared[target];
        least[target] = clipsMorph || influence < 0 ? influence : 0;
        most[target] = clipsMorph || influence > 1 ? influence : 1;
      }
      least.length = most.length = shared.length;
      this.version++;
    }
    for (let target = 0; target < shared.length; target++) this.growBy(target, shared[target]);
  }

  /** Grows by an influence: by more than it asks for, so that bounds are not computed at each step of one that moves on. */
  growBy(target: number, influence: number): void {
    const { least, most } = this;
    if (!(influence < least[target] || influence > most[target])) return;
    for (let i = 0; i < most.length; i++) {
      least[i] = Math.min(least[i], 0);
      most[i] = Math.max(most[i], 1);
    }
    if (influence < 0) least[target] = Math.min(least[target], influence * HEADROOM);
    if (influence > 1) most[target] = Math.max(most[target], influence * HEADROOM);
    this.version++;
  }

  /** Grows by all that another mesh holds. */
  grow({ least, most }: MorphRange): void {
    this.growByShared();
    for (let target = 0; target < Math.min(most.length, this.most.length); target++) {
      this.growBy(target, least[target]);
      this.growBy(target, most[target]);
    }
  }
}

/** What clips add: found by reading every frame, and the same ever after. A bone texture that becomes a copy of another has new clips. */
const added = /*@__PURE__*/ new WeakMap<BoneTexture['clips'], MorphRange>();

/**
 * The influences that morph targets may have, from at most 0 to at least 1: what instances have of their own, and what clips add to it.
 *
 * @param own What instances have had of their own.
 */
export function morphRange(boneTexture: BoneTexture, { least, most }: MorphRange): MorphRange {
  const { clips } = boneTexture;
  let byClips = added.get(clips);
  if (byClips === undefined) {
    byClips = addedByClips(boneTexture);
    added.set(clips, byClips);
  }
  const { least: lowest, most: highest } = byClips;
  return {
    least: Array.from(least, (value, i) => Math.min(value + (lowest[i] ?? 0), 0)),
    most: Array.from(most, (value, i) => Math.max(value + (highest[i] ?? 0), 1)),
  };
}

function addedByClips(boneTexture: BoneTexture): MorphRange {
  const { morphNames, clips } = boneTexture;
  const influences = new Float64Array(morphNames.length);
  const least = influences.slice();
  const most = influences.slice();
  const pose = createPoseMix();
  const [played] = pose.clips;
  for (const { start, count } of influences.length > 0 ? clips : []) {
    played.start = start;
    for (let frame = start; frame < start + count; frame++) {
      played.frame0 = played.frame1 = frame;
      boneTexture.reader.pose(pose);
      boneTexture.reader.readMorphs(influences);
      for (let i = 0; i < influences.length; i++) {
        least[i] = Math.min(least[i], influences[i]);
        most[i] = Math.max(most[i], influences[i]);
      }
    }
  }
  return { least, most };
}
