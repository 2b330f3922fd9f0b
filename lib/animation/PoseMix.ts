/** What an instance shows: one clip, or several that are mixed, the topmost layer first, and of each the one started last. */
export interface PoseMix {
  /** As many as there may be; see `count`. */
  readonly clips: {
    /** First frame of the clip; 0 for the rest pose. */
    start: number;
    /** The frames between which the pose is. */
    frame0: number;
    frame1: number;
    /** How far from `frame0` to `frame1` the pose is, 0 to 1. */
    alpha: number;
    /** The layer that it plays on, 0 for the base. */
    layer: number;
    /** Its share of its layer. If the shares of a layer add up to less than 1, the layer below shows through; under the base, the rest pose. */
    weight: number;
  }[];
  /** How many of the clips are in use. */
  count: number;
  /** The layers that clips may be on, the base first. */
  readonly layers: {
    /** 0 to 1. */
    weight: number;
    /** The same on each node, and behind the nodes on each group of morph targets; null for all of it everywhere. */
    mask: Float32Array | null;
  }[];
}

/** A mix of one clip, which shows the rest pose. */
export function createPoseMix(): PoseMix {
  return { clips: [createPoseClip()], count: 1, layers: [{ weight: 1, mask: null }] };
}

/** The rest pose. */
export function createPoseClip(): PoseMix['clips'][number] {
  return { start: 0, frame0: 0, frame1: 0, alpha: 0, layer: 0, weight: 1 };
}
