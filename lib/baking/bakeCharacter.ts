import type { AnimationClip, Object3D } from 'three';
import {
  type Character,
  type CharacterOptions,
  characterOf,
  refuseUnsupported,
} from '../character/assembleCharacter.js';
import { BoneTexture } from '../texture/BoneTexture.js';
import { runAll, type Steps } from '../utils/steps.js';
import type { BakeAsyncOptions, BakeOptions } from './BakeOptions.js';
import { collectCharacter } from './bakeBoneTexture.js';
import { bakeRig } from './bakeRig.js';
import { tracks } from './bakeTracks.js';
import { planClips } from './planClips.js';
import { runInSlices } from './runInSlices.js';

/** How a character is baked and merged. */
export interface BakeCharacterOptions extends BakeOptions, CharacterOptions {}

/** {@link BakeCharacterOptions}, and options for baking in slices. */
export interface BakeCharacterAsyncOptions extends BakeAsyncOptions, CharacterOptions {}

/**
 * Bakes the character under `root`, with all its meshes and materials, for crowds to play: `new SkinnedInstancedMesh(character, count)`.
 * Nothing in the scene is changed. One character serves any number of crowds; call {@link disposeCharacter} when none uses it any more.
 *
 * Matrices are relative to `root`: an instance's matrix takes the place of `root.matrix`.
 *
 * @param root Holds the character's meshes, and the bones of those that have any, e.g. `gltf.scene`.
 * @param clips E.g. `gltf.animations`; without any, the character stands in its rest pose.
 * @throws If there is nothing to bake, a clip cannot be baked, or there is something under `root` that cannot be instanced; the message
 * names the clip and track.
 */
export function bakeCharacter(
  root: Object3D,
  clips: readonly AnimationClip[],
  options: BakeCharacterOptions = {},
): Character {
  return runAll(characterSteps(root, clips, options));
}

/**
 * {@link bakeCharacter} in slices of up to 4 milliseconds, so that a page stays responsive meanwhile; merging the meshes at the end is
 * one slice.
 *
 * The scene may be drawn, but must not be posed or edited until the promise settles.
 *
 * @throws What `bakeCharacter` throws, and the signal's reason when it aborts.
 */
export async function bakeCharacterAsync(
  root: Object3D,
  clips: readonly AnimationClip[],
  options: BakeCharacterAsyncOptions = {},
): Promise<Character> {
  return runInSlices(characterSteps(root, clips, options), options);
}

function* characterSteps(
  root: Object3D,
  clips: readonly AnimationClip[],
  options: BakeCharacterOptions,
): Steps<Character> {
  const { encoding = tracks } = options;
  refuseUnsupported(root, options);
  const planned = yield* planClips(clips, options.clips, options.fps);
  const { baked, collected } = yield* collectCharacter(root, planned, options);
  const boneTexture = new BoneTexture(yield* bakeRig(baked, planned, options, encoding), encoding);
  return characterOf(root, collected, boneTexture, options, [boneTexture]);
}
