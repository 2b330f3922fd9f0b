/** A part whose mesh is mirrored or flattened by a clip, and therefore needs joints that other parts do not share. */
export interface PartFlip {
  /** Index of the part. */
  part: number;
  /** Parts with the same number are mirrored and flattened together, and may share joints with each other. */
  group: number;
  /** Whether a clip mirrors the part where the rest pose does not, or the other way round. */
  mirrored: boolean;
}
