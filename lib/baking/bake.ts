import type { AnimationClip, Object3D } from 'three';
import { createJointBoxes } from '../poses/jointBoxes.js';
import type { BakedCharacter } from './BakedCharacter.js';
import type { BakeOptions } from './BakeOptions.js';
import { bakeOptionValues } from './bakeOptionValues.js';
import { bakeRig } from './bakeRig.js';
import { collectRigSteps, type RigOptions } from './collectRig.js';
import { growPartBoxes } from './growPartBoxes.js';
import { morphReach } from './morphReach.js';
import { moveAlike } from './moveAlike.js';
import { findPartFlips } from './partFlips.js';
import { type PlannedClip, planClips } from './planClips.js';
import type { BakeSteps, Steps } from './runBake.js';
import { warnOfDisorder } from './warnOfDisorder.js';

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
  const options: RigOptions = { sockets, joints, morphing };
  const first = yield* collectRigSteps(root, options);
  let { rig, parts } = first;
  yield* warnOfDisorder(rig, planned);
  const flips = yield* findPartFlips(rig, planned);
  const meshes = first.sharedMorphs;
  const apart = meshes !== null && !(yield* moveAlike(rig, meshes, planned));
  // Rarely do clips ask for another rig than the scene alone does.
  if (flips.length > 0 || apart) {
    ({ rig, parts } = yield* collectRigSteps(root, {
      ...options,
      flips,
      shareMorphs: apart ? false : undefined,
    }));
  }

  const boxes = createJointBoxes(rig.jointNames.length);
  let vertices = 0;
  for (const part of parts) {
    yield* growPartBoxes(boxes, part);
    vertices += part.geometry.getAttribute('position').count;
  }
  return { rig, boxes, flips, morphReach: yield* morphReach(rig, parts), vertices };
}
