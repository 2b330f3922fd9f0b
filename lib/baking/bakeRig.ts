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
import { warnOfStillClips } from './stillClips.js';

const NAME = 'BoneTexture.bake';

/**
 * With so many vertices for each joint, posing instances in a pass of its own costs less than it saves the vertices; see
 * demos/guides/baking.md for what was measured.
 */
const VERTICES_PER_JOINT = 8;

/** Joints of all instances up to which `'auto'` spends 100 MB on their matrices, which other encodings need not keep. */
const MOST_JOINTS = 2 ** 20;

/** Bakes clips for a character, without looking at the scene it is from. */
export function* bakeRig(
  character: BakedCharacter,
  planned: PlannedClip[],
  { encoding, precision, maxTextureSize, maxError, instances }: BakeOptionValues,
  rootMotion: BakeOptions['rootMotion'],
): BakeSteps {
  const { rig } = character;
  yield* warnOfStillClips(rig, planned);
  const bake = {
    ...character,
    planned,
    maxTextureSize,
    morphs: yield* movesMorphs(rig, planned),
    ...(yield* planRootMotion(rig, planned, rootMotion)),
  };
  const isAuto = encoding === 'auto';
  if (encoding === 'tracks' || (isAuto && isWorthPosing(character, instances))) {
    const tracks = yield* bakeTrackTexture({ ...bake, maxError, precision }, isAuto);
    if (typeof tracks !== 'string') return tracks;
    if (!isAuto) throw new Error(`${NAME}: encoding "tracks" cannot hold ${tracks}; use encoding "auto".`);
  }
  // Most models can be stored as quaternions; where one cannot, that shows in its first frames, and little time is lost.
  let result = encoding === 'matrix' ? null : yield* bakeFrames(encodingByName('quaternion'), bake, isAuto);
  result ??= yield* bakeFrames(encodingByName('matrix'), bake, false);

  const { texels, ...data } = result as BoneTextureData & { texels: Float32Array };
  return precision === 'half'
    ? { ...data, precision, texels: yield* toHalfTexels(texels) }
    : { ...data, texels };
}

function isWorthPosing({ vertices, rig }: BakedCharacter, instances: number): boolean {
  const joints = rig.jointNames.length;
  return vertices >= VERTICES_PER_JOINT * joints && instances * joints <= MOST_JOINTS;
}
