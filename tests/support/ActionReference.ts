import {
  type AnimationAction,
  type AnimationActionLoopStyles,
  AnimationClip,
  AnimationMixer,
  LoopOnce,
  LoopPingPong,
  NumberKeyframeTrack,
  Object3D,
} from 'three';
import { REST_X } from './stick.js';

/** How a clip is played, by both sides. */
export interface Played {
  clip: number;
  loop: AnimationActionLoopStyles;
  repetitions: number;
  clampWhenFinished: boolean;
  timeScale: number;
  time: number;
}

/** Where the one mark of each clip is, as a share of its duration. */
export const MARK = 0.3717;

/** Passes of one update of which marks are dispatched, besides the one that it began in; see the guide. */
const MARKED_PASSES = 8;

/** What an AnimationAction keeps to itself; the tests need it to say where three.js depends on the frame rate. */
interface Counted {
  _loopCount: number;
}

/** One instance as three.js plays it: an AnimationAction that moves one number with the time. */
export class ActionReference {
  readonly target = new Object3D();
  readonly mixer = new AnimationMixer(this.target);
  readonly clips: AnimationClip[];
  action: AnimationAction | null = null;
  played: Played | null = null;
  finished = false;
  /** What the last update dispatched. */
  loops = 0;
  direction = 0;
  /** Directions in which the last update ran past the mark. three.js has none: they follow from its times and passes. */
  marks: number[] = [];
  /** Whether the last update held the clip: it was paused, at time scale 0, or no time passed. */
  held = true;

  constructor(durations: readonly number[]) {
    this.target.position.x = REST_X;
    this.clips = durations.map(
      (duration, i) =>
        new AnimationClip(`${i}`, duration, [
          new NumberKeyframeTrack('.position[x]', [0, duration], [0, duration]),
        ]),
    );
    this.mixer.addEventListener('loop', ({ loopDelta }) => (this.loops += loopDelta));
    this.mixer.addEventListener('finished', ({ direction }) => {
      this.direction = direction;
      this.finished = true;
    });
  }

  get duration(): number {
    return this.action?.getClip().duration ?? 0;
  }

  get loopCount(): number {
    return (this.action as unknown as Counted)._loopCount;
  }

  play(played: Played): void {
    this.mixer.stopAllAction();
    const action = this.mixer.clipAction(this.clips[played.clip]).reset();
    action.setLoop(played.loop, played.repetitions);
    action.clampWhenFinished = played.clampWhenFinished;
    action.timeScale = played.timeScale;
    action.time = played.time;
    action.play();
    this.action = action;
    this.played = played;
    this.finished = false;
  }

  stop(): void {
    this.mixer.stopAllAction();
    this.action = null;
    this.finished = false;
  }

  /** Sets the time; a clip that has finished runs its last pass again, which in three.js takes three assignments. */
  setTime(time: number): void {
    if (this.action === null) return;
    this.action.time = time;
    if (!this.finished) return;
    this.action.paused = false;
    this.action.enabled = true;
    this.finished = false;
  }

  update(delta: number): void {
    this.loops = 0;
    this.direction = 0;
    this.marks = [];
    const { action } = this;
    if (action === null) {
      this.mixer.update(delta);
      return;
    }
    const moved = action.isRunning() ? delta * action.timeScale : 0;
    const before = this.loopCount;
    this.held = moved === 0;
    if (!this.held) this.findMarks(action, moved);
    this.mixer.update(delta);
    const counted = action as unknown as Counted;
    // When a clip finishes, three.js keeps the number of the pass that the frame began in, by which a ping-pong shows its
    // end and a clip whose time is set goes on. With short frames that is the last pass; so it shall be with a long one.
    if (this.direction !== 0 && action.loop !== LoopOnce) {
      const first = moved > 0 ? Math.max(before, 0) : before;
      counted._loopCount = Math.max(Math.ceil(action.repetitions) - 1, first);
    }
  }

  /** Runs through the passes of an update, one after the other, from where the action is. */
  private findMarks(action: AnimationAction, moved: number): void {
    const { duration } = this;
    const reverse = moved < 0;
    const first = reverse ? this.loopCount : Math.max(this.loopCount, 0);
    const last = action.loop === LoopOnce ? first : Math.max(Math.ceil(action.repetitions) - 1, first);
    // a time that was set beyond the end lies in a later pass
    const lengths = reverse
      ? Math.min(Math.floor(action.time / duration), 0)
      : Math.floor(action.time / duration);
    let pass = first + Math.abs(lengths);
    let time = action.time - lengths * duration;
    // One that stands right at the end of a pass began in that one.
    const began = lengths > 0 && time === 0 ? pass - 1 : pass;
    const found: { pass: number; direction: number }[] = [];
    for (let left = Math.abs(moved); pass <= last; pass++) {
      const mirrored = action.loop === LoopPingPong && pass % 2 !== 0;
      const place = duration * (mirrored ? 1 - MARK : MARK);
      const ahead = reverse ? time - place : place - time;
      if (ahead >= 0 && ahead <= left) found.push({ pass, direction: reverse !== mirrored ? -1 : 1 });
      const toEnd = reverse ? time : duration - time;
      if (left <= toEnd) break;
      left -= toEnd;
      time = reverse ? duration : 0;
    }
    this.marks = found
      .filter((mark) => mark.pass === began || mark.pass >= pass - MARKED_PASSES)
      .map(({ direction }) => direction);
  }

  /** Whether the pose can be compared after the last update. */
  get comparesPose(): boolean {
    const { action, duration } = this;
    if (action === null) return true;
    if (action.loop === LoopPingPong) {
      // In the update in which a ping-pong finishes, three.js shows the other end, for that one frame.
      if (this.direction !== 0) return false;
      // One that began in reverse is mirrored while it runs and is not while it is held, so that three.js jumps.
      if (this.held && this.loopCount === -1 && !this.finished) return false;
    }
    // Where a pass ends and the next begins, both ends of the clip are right.
    return this.finished || Math.min(action.time, duration - action.time) > 1e-5;
  }
}
