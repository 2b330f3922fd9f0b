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

/** What is baked, how finely, and how it is written. */
export interface BakeOptions {
  /**
   * Frames per second. Frames are mixed when drawn, so 30 looks smooth and 15 often does.
   * @default 30
   */
  fps?: number;
  /** Which clips to bake, in this order, by name or with a name and fps of their own. By default all of them. */
  clips?: readonly (string | ClipChoice)[];
  /**
   * `'matrix'` holds any transform in 3 texels a joint; `'quaternion'` holds rotation, translation and uniform scale in
   * 2. `'auto'` takes quaternions where every joint allows it. `'tracks'` keeps the clips' own keys: poses are exact at any
   * time and in any fade, vertices cost less, and each instance is posed once a frame in a pass of its own.
   * @default 'auto'
   */
  encoding?: EncodingName | 'auto';
  /**
   * `'half'` takes half the memory, at an error of about a thousandth of the character's height.
   * @default 'float'
   */
  precision?: Precision;
  /**
   * With encoding `'tracks'`, how far clips may be off that cannot be kept as they are (splines, Euler angles, keys at odd
   * times), as a share of the character's size.
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
   * Takes the way over the ground out of clips that leave their place, so that they play on the spot and
   * `SkinnedInstancedMesh.applyRootMotion` can move the instances instead.
   * @default false
   */
  rootMotion?: boolean | RootMotionOptions;
  /**
   * Names of nodes that no vertex follows, but that objects may be attached to, see `SkinnedInstancedMesh.attach`; joints
   * need not be named.
   * @default []
   */
  sockets?: readonly string[];
  /**
   * Whether morph targets are taken along, which cost every vertex a little for each of them; a crowd that is seen from
   * afar needs no faces.
   * @default true
   */
  morphTargets?: boolean;
}

/** {@link BakeOptions} and what goes with taking time. */
export interface BakeAsyncOptions extends BakeOptions {
  /** Called between slices with the share that is done, 0 to 1. */
  onProgress?: (progress: number) => void;
  /** Stops the work; the promise then rejects with the signal's reason. */
  signal?: AbortSignal;
}
