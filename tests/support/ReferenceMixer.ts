import { type AnimationAction, type AnimationClip, AnimationMixer, type Object3D } from 'three';

/** What three.js's actions keep to themselves. */
interface ActionInternals {
  paused: boolean;
  timeScale: number;
  _startTime: number | null;
  _timeScaleInterpolant: Interpolant | null;
  _update(time: number, deltaTime: number, timeDirection: number, accuIndex: number): void;
  _updateTimeScale(time: number): number;
}

interface Interpolant {
  parameterPositions: ArrayLike<number>;
  sampleValues: ArrayLike<number>;
  resultBuffer: ArrayLike<number>;
}

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
    if (!this.mended.has(action)) mend(action as unknown as ActionInternals);
    this.mended.add(action);
    return action;
  }
}

function mend(action: ActionInternals): void {
  const { _update, _updateTimeScale } = action;
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
}
