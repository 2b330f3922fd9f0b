import type { Object3D } from 'three';
import { assembleCharacter, type Character, type CharacterOptions } from '../character/assembleCharacter.js';
import { runAll, runInSlices } from '../utils/steps.js';
import { bakeVertices } from './bakeVertices.js';
import type { MotionSource, VertexBakeAsyncOptions, VertexBakeOptions } from './planMotions.js';
import { VertexTexture } from './VertexTexture.js';

/** How vertices are baked, and meshes merged. */
export interface BakeVertexCharacterOptions extends VertexBakeOptions, CharacterOptions {}

/** {@link BakeVertexCharacterOptions}, and options for baking in slices. */
export interface BakeVertexCharacterAsyncOptions extends VertexBakeAsyncOptions, CharacterOptions {}

/**
 * Bakes motions of all visible meshes under `object`, for crowds to play: `new SkinnedInstancedMesh(character, count)`. Clips change
 * nothing of the object. Your code poses it, and afterwards it is as it was: what was added to it is taken out again. Meshes that are added
 * are not baked.
 *
 * Vertices are relative to `object`, as it stands now: a crowd's instance matrix takes the place of `object.matrix`.
 *
 * @param object Holds the meshes, of whatever kind: skinned or not, with morph targets or without.
 * @param motion AnimationClips, as an `AnimationMixer` plays them; motions of your code; or one function `(time) => void` that
 * poses the object, with `duration` in the options. Without any, the texture holds the object as it is.
 * @throws If there is nothing to bake or it does not fit into a texture; the message says what to do.
 *
 * @category Bake
 */
export function bakeVertexCharacter(
  object: Object3D,
  motion: MotionSource,
  options: BakeVertexCharacterOptions = {},
): Character {
  return ownCharacter(object, bakeVertexTexture(object, motion, options), options);
}

/**
 * {@link bakeVertexCharacter} in slices of a few milliseconds, however many vertices there are, so that a page stays responsive
 * meanwhile; `pose` of your own motions is the one thing that takes as long as it takes. What is baked is the object as it stands when
 * the first slice begins, soon after the call. With clips it may be drawn, moved and posed between slices; do not change its
 * geometries, nor take its nodes apart. Motions of your code pose it until the promise settles: until then it may be drawn, as they
 * left it, but do not move, pose or change it.
 *
 * @throws What `bakeVertexCharacter` throws, and the signal's reason when it aborts; also if meshes of the object are being baked
 * already, and motions of code do one of the two.
 *
 * @category Bake
 */
export async function bakeVertexCharacterAsync(
  object: Object3D,
  motion: MotionSource,
  options: BakeVertexCharacterAsyncOptions = {},
): Promise<Character> {
  return ownCharacter(object, await bakeVertexTextureAsync(object, motion, options), options);
}

/**
 * {@link bakeVertexCharacter} without merging the meshes.
 *
 * @category Bake
 */
export function bakeVertexTexture(
  object: Object3D,
  motion: MotionSource,
  options: VertexBakeOptions = {},
): VertexTexture {
  return new VertexTexture(runAll(bakeVertices(object, motion, options)));
}

/**
 * {@link bakeVertexCharacterAsync} without merging the meshes.
 *
 * @category Bake
 */
export async function bakeVertexTextureAsync(
  object: Object3D,
  motion: MotionSource,
  options: VertexBakeAsyncOptions = {},
): Promise<VertexTexture> {
  const steps = bakeVertices(object, motion, options);
  return new VertexTexture(await runInSlices(steps, options));
}

function ownCharacter(object: Object3D, texture: VertexTexture, options: CharacterOptions): Character {
  const character = assembleCharacter(object, texture, options);
  character.made.push(texture);
  return character;
}
