import { type LinearInterpolant, LoopOnce, LoopPingPong, LoopRepeat } from 'three';
import type { InstanceAction } from '../actions/InstanceMixer.js';
import type { BakedClip } from '../animation/ClipTable.js';
import { LOOP_CLAMP, LOOP_PING_PONG, REPEAT_FOREVER } from '../constants.js';
import {
  ACTION_FADE_RATE,
  ACTION_FADE_START,
  ACTION_FROM,
  ACTION_RATE,
  ACTION_REPETITIONS,
  ACTION_START,
  ACTION_TO,
  ACTION_WARP,
  ACTION_WARP_RATE,
  ACTION_WARP_START,
  type Actions,
  hasBit,
  isRest,
  ONCE,
  PAUSED,
  type Place,
  WAITING,
} from '../playback/actions.js';

import type { SkinnedInstance } from './SkinnedInstance.js';

const _place: Place = { pass: 0, within: 0, finished: false };

/**
 * Has actions go on with what an instance plays by index, each with the time, weight, speed, fade and warp that its clip has: after
 * `loadPlayback`, for one. The actions are those that `knight.clipAction(clip)` gives, and are played; those that were paused, or
 * wait for `startAt`, still are and do.
 *
 * ```ts
 * loadPlayback(crowd, saved);
 * const knight = resumeActions(new SkinnedInstance(crowd, 0));
 * knight.clipAction('Walk').fadeTo(0, 0.5);
 * ```
 *
 * @throws If the bone texture's encoding is not `'tracks'`.
 *
 * @category Instances as objects
 */
export function resumeActions<T extends SkinnedInstance>(knight: T): T {
  const { mixer, instanceId, crowd } = knight;
  const { playback } = crowd;
  const { clipTable } = crowd.boneTexture;
  const now = playback.time.timeOf(instanceId);
  // Reads all before anything is written in its place.
  const resumed = playback.layers.flatMap((layer, number) => {
    if (playback.driver?.steers(instanceId, number)) return [];
    return Array.from({ length: layer.count(instanceId) }, (_, place) => {
      const actions = layer.actions(place).slice(layer.at(instanceId), layer.at(instanceId + 1));
      const clip = isRest(actions, 0) ? null : clipTable.startingAt(actions[ACTION_START]);
      const where = { ...layer.locate(instanceId, place, now, playback.isPaused(instanceId), _place) };
      return { clip, number, actions, where };
    });
  });
  for (const { clip, number, actions, where } of resumed) {
    if (clip === null) continue;
    const { time } = mixer;
    const action = mixer.clipAction(crowd.boneTexture.clips.indexOf(clip), { layer: number });
    readAction(action, clip, actions, where, time - now);
    action._effectiveWeight = action.weightAt(time);
    action._effectiveTimeScale = action.scaleAt(time);
    action.play();
  }
  return knight;
}

/** @param ahead Seconds by which the mixer's time is ahead of the crowd's. */
function readAction(
  action: InstanceAction,
  { fps, count }: BakedClip,
  actions: Actions,
  { pass, within, finished }: Place,
  ahead: number,
): void {
  action.reset();
  const rate = actions[ACTION_RATE];
  // What is held has its speed where another action has that of its warp.
  const speed = rate === 0 ? actions[ACTION_WARP_RATE] : rate / fps;
  action.timeScale = count < 2 ? 1 : speed;
  action.clampWhenFinished = hasBit(actions, 0, LOOP_CLAMP);
  action.loop = hasBit(actions, 0, ONCE)
    ? LoopOnce
    : hasBit(actions, 0, LOOP_PING_PONG)
      ? LoopPingPong
      : LoopRepeat;
  const repetitions = actions[ACTION_REPETITIONS];
  action.repetitions = repetitions >= REPEAT_FOREVER ? Infinity : repetitions;
  action.time = fps === 0 ? 0 : within / fps;
  action._loopCount = pass;
  // By index, it may go on since.
  const isHeld = rate === 0;
  action.paused = (isHeld && hasBit(actions, 0, PAUSED)) || (finished && action.clampWhenFinished);
  action.enabled = !finished || action.clampWhenFinished;
  if (isHeld && hasBit(actions, 0, WAITING)) action._startTime = actions[ACTION_WARP_START] + ahead;

  const [from, to] = [actions[ACTION_FROM], actions[ACTION_TO]];
  action.weight = to || from;
  const fadeRate = actions[ACTION_FADE_RATE];
  if (fadeRate !== 0) {
    const start = actions[ACTION_FADE_START] + ahead;
    const factor = action.weight || 1;
    action._scheduleFading(0, from / factor, to / factor);
    setTimes(action._weightInterpolant, start, 1 / fadeRate);
  }
  const warpRate = actions[ACTION_WARP_RATE];
  if (actions[ACTION_WARP] === 0) return;
  const { timeScale } = action;
  const other = timeScale * (1 + 2 * actions[ACTION_WARP] * warpRate);
  action.warp(warpRate > 0 ? timeScale : other, warpRate > 0 ? other : timeScale, 0);
  setTimes(action._timeScaleInterpolant, actions[ACTION_WARP_START] + ahead, 1 / Math.abs(warpRate));
}

function setTimes(ramp: LinearInterpolant | null, start: number, seconds: number): void {
  ramp?.parameterPositions.set([start, start + seconds]);
}
