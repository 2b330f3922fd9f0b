import type { AnimationClip, Object3D } from 'three';
import type { BoneTextureData } from '../encodings/BoneTextureData.js';
import { encodingByName } from '../encodings/index.js';
import { createJointBoxes, growJointBoxes } from '../poses/jointBoxes.js';
import type { BakeOptions } from './BakeOptions.js';
import { bakeFrames, toHalfTexels } from './bakeFrames.js';
import { bakeOptionValues } from './bakeOptionValues.js';
import { bakeTrackTexture } from './bakeTrackTexture.js';
import { collectRig } from './collectRig.js';
import { planRootMotion } from './extractRootMotion.js';
import { movesMorphs } from './movesMorphs.js';
import { findPartFlips } from './partFlips.js';
import { planClips } from './planClips.js';
import type { BakeSteps } from './runBake.js';

/** The baking itself: samples every clip, encodes the poses, measures their bounds. */
export function* bakeSteps(root: Object3D, clips: readonly AnimationClip[], options: BakeOptions): BakeSteps {
  const { fps, encoding, precision, maxTextureSize, maxError } = bakeOptionValues(options);
  const planned = planClips(clips, options.clips, fps);
  const { sockets, morphTargets: morphing } = options;
  let rig = collectRig(root, { sockets, morphing });
  const flips = findPartFlips(rig, planned);
  if (flips.length > 0) rig = collectRig(root, { sockets, morphing, flips });
  yield 0;

  const frames = planned.reduce((sum, { count }) => sum + count, 1);
  const boxes = createJointBoxes(rig.jointNames.length);
  for (const part of rig.parts) {
    growJointBoxes(boxes, part.geometry, part.joints, part.rigid);
    if (part.mirrorJoints !== null) growJointBoxes(boxes, part.geometry, part.mirrorJoints, part.rigid);
    yield 0;
  }

  const bake = {
    planned,
    rig,
    flips,
    boxes,
    frames,
    maxTextureSize,
    morphs: movesMorphs(rig, planned),
    ...planRootMotion(rig, planned, options.rootMotion),
  };
  if (encoding === 'tracks') return yield* bakeTrackTexture({ ...bake, maxError });
  // Most models have quaternions throughout; where one has not, that shows in its first frames.
  let result =
    encoding === 'matrix' ? null : yield* bakeFrames(encodingByName('quaternion'), bake, encoding === 'auto');
  result ??= yield* bakeFrames(encodingByName('matrix'), bake, false);

  const { texels, ...data } = result as BoneTextureData & { texels: Float32Array };
  return precision === 'half'
    ? { ...data, precision, texels: yield* toHalfTexels(texels) }
    : { ...data, texels };
}
