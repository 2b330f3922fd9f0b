import type { AnimationClip } from 'three';
import type { BakedClip } from '../poses/ClipTable.js';
import { type ActionReport, ActionState } from './ActionState.js';

/** An action of an instance: which clip it plays on which layer, and where it is in it. */
export class PlayedAction extends ActionState {
  /** Seconds since the crowd's beginning at which it was started, or its time was set. */
  begun = 0;
  /** How many updates of the crowd it has seen. */
  updates = 0;
  /** Told of what happens to it. */
  report: (what: ActionReport) => void = ignore;

  /**
   * @param clip Another one of the same name when the crowd has another bone texture.
   * @param source What was passed for it.
   * @param layer Number of the layer.
   */
  constructor(
    public clip: BakedClip,
    readonly source: AnimationClip | BakedClip,
    readonly layer: number,
  ) {
    super(clip.duration);
  }

  /** Goes on in another baking of the clip. */
  setClip(clip: BakedClip): void {
    this.clip = clip;
    this.duration = clip.duration;
  }

  /** Goes to a place of the clip; a marker right there is still to come. */
  beginAt(time: number, elapsed: number): void {
    this.time = time;
    this.begun = elapsed;
  }
}

function ignore(): void {}
