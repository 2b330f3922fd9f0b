import type { BakedCharacter, BakeOptions } from '../baking/BakeOptions.js';
import type { RootMotionOptions } from '../baking/rootMotion.js';
import type { BoneTextureData, EncodingName } from '../encodings/BoneTextureData.js';
import type { OwnedFloats } from '../utils/ownedArrays.js';

/** A clip as a worker is sent it. Tracks are columns of arrays: an object for each would take longer to send. */
export interface SentClip {
  /** Of the `AnimationClip`. */
  name: string;
  duration: number;
  blendMode: number;
  /** Of the `PlannedClip`. */
  bakedName: string;
  start: number;
  count: number;
  /** What all arrays of keys hold that are `Float32Array`s, one after another. */
  numbers: OwnedFloats;
  /** The arrays of keys: how long each is among the numbers; or the array itself, if it is of another kind. */
  arrays: (number | ArrayLike<unknown>)[];
  trackNames: string[];
  /** How each track is played, see `kindOf`. */
  kinds: Uint8Array;
  /** Which arrays each track has: four numbers a track, for times, values, and tangents in and out; -1 for none. */
  arraysOf: Int32Array;
}

/** What a worker is sent: the clips, one by one, then what to do with them. */
export type ToWorker =
  | { kind: 'clip'; clip: SentClip }
  | {
      kind: 'bake';
      character: BakedCharacter;
      values: Pick<BakeOptions, 'precision' | 'maxTextureSize' | 'maxError'>;
      rootMotion: RootMotionOptions | null;
      encoding: EncodingName;
    };

/** How a worker's baking ends, and what it warns of. */
export type Outcome = ({ kind: 'data'; data: BoneTextureData } | { kind: 'error'; error: unknown }) & {
  /** Texts, and whether each is to be shown but once. */
  warnings: { text: string; once: boolean }[];
};

/** What a worker answers. */
export type FromWorker = { kind: 'progress'; share: number } | Outcome;
