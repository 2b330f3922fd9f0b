import {
  type AnimationAction,
  type AnimationClip,
  AnimationMixer,
  LoopOnce,
  type Object3D,
  REVISION,
} from 'three';

/** What three.js's actions keep to themselves. */
interface ActionInternals {
  paused: boolean;
  timeScale: number;
  loop: number;
  _loopCount: number;
  _startTime: number | null;
  _timeScaleInterpolant: Interpolant | null;
  _effectiveTimeScale: number;
  _restoreTimeScale?: number | null;
  crossFadeFrom(other: ActionInternals, duration: number, warp: boolean): unknown;
  stopWarping(): unknown;
  _update(time: number, deltaTime: number, timeDirection: number, accuIndex: number): void;
  _updateTimeScale(time: number): number;
  _updateTime(deltaTime: number): number;
}

interface Interpolant {
  parameterPositions: ArrayLike<number>;
  sampleValues: ArrayLike<number>;
  resultBuffer: ArrayLike<number>;
}

/** Before 0.187 three.js counted a first pass forward only when it had ended. */
const COUNTS_LATE = Number(REVISION) < 187;

/**
 * three.js's own AnimationMixer, but for two things that have no bound of their own by which to compare: it keeps fades and warps
 * in doubles, where three.js has float32, and a warp's speed counts as it is on average in an update, where three.js takes
 * that of its end, so that the result depends on the frame rate.
 */
export class ReferenceMixer extends AnimationMixer {
  private readonly mended = new Set<AnimationAction>();

  constructor(root: Object3D) {
    super(root);
    const internals = this as unknown as { _lendControlInterpolant(): Interpolant };
    const lend = internals._lendControlInterpolant;
    internals._lendControlInterpolant = () => {
      const interpolant = lend.call(this);
      interpolant.parameterPositions = new Float64Array(2);
      interpolant.sampleValues = new Float64Array(2);
      interpolant.resultBuffer = new Float64Array(1);
      return interpolant;
    };
  }

  override clipAction(clip: AnimationClip): AnimationAction {
    const action = super.clipAction(clip);
    if (!this.mended.has(action)) {
      const internals = action as unknown as ActionInternals;
      if (!('_restoreTimeScale' in internals)) restoreTimeScales(internals);
      mend(internals);
    }
    this.mended.add(action);
    return action;
  }
}

/** The oldest three.js leaves actions at the speed that a cross-fade's warp came to; newer ones put back what it was before. */
function restoreTimeScales(action: ActionInternals): void {
  const { crossFadeFrom, stopWarping, _updateTimeScale } = action;
  action._restoreTimeScale = null;
  action.crossFadeFrom = (other, duration, warp) => {
    if (warp) for (const one of [other, action]) one._restoreTimeScale = one.timeScale;
    return crossFadeFrom.call(action, other, duration, warp);
  };
  action.stopWarping = () => {
    action._restoreTimeScale = null;
    return stopWarping.call(action);
  };
  action._updateTimeScale = (time) => {
    const { _restoreTimeScale: restored, _timeScaleInterpolant: warp } = action;
    const scale = _updateTimeScale.call(action, time);
    if (warp === null || action._timeScaleInterpolant !== null || scale === 0) return scale;
    if (restored === null || restored === undefined) return scale;
    action._effectiveTimeScale = action.timeScale = restored;
    return restored;
  };
}

function mend(action: ActionInternals): void {
  const { _update, _updateTimeScale, _updateTime } = action;
  let begin = 0;
  action._update = (time, deltaTime, direction, accuIndex) => {
    begin = time - deltaTime;
    const start = action._startTime;
    if (start !== null && direction !== 0 && (time - start) * direction >= 0) begin = start;
    _update.call(action, time, deltaTime, direction, accuIndex);
  };
  action._updateTimeScale = (time) => {
    const { paused, timeScale, _timeScaleInterpolant: warp } = action;
    const [start, end] = warp?.parameterPositions ? Array.from(warp.parameterPositions) : [0, 0];
    const [from, to] = warp?.sampleValues ? Array.from(warp.sampleValues) : [0, 0];
    const last = _updateTimeScale.call(action, time);
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
    return sum / (time - begin);
  };
  action._updateTime = (deltaTime) => {
    const before = action._loopCount;
    const time = _updateTime.call(action, deltaTime);
    if (
      COUNTS_LATE &&
      deltaTime > 0 &&
      before === -1 &&
      action._loopCount === -1 &&
      action.loop !== LoopOnce
    ) {
      action._loopCount = 0;
    }
    return time;
  };
}
