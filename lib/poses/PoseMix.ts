/** Two frames of a bone texture and how far the pose is from the first to the second, 0 to 1. */
export interface FrameMix {
  /** First frame of the clip; 0 for the rest pose. */
  start: number;
  frame0: number;
  frame1: number;
  alpha: number;
}

/** One clip's part in a pose. */
export interface PoseLayer extends FrameMix {
  /** Share of the pose; those of all layers add up to 1. */
  weight: number;
}

/** What an instance shows: one layer, or while clips fade into each other two or three, the newest first. */
export interface PoseMix {
  readonly layers: readonly [PoseLayer, PoseLayer, PoseLayer];
  /** How many of the layers are in use. */
  count: number;
}

/** A pose of one layer that shows the rest pose. */
export function createPoseMix(): PoseMix {
  const layer = (weight: number): PoseLayer => ({ start: 0, frame0: 0, frame1: 0, alpha: 0, weight });
  return { layers: [layer(1), layer(0), layer(0)], count: 1 };
}
