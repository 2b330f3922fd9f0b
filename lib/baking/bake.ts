import type { AnimationClip, Object3D } from 'three';
import { createJointBoxes } from '../poses/jointBoxes.js';
import type { BakedCharacter } from './BakedCharacter.js';
import type { BakeOptions } from './BakeOptions.js';
import { bakeOptionValues } from './bakeOptionValues.js';
import { bakeRig } from './bakeRig.js';
import { collectRigSteps } from './collectRig.js';
import { growPartBoxes } from './growPartBoxes.js';
import { morphReach } from './morphReach.js';
import { findPartFlips } from './partFlips.js';
import { type PlannedClip, planClips } from './planClips.js';
import type { BakeSteps, Steps } from './runBake.js';

/** The baking itself: reads what it needs from the scene, then samples, measures and encodes every pose. */
export function* bakeSteps(root: Object3D, clips: readonly AnimationClip[], options: BakeOptions): BakeSteps {
  const values = bakeOptionValues(options);
  const planned = yield* planClips(clips, options.clips, values.fps);
  const character = yield* collectCharacter(root, planned, options);
  return yield* bakeRig(character, planned, values, options.rootMotion);
}

/** Reads from the scene what baking needs of it. */
export function* collectCharacter(
  root: Object3D,
  planned: readonly PlannedClip[],
  { sockets, joints, morphTargets: morphing }: BakeOptions,
): Steps<BakedCharacter> {
  let { rig, parts } = yield* collectRigSteps(root, { sockets, joints, morphing });
  const flips = yield* findPartFlips(rig, planned);
  if (flips.length > 0) ({ rig, parts } = yield* collectRigSteps(root, { sockets, joints, morphing, flips }));

  const boxes = createJointBoxes(rig.jointNames.length);
  let vertices = 0;
  for (const part of parts) {
    yield* growPartBoxes(boxes, part);
    vertices += part.geometry.getAttribute('position').count;
  }
  return { rig, boxes, flips, morphReach: yield* morphReach(rig, parts), vertices };
}
