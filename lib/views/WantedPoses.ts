/** Instances that are about to be drawn for a camera, and so have to be posed. */
export interface WantedPoses {
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
