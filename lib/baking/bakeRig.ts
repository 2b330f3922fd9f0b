import type { BoneTextureData, Precision } from '../encodings/BoneTextureData.js';
import type { JointBoxes } from '../poses/jointBoxes.js';
import type { PartFlip } from '../poses/PartFlip.js';
import type { Rig } from '../poses/Rig.js';
import type { Steps } from '../utils/steps.js';
import type { BakeOptions } from './BakeOptions.js';
import type { Encoding } from './Encoding.js';
import { movesMorphs } from './morphTracks.js';
import type { PlannedClip } from './planClips.js';
import type { RootMotionExtractor } from './rootMotion.js';
import { warnOfStillClips } from './trackWarnings.js';

/** What baking knows of a character: plain data, which a worker can be sent. */
export interface BakedCharacter {
  rig: Rig;
  /** Boxes of the vertices that follow each joint. */
  boxes: JointBoxes;
  /** Parts that clips mirror or flatten. */
  flips: PartFlip[];
  /** How far a morph target at full influence moves a vertex at most, in scene units. */
  morphReach: number;
}

/** What an encoding bakes. */
export interface RigBake extends BakedCharacter {
  planned: readonly PlannedClip[];
  maxTextureSize: number;
  maxError: number;
  precision: Precision;
  /** Whether clips move morph targets. */
  morphs: boolean;
  /** Extracts root motion from clips; null if it is to stay in them. */
  extractor: RootMotionExtractor | null;
}

/** Bakes clips for a character, without looking at the scene it is from. */
export function* bakeRig(
  character: BakedCharacter,
  planned: PlannedClip[],
  { precision = 'float', maxTextureSize = 4096, maxError = 1e-4, rootMotion }: BakeOptions,
  encoding: Encoding,
): Steps<BoneTextureData> {
  const { rig } = character;
  warnOfStillClips(rig, planned);
  yield 0;
  return yield* encoding.bake({
    ...character,
    planned,
    precision,
    maxTextureSize,
    maxError,
    morphs: yield* movesMorphs(rig, planned),
    extractor: rootMotion ? yield* rootMotion.plan(rig, planned) : null,
  });
}
