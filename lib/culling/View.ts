import type { InstanceList } from './InstanceList.js';

/**
 * Says which instances of a crowd are drawn. With one, shaders ask `instanceIndex()` which instance the drawn index stands
 * for, and all that instances have is read from textures; without one, the drawn index is the instance, and nothing is asked.
 */
export interface View {
  /** How many are drawn: so many of the list. */
  readonly count: number;
  readonly list: InstanceList;
  /** Where in the list the first is; 0 unless it is said. */
  readonly start?: number;
  /** Whether these are simply the first `count` instances, so that the list need not be read, and is not kept up to date. */
  readonly isWhole?: boolean;
  /** Whether there are instances in the list of which only some pixels are drawn. */
  readonly isFading?: boolean;
}

/** Instances that are about to be drawn for a camera, and so have to be posed. */
export interface PoseRequest {
  /** Bit `id & 31` of word `id >> 5`: whether an instance is drawn, if it exists and is visible. */
  readonly seen: Int32Array;
  /** The level of detail of each instance, by id, with `FADING` where it is passing over to the next; null if all are at level 0. */
  readonly levels: Uint8Array | null;
  /** Poses a second at each of these; 0 for one in every frame. */
  readonly poseRates: Float32Array;
  /** Whether any of the rates is another one. */
  readonly hasPoseRates: boolean;
  /** Goes up when any of these changes. */
  readonly version: number;
}
