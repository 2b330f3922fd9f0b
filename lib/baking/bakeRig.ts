import type { BoneTextureData } from '../encodings/BoneTextureData.js';
import { encodingByName } from '../encodings/index.js';
import type { BakedCharacter } from './BakedCharacter.js';
import type { BakeOptions } from './BakeOptions.js';
import { bakeFrames, toHalfTexels } from './bakeFrames.js';
import type { BakeOptionValues } from './bakeOptionValues.js';
import { bakeTrackTexture } from './bakeTrackTexture.js';
import { planRootMotion } from './extractRootMotion.js';
import { movesMorphs } from './movesMorphs.js';
import type { PlannedClip } from './planClips.js';
import type { BakeSteps } from './runBake.js';

/** Bakes clips for a character, without looking at the scene it is from. */
export function* bakeRig(
  character: BakedCharacter,
  planned: PlannedClip[],
  { encoding, precision, maxTextureSize, maxError }: BakeOptionValues,
  rootMotion: BakeOptions['rootMotion'],
): BakeSteps {
  const { rig } = character;
  const bake = {
    ...character,
    planned,
    maxTextureSize,
    morphs: movesMorphs(rig, planned),
    ...planRootMotion(rig, planned, rootMotion),
  };
  if (encoding === 'tracks') {
    const tracks = yield* bakeTrackTexture({ ...bake, maxError, precision });
    if (typeof tracks !== 'string') return tracks;
    throw new Error(`BoneTexture.bake: encoding "tracks" cannot hold ${tracks}; use encoding "auto".`);
  }
  // Most models can be stored as quaternions; where one cannot, that shows in its first frames, and little time is lost.
  let result =
    encoding === 'matrix' ? null : yield* bakeFrames(encodingByName('quaternion'), bake, encoding === 'auto');
  result ??= yield* bakeFrames(encodingByName('matrix'), bake, false);

  const { texels, ...data } = result as BoneTextureData & { texels: Float32Array };
  return precision === 'half'
    ? { ...data, precision, texels: yield* toHalfTexels(texels) }
    : { ...data, texels };
}
