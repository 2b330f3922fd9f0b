import type { Matrix4, Object3D } from 'three';
import type { Crowd } from '../core/Crowd.js';
import { rootOf } from '../core/drawnCrowds.js';
import { warnOnce } from '../utils/messages.js';

/** Whether a matrix mirrors nothing, and has finite numbers. */
export function isPlain(m: readonly number[]): boolean {
  const determinant =
    m[0] * (m[5] * m[10] - m[6] * m[9]) -
    m[4] * (m[1] * m[10] - m[2] * m[9]) +
    m[8] * (m[1] * m[6] - m[2] * m[5]);
  const sum = determinant + m[3] + m[7] + m[11] + m[12] + m[13] + m[14] + m[15];
  return determinant >= 0 && sum - sum === 0;
}

/** Whether a matrix has finite numbers. Warns if it mirrors. */
export function isFinitePlace(elements: readonly number[]): boolean {
  if (isPlain(elements)) return true;
  if (!elements.every(Number.isFinite)) return false;
  warnOnce(
    `SkinnedInstancedMesh: a matrix mirrors, so its instance is drawn inside out; put mirrored instances in a crowd of their own whose scale.x is -1.`,
  );
  return true;
}

/** @throws If a matrix would be drawn as garbage. */
export function checkMatrix({ elements }: Matrix4): void {
  if (isFinitePlace(elements)) return;
  throw new Error(`The matrix is ${elements.join(', ')}; use finite numbers.`);
}

/** Frames after which something that a program has not done is taken for forgotten. */
const MANY_FRAMES = 100;
/** Calls running that are no accident. */
const SOME_CALLS = 10;
/** Seconds between the calls of the fastest screens. */
const A_FRAME = 0.003;
/** So many times faster than the clock nobody plays. */
const MANY_TIMES = 20;
/** Of so many instances one will play something if any does. */
const SOME_INSTANCES = 64;

/** Warns of updates by milliseconds, and of a crowd that is nowhere. Call it in each update. */
export function checkUpdate(crowd: Crowd, mesh: Object3D, delta: number): void {
  const { visibility, playback, draws } = crowd;
  if (!(delta > 1)) crowd.longSteps = 0;
  else if (crowd.longSteps++ === 0) crowd.longSince = performance.now();
  else if (crowd.longSteps === SOME_CALLS) {
    // Slow frames take as long as they say, and steps that a program goes through at once take no time.
    const seconds = (performance.now() - crowd.longSince) / 1000 / SOME_CALLS;
    if (seconds > A_FRAME && delta > seconds * MANY_TIMES)
      warnOnce(
        `SkinnedInstancedMesh.update: ${SOME_CALLS} deltas running were above 1, as ${delta}; pass the seconds since the last frame, not milliseconds or the time of day.`,
      );
  }
  if (draws > 0 || playback.time.updates % MANY_FRAMES !== 0 || visibility.existing === 0) return;
  if ((rootOf(mesh) as { isScene?: boolean }).isScene === true) return;
  warnOnce(
    'SkinnedInstancedMesh: a crowd is updated that is in no scene and was never drawn; call scene.add(crowd).',
  );
}

/** Warns of a crowd that plays, and whose clock stands. Call it in each frame that draws it. */
export function checkDrawn(crowd: Crowd): void {
  const { playback } = crowd;
  const { time } = playback;
  if (++crowd.draws % MANY_FRAMES !== 0 || time.updates > 0 || time.own.length > 0) return;
  for (let id = Math.min(crowd.count, SOME_INSTANCES); id-- > 0; ) {
    // Actions play from the first update on.
    if (playback.isPlaying(id, 0) || playback.isSteered(id, 0))
      warnOnce(
        `SkinnedInstancedMesh: ${MANY_FRAMES} frames showed a crowd that plays clips and was never updated; call crowd.update(delta) in each frame, or pause it.`,
      );
  }
}
