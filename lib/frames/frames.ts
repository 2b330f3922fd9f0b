import type { Encoding } from '../baking/BakeOptions.js';
import { bakeFrames } from './bakeFrames.js';
import { findPartFlips } from './FrameSampler.js';
import { frameSource } from './frameSource.js';

/**
 * Skinning matrices frame by frame, which each vertex reads and mixes, without a pass of its own: for the option `encoding`, and for
 * files that were baked with it.
 *
 * ```ts
 * const character = bakeCharacter(gltf.scene, gltf.animations, { encoding: frames });
 * ```
 */
export const frames: Encoding = {
  name: 'frames',
  poseSource: frameSource,
  findFlips: findPartFlips,
  bake: bakeFrames,
};
