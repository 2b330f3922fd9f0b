import type { AnimationClip } from 'three';
import type { Precision } from '../encodings/BoneTextureData.js';
import type { EncodingName } from '../encodings/Encoding.js';
import type { RootMotionOptions } from '../poses/RootMotion.js';

/** One clip to bake, and how it differs from the others. */
export interface ClipChoice {
  /** The clip, or its name. */
  clip: AnimationClip | string;
  /** Name in the bone texture; by default the clip's own. */
  name?: string;
  /** Frames per second for this clip. */
  fps?: number;
}

/** What to bake, how finely, and how to store it. */
export interface BakeOptions {
  /**
   * Frames per second of skinning matrices. Frames are mixed when drawn, so 30 looks smooth and 15 often does. Tracks are
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
   * `'tracks'` keeps the clips' own keys: poses are exact at any time and in any fade, vertices cost less, and each instance
   * is posed once a frame in a pass of its own. `'quaternion'` and `'matrix'` store skinning matrices frame by frame, which
   * each vertex mixes: rotation, translation and uniform scale in 2 texels a joint, or any transform in 3. `'auto'` takes
   * tracks where they can hold the character and it has at least eight vertices for each joint; else quaternions if every
   * joint allows it, and matrices if not.
   * @default 'auto'
   */
  encoding?: EncodingName | 'auto';
  /**
   * `'half'` takes half the memory, at an error of about a thousandth of the character's height; with encoding `'tracks'`,
   * where keys are whole numbers of 16 bits, of a ten-thousandth.
   * @default 'float'
   */
  precision?: Precision;
  /**
   * With encoding `'tracks'`, the largest error of clips that have to be sampled (splines, Euler angles, keys that fit no
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
   * For how many instances it is, if that is known; `SkinnedInstancedMesh.from` says so. With encoding `'auto'`, crowds of
   * more than a million joints are not baked into tracks, whose matrices would take more than 100 MB.
   * @default 0
   */
  instances?: number;
  /**
   * Extracts the way over the ground from clips that move away from where they begin: they then play on the spot, and
   * `SkinnedInstancedMesh.applyRootMotion` moves the instances instead.
   * @default false
   */
  rootMotion?: boolean | RootMotionOptions;
  /**
   * Names of nodes that no vertex follows, but that objects shall be attached to, see `SkinnedInstancedMesh.attach`. Joints
   * need not be named.
   * @default []
   */
  sockets?: readonly string[];
  /**
   * Which bones of skinned meshes become joints: all of them, or those that a vertex follows. The others then cost neither memory
   * nor time in posing; to attach something to one of them, name it in `sockets`. For crowds made by `SkinnedInstancedMesh.from`:
   * a geometry that is passed to the constructor names joints by their number among all.
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
export interface BakeAsyncOptions extends BakeOptions {
  /** Called between two slices with the share that is done, 0 to 1. */
  onProgress?: (progress: number) => void;
  /** Stops the work; the promise then rejects with the signal's reason. */
  signal?: AbortSignal;
}
