import type { Camera, Material, WebGLRenderer } from 'three';
import type { DrawnCrowd } from '../../core/Crowd.js';
import type { PoseRequest } from '../../culling/InstanceList.js';

/** What a crowd is drawn for: a picture, or a shadow map. */
export interface Draw {
  renderer: WebGLRenderer;
  camera: Camera;
  /** The camera that decides on levels of detail, and on who is near. */
  lodCamera: Camera;
  /** Null for a shadow map. */
  material: Material | null;
}

/** The crowds that were drawn in the last frame of a scene, or draw in the one that has begun. */
export type DrawnTogether = Set<DrawnCrowd> & { frame: number };

const known = /*@__PURE__*/ new WeakMap<
  DrawnCrowd,
  {
    /** The variants that materials were last patched for; null before the first time. */
    codes: { color: number; shadow: number } | null;
    /** Who drew the crowd last, so that its poses can be ready before the frame's first shadow map. */
    renderer: WeakRef<WebGLRenderer> | null;
    /** The last frame that began with it; -1 if it is drawn no more. */
    frame: number;
    /** Whether several renderers draw the crowd: then it is not known who is about to. */
    shared: boolean;
    /** Whether a view may say which instances are drawn. */
    viewed: boolean;
    /** Which instances are posed; null for all. */
    requested: readonly PoseRequest[] | null;
    /** The view of the camera that draws. */
    readonly looked: PoseRequest[];
    /**
     * Draws that have begun and have not ended yet: more than one while a hook of the user's renders the crowd once more, in the
     * middle of a draw.
     */
    readonly draws: Draw[];
  }
>();

export function drawStateOf(crowd: DrawnCrowd) {
  let drawn = known.get(crowd);
  if (drawn === undefined) {
    drawn = {
      codes: null,
      renderer: null,
      frame: -1,
      shared: false,
      viewed: false,
      requested: null,
      looked: [],
      draws: [],
    };
    known.set(crowd, drawn);
  }
  return drawn;
}
