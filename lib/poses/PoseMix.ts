/** A pose between two frames of a bone texture. */
export interface FrameMix {
  /** First frame of the clip; 0 for the rest pose. */
  start: number;
  frame0: number;
  frame1: number;
  /** How far from `frame0` to `frame1` the pose is, 0 to 1. */
  alpha: number;
}

/** One clip's part in a pose. */
export interface PoseLayer extends FrameMix {
  /** Its share of the pose. What all of them leave of 1 is the rest pose. */
  weight: number;
}

/** What an instance shows: one clip, or several that are mixed, the one started last first. */
export interface PoseMix {
  /** As many as there may be; see `count`. */
  readonly layers: readonly PoseLayer[];
  /** How many of the layers are in use. */
  count: number;
}

/** Clips that a pose may be mixed of. */
const MAX_CLIPS = 4;

/** A mix of one layer, which shows the rest pose. */
export function createPoseMix(): PoseMix {
  const layers = Array.from({ length: MAX_CLIPS }, (_, i) => ({
    start: 0,
    frame0: 0,
    frame1: 0,
    alpha: 0,
    weight: i === 0 ? 1 : 0,
  }));
  return { layers, count: 1 };
}
