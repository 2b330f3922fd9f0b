import type { WebGPURenderer } from 'three/webgpu';
import type { DrawnCrowd } from '../../core/Crowd.js';
import type { NodePoses } from './NodePoses.js';
import { computeWaiting } from './PoseSteps.js';

const known = /*@__PURE__*/ new WeakMap<
  WebGPURenderer,
  {
    frame: number;
    /** Frames in which anything was drawn. */
    turn: number;
    readonly poses: NodePoses[];
    readonly crowds: DrawnCrowd[];
  }
>();

/**
 * Poses all crowds that were drawn in the frame before, at the first draw of a frame, in one submission. Call it before each draw.
 *
 * @param poseExpected Has those of one crowd wait, see `wait`.
 */
export function poseAhead(
  renderer: WebGPURenderer,
  poses: NodePoses,
  crowd: DrawnCrowd,
  poseExpected: (renderer: WebGPURenderer, poses: NodePoses, crowd: DrawnCrowd) => void,
): void {
  let drawn = known.get(renderer);
  if (drawn === undefined) {
    drawn = { frame: -1, turn: 0, poses: [], crowds: [] };
    known.set(renderer, drawn);
  }
  const { frame } = renderer.info;
  if (frame !== drawn.frame) {
    drawn.frame = frame;
    dropOthers(drawn, drawn.turn++);
    try {
      for (let i = 0; i < drawn.poses.length; i++) poseExpected(renderer, drawn.poses[i], drawn.crowds[i]);
    } finally {
      computeWaiting(renderer);
    }
  }
  if (poses.turn < 0) {
    drawn.poses.push(poses);
    drawn.crowds.push(crowd);
  }
  poses.turn = drawn.turn;
}

/** Drops what was not drawn in a frame. */
function dropOthers(
  { poses, crowds }: { readonly poses: NodePoses[]; readonly crowds: DrawnCrowd[] },
  turn: number,
): void {
  let kept = 0;
  for (let i = 0; i < poses.length; i++) {
    if (poses[i].turn !== turn) {
      poses[i].turn = -1;
      continue;
    }
    poses[kept] = poses[i];
    crowds[kept++] = crowds[i];
  }
  if (kept !== poses.length) poses.length = crowds.length = kept;
}
