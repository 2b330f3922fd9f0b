/** A part whose mesh clips mirror or flatten, which needs joints that other parts do not share. */
export interface PartFlip {
  /** Index of the part. */
  part: number;
  /** Parts of one group are mirrored and flattened together, so that they may share joints with each other. */
  group: number;
  /** Whether a clip mirrors what is not mirrored at rest, or the other way round. */
  mirrored: boolean;
}
