import type { BakeAsyncOptions, BakeOptions } from '../baking/BakeOptions.js';
import type { Precision } from '../encodings/BoneTextureData.js';

/** A motion that your code makes: a simulation, a formula, another library's animation. */
export interface VertexMotion {
  /** As `play` takes it. */
  name: string;
  /** Seconds; 0 for a pose. */
  duration: number;
  /** Frames per second for this one. @default that of the bake */
  fps?: number;
  /**
   * Poses the object: writes positions (and normals) of its geometries, moves nodes or bones, sets influences of morph targets.
   * Called once for each frame, in the order of their times, both ends included: a simulation may step from one to the next.
   *
   * @param time Seconds from the start.
   */
  pose(time: number): void;
}

/** How vertices are baked. */
export interface VertexBakeOptions extends Pick<BakeOptions, 'fps' | 'clips' | 'maxTextureSize'> {
  /**
   * Frames per second. Two frames are mixed when drawn; see `measure` for what that makes of a motion.
   * @default 30
   */
  fps?: number;
  /**
   * `'half'`: positions of 16 bits within the box of their frame, off by at most 1/130,000 of each of its sides, so by 1/75,000 of
   * the longest one; 8 bytes a vertex and frame, with the normal. `'float'`: 32 bits, 16 bytes.
   * @default 'half'
   */
  precision?: Precision;
  /**
   * Where normals come from. `'source'`: as three.js would light the object: its own, with skeleton and morph targets.
   * `'computed'`: from the triangles as they are posed, smooth where the object is at rest. `'none'`: they stay as they are at
   * rest, for materials without light or with `flatShading`.
   * @default 'source' with clips, 'computed' for motions of your code
   */
  normals?: 'source' | 'computed' | 'none';
  /** Seconds, where the motion is one function. */
  duration?: number;
  /** Name of the clip, where the motion is one function. @default 'Motion' */
  name?: string;
  /**
   * Whether to pose the object between frames too, to find out how far the mix of two frames is from it, see
   * `VertexTexture.errors`. Takes twice as long. Motions of your code are then asked for times between frames too.
   * @default false
   */
  measure?: boolean;
}

/** {@link VertexBakeOptions}, and options for baking in slices. */
export interface VertexBakeAsyncOptions
  extends VertexBakeOptions,
    Pick<BakeAsyncOptions, 'onProgress' | 'signal'> {}
