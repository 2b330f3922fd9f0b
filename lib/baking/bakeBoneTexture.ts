import type { AnimationClip, Object3D } from 'three';
import { type CollectedRig, collectRigSteps, type RigOptions } from '../character/collectRig.js';
import { createJointBoxes } from '../poses/jointBoxes.js';
import { BoneTexture } from '../texture/BoneTexture.js';
import { runAll, type Steps } from '../utils/steps.js';
import type { BakeAsyncOptions, BakeOptions } from './BakeOptions.js';
import type { BakedCharacter } from './bakeRig.js';
import { bakeRig } from './bakeRig.js';
import { tracks } from './bakeTracks.js';
import { growPartBoxes, morphReach } from './measureParts.js';
import { moveAlike } from './morphTracks.js';
import { type PlannedClip, planClips } from './planClips.js';
import { runInSlices } from './runInSlices.js';

/**
 * Bakes clips alone, for whoever has a geometry of their own: `new SkinnedInstancedMesh(geometry, material, boneTexture, count)`. Options
 * and what is thrown are those of {@link bakeCharacter}.
 *
 * @param root Holds the character's meshes, and the bones of those that have any, e.g. `gltf.scene`.
 * @param clips E.g. `gltf.animations`; without any, the texture holds the rest pose alone.
 */
export function bakeBoneTexture(
  root: Object3D,
  clips: readonly AnimationClip[],
  options: BakeOptions = {},
): BoneTexture {
  return runAll(bakeSteps(root, clips, options));
}

/**
 * {@link bakeBoneTexture} in slices of up to 4 milliseconds, so that a page stays responsive meanwhile.
 *
 * The scene may be drawn, but must not be posed or edited until the promise settles.
 *
 * @throws What `bakeBoneTexture` throws, and the signal's reason when it aborts.
 */
export async function bakeBoneTextureAsync(
  root: Object3D,
  clips: readonly AnimationClip[],
  options: BakeAsyncOptions = {},
): Promise<BoneTexture> {
  return runInSlices(bakeSteps(root, clips, options), options);
}

/** The baking itself: reads what it needs from the scene, then samples, measures and encodes every pose. */
function* bakeSteps(
  root: Object3D,
  clips: readonly AnimationClip[],
  options: BakeOptions,
): Steps<BoneTexture> {
  const { encoding = tracks } = options;
  const planned = yield* planClips(clips, options.clips, options.fps);
  const { baked } = yield* collectCharacter(root, planned, options);
  return new BoneTexture(yield* bakeRig(baked, planned, options, encoding), encoding);
}

/** Reads from the scene what baking needs of it, and the meshes that make up the character. */
export function* collectCharacter(
  root: Object3D,
  planned: readonly PlannedClip[],
  { sockets, joints, morphTargets: morphing, encoding = tracks }: BakeOptions,
): Steps<{ baked: BakedCharacter; collected: CollectedRig }> {
  const options: RigOptions = { sockets, joints, morphing };
  let collected = yield* collectRigSteps(root, options);
  const { rig: first, sharedMorphs: meshes } = collected;
  const flips = yield* encoding.findFlips(first, planned);
  const apart = meshes !== null && !(yield* moveAlike(first, meshes, planned));
  // Rarely do clips ask for another rig than the scene alone does.
  if (flips.length > 0 || apart) {
    collected = yield* collectRigSteps(root, { ...options, flips, shareMorphs: apart ? false : undefined });
  }

  const { rig, parts } = collected;
  const boxes = createJointBoxes(rig.jointNames.length);
  for (const part of parts) yield* growPartBoxes(boxes, part);
  const baked = { rig, boxes, flips, morphReach: yield* morphReach(rig, parts) };
  return { baked, collected };
}
