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
  /** Its share of the pose; the shares of all layers add up to 1. */
  weight: number;
}

/** What an instance shows: one clip, or two or three while they fade into each other, the one started last first. */
export interface PoseMix {
  readonly layers: readonly [PoseLayer, PoseLayer, PoseLayer];
  /** How many of the layers are in use. */
  count: number;
}

/** A mix of one layer, which shows the rest pose. */
export function createPoseMix(): PoseMix {
  const layer = (weight: number): PoseLayer => ({ start: 0, frame0: 0, frame1: 0, alpha: 0, weight });
  return { layers: [layer(1), layer(0), layer(0)], count: 1 };
}
