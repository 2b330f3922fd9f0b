import { type AnimationAction, type AnimationClip, AnimationMixer } from 'three';

/** What three.js's actions keep to themselves. */
interface ActionInternals {
  time: number;
  paused: boolean;
  timeScale: number;
  _startTime: number | null;
  _timeScaleInterpolant: Interpolant | null;
  _update(time: number, deltaTime: number, timeDirection: number, accuIndex: number): void;
  _updateTimeScale(time: number): number;
  _updateTime(deltaTime: number): number;
}

/** Seconds of a clip that are lost in sums of its ways. */
const ROUNDING = 1e-12;

interface Interpolant {
  parameterPositions: ArrayLike<number>;
  sampleValues: ArrayLike<number>;
}

/**
 * three.js's own AnimationMixer, but that a warp's speed counts as it is on average in an update: three.js takes that of its end,
 * so that the result depends on the frame rate.
 */
export class ReferenceMixer extends AnimationMixer {
  private readonly mended = new Set<AnimationAction>();

  override clipAction(clip: AnimationClip): AnimationAction {
    const action = super.clipAction(clip);
    if (!this.mended.has(action)) mend(action as unknown as ActionInternals);
    this.mended.add(action);
    return action;
  }
}

function mend(action: ActionInternals): void {
  const { _update, _updateTime, _updateTimeScale } = action;
  let begin = 0;
  let way: number | null = null;
  action._update = (time, deltaTime, direction, accuIndex) => {
    const start = action._startTime;
    const isReached = start !== null && direction !== 0 && (time - start) * direction >= 0;
    begin = start === null ? time - deltaTime : isReached ? start : time;
    _update.call(action, time, deltaTime, direction, accuIndex);
  };
  action._updateTimeScale = (time) => {
    const { paused, timeScale, _timeScaleInterpolant: warp } = action;
    const [start, end] = warp?.parameterPositions ? Array.from(warp.parameterPositions) : [0, 0];
    const [from, to] = warp?.sampleValues ? Array.from(warp.sampleValues) : [0, 0];
    const last = _updateTimeScale.call(action, time);
    way = null;
    if (paused || warp === null || time === begin) return last;
    const value = (at: number) => {
      if (at <= start || at >= end) return at < end ? from : to;
      return from + ((to - from) * (at - start)) / (end - start);
    };
    // Between these the speed changes evenly, so that in the middle it is what it is on average.
    const places = [begin, start, end, time].filter(
      (at) => at >= Math.min(begin, time) && at <= Math.max(begin, time),
    );
    places.sort((a, b) => (a - b) * Math.sign(time - begin));
    let sum = 0;
    for (let i = 1; i < places.length; i++) {
      const middle = (places[i - 1] + places[i]) / 2;
      const speed = time > end && middle > end ? last : timeScale * value(middle);
      sum += (places[i] - places[i - 1]) * speed;
    }
    // Back where the clip began, less than that is rounding, and no pass before it.
    way = Math.abs(action.time + sum) < ROUNDING ? -action.time : sum;
    return last;
  };
  action._updateTime = (deltaTime) => _updateTime.call(action, way ?? deltaTime);
}
