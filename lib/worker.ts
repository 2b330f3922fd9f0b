/**
 * Baking in a worker, for both renderers.
 *
 * @module skinned-instanced-mesh/worker
 */

export type { BoneTexture } from './animation/BoneTexture.js';
export type { BakeAsyncOptions, BakeOptions } from './baking/BakeOptions.js';
export type { BakeCharacterAsyncOptions } from './baking/bakeCharacter.js';
export type { ClipChoice } from './baking/planClips.js';
export type { Character, CharacterOptions } from './character/assembleCharacter.js';
export { bakeInWorker } from './worker/bakeInWorker.js';
