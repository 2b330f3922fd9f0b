import type { AnimationClip, Object3D } from 'three';
import { createJointBoxes, growJointBoxes } from '../poses/jointBoxes.js';
import type { BakeOptions } from './BakeOptions.js';
import { bakeOptionValues } from './bakeOptionValues.js';
import { bakeRig } from './bakeRig.js';
import { collectRig } from './collectRig.js';
import { morphReach } from './morphReach.js';
import { findPartFlips } from './partFlips.js';
import { planClips } from './planClips.js';
import type { BakeSteps } from './runBake.js';

/** The baking itself: reads what it needs from the scene, then samples, measures and encodes every pose. */
export function* bakeSteps(root: Object3D, clips: readonly AnimationClip[], options: BakeOptions): BakeSteps {
  const values = bakeOptionValues(options);
  const planned = planClips(clips, options.clips, values.fps);
  const { sockets, morphTargets: morphing } = options;
  let { rig, parts } = collectRig(root, { sockets, morphing });
  const flips = findPartFlips(rig, planned);
  if (flips.length > 0) ({ rig, parts } = collectRig(root, { sockets, morphing, flips }));
  yield 0;

  const boxes = createJointBoxes(rig.jointNames.length);
  let vertices = 0;
  for (const { geometry, joints, mirrorJoints, rigid } of parts) {
    growJointBoxes(boxes, geometry, joints, rigid);
    vertices += geometry.getAttribute('position').count;
    if (mirrorJoints !== null) growJointBoxes(boxes, geometry, mirrorJoints, rigid);
    yield 0;
  }
  const reach = morphReach(parts.map(({ geometry }) => geometry));
  const character = { rig, boxes, flips, morphReach: reach, vertices };
  return yield* bakeRig(character, planned, values, options.rootMotion);
}
