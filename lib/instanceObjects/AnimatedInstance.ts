import type { ClipReference } from '../poses/ClipTable.js';
import type { InstanceAction } from './InstanceAction.js';
import { type ActionOptions, InstanceMixer } from './InstanceMixer.js';
import { PlacedInstance } from './PlacedInstance.js';

/** An instance that plays clips as an object with an `AnimationMixer` does: it is its own mixer. */
export abstract class AnimatedInstance extends PlacedInstance {
  private ownMixer: InstanceMixer<this> | null = null;

  /** All that an `AnimationMixer` has; most of it stands below, too. */
  get mixer(): InstanceMixer<this> {
    this.ownMixer ??= new InstanceMixer<this>(this.crowd.crowd, this);
    return this.ownMixer;
  }

  /**
   * The action of a clip, as `mixer.clipAction(clip)` of three.js gives it: the same one each time. While an instance has actions
   * that are played, they alone say what it plays on their layers; `crowd.play` and the like, called with its `instanceId`, end
   * them and go on from what they show.
   *
   * @param clip The `AnimationClip` that was baked, which is found by its name, or a name, or an index.
   * @param options On which `layer` it plays.
   * @throws If there is no such clip or layer, or the bone texture's encoding is not `'tracks'`.
   */
  clipAction(clip: ClipReference, options?: ActionOptions): InstanceAction<this> {
    return this.mixer.clipAction(clip, options);
  }

  /** The action of a clip; null if `clipAction` has not made it. */
  existingAction(clip: ClipReference, options?: ActionOptions): InstanceAction<this> | null {
    return this.ownMixer?.existingAction(clip, options) ?? null;
  }

  /** Stops all actions, at once. */
  stopAllAction(): this {
    this.ownMixer?.stopAllAction();
    return this;
  }

  /** Stops the action of a clip, and forgets it. */
  uncacheAction(clip: ClipReference, options?: ActionOptions): void {
    this.ownMixer?.uncacheAction(clip, options);
  }

  /** Stops the actions of a clip on all layers, and forgets them. */
  uncacheClip(clip: ClipReference): void {
    this.ownMixer?.uncacheClip(clip);
  }

  /**
   * How fast time passes for the actions, their fades and warps: 1 as for the crowd, 0 holds them, negative runs them back.
   *
   * @default 1
   */
  get timeScale(): number {
    return this.ownMixer?.timeScale ?? 1;
  }

  /** Counts from now on. */
  set timeScale(value: number) {
    this.mixer.timeScale = value;
  }

  /** Seconds that have passed for the actions, by which `InstanceAction.startAt` counts. */
  get time(): number {
    return this.mixer.time;
  }

  /** Fades, warps and starts that are under way keep their times, as in three.js. */
  set time(value: number) {
    this.mixer.time = value;
  }

  /** Puts time and all actions back to 0, then advances them by so many seconds. */
  setTime(time: number): this {
    this.mixer.setTime(time);
    return this;
  }
}
