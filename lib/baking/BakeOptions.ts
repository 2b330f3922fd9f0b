import type { AnimationClip } from 'three';
import type { BoneTextureData, EncodingName, Precision } from '../animation/BoneTextureData.js';
import type { JointBoxes } from '../animation/jointBoxes.js';
import type { PoseSource } from '../animation/PoseSource.js';
import type { PartFlip, Rig } from '../animation/Rig.js';
import type { SliceOptions, Steps } from '../utils/slices.js';
import type { BoundClip } from './channels.js';
import type { ClipChoice, PlannedClip } from './planClips.js';
import type { RigPoser } from './RigPoser.js';
import type { RootMotion, RootMotionExtractor } from './rootMotion.js';

/** What to bake, how finely, and how to store it. */
export interface BakeOptions {
  /**
   * Frames per second with encoding `frames`. They are mixed when drawn, so 30 looks smooth and 15 often does. Tracks are
   * stored at the frame rate that their keys were made at instead.
   * @default 30
   */
  fps?: number;
  /**
   * Which clips to bake, in this order: the clips or their names, or each with a name and fps of its own. By default all of
   * them.
   */
  clips?: readonly (string | AnimationClip | ClipChoice)[];
  /**
   * By default clips are baked into tracks, which keep their own keys: poses are exact at any time and in any fade, vertices cost
   * less, and each instance is posed once a frame in a pass of its own. `frames` stores skinning matrices frame by frame, which each
   * vertex mixes: for very small geometries, and for what tracks cannot hold.
   */
  encoding?: Encoding;
  /**
   * `'half'` takes half the memory, at an error of about a thousandth of the character's height; of tracks, whose keys are then
   * whole numbers of 16 bits, of a ten-thousandth.
   * @default 'float'
   */
  precision?: Precision;
  /**
   * Of tracks, the largest error of clips that have to be sampled (splines, Euler angles, keys that fit no
   * frame rate), as a share of the character's size.
   * @default 1e-4
   */
  maxError?: number;
  /**
   * Largest width and height of the texture. Devices take at least 2,048, nearly all 4,096, desktops 16,384
   * (`renderer.capabilities.maxTextureSize`).
   * @default 4096
   */
  maxTextureSize?: number;
  /**
   * `extractRootMotion()` takes the way over the ground out of clips that move away from where they begin: they then play on the spot,
   * and `applyRootMotion` moves the instances instead.
   */
  rootMotion?: RootMotion;
  /**
   * Names of nodes that no vertex follows, but that objects shall be attached to, see `SkinnedInstancedMesh.attach`. Joints
   * need not be named.
   * @default []
   */
  sockets?: readonly string[];
  /**
   * Which bones of skinned meshes become joints: all of them, or those that a vertex follows. The others then cost neither memory
   * nor time in posing; to attach something to one of them, name it in `sockets`. A geometry of your own
   * names joints by their number among all.
   * @default 'all'
   */
  joints?: 'all' | 'used';
  /**
   * Whether to keep morph targets. Each of them costs every vertex a little; a crowd that is seen from afar needs no faces.
   * @default true
   */
  morphTargets?: boolean;
}

/** {@link BakeOptions}, and options for baking in slices. */
export interface BakeAsyncOptions extends BakeOptions, SliceOptions {}

/** How poses are stored, read and drawn: tracks, which is the default, or `frames`, which is passed in. */
export interface Encoding {
  /** As files and {@link BoneTextureData} have it. */
  readonly name: EncodingName;
  /** What poses crowds by it. */
  readonly poseSource: PoseSource;
  /**
   * Finds parts that clips mirror or flatten.
   *
   * @throws If there are any and it cannot hold them.
   * @internal
   */
  findFlips(poser: RigPoser, clips: readonly PlannedClip[]): Steps<PartFlip[]>;
  /** @internal */
  bake(bake: RigBake): Steps<Poses>;
}

/** The part of a bone texture's data that depends on its encoding. */
export type Poses = Pick<
  BoneTextureData,
  'texels' | 'layout' | 'frames' | 'clips' | 'restBounds' | 'tracks' | 'jointParents'
>;

/** What baking knows of a character. */
export interface BakedCharacter {
  rig: Rig;
  /** Boxes of the vertices that follow each joint. */
  boxes: JointBoxes;
  /** Parts that clips mirror or flatten. */
  flips: PartFlip[];
  /** Joints below nodes that are scaled unevenly. */
  unevenJoints: number[];
  collected: BoneTextureData['collected'];
}

/** What an encoding bakes. */
export interface RigBake extends Pick<BakedCharacter, 'boxes'> {
  poser: RigPoser;
  clips: readonly (PlannedClip & BoundClip)[];
  maxTextureSize: number;
  maxError: number;
  precision: Precision;
  /** Those that clips move. */
  morphNames: string[];
  /** Extracts root motion from clips; null if it is to stay in them. */
  extractor: RootMotionExtractor | null;
}
