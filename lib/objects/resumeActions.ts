import { LoopOnce, LoopPingPong, LoopRepeat } from 'three';
import type { PlayedAction } from '../actions/ActionState.js';
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
    mixer.resume(clip, number, (played) => {
      const { time } = mixer;
      readAction(played, clip, actions, where, time - now);
      played.effectiveWeight = played.weightAt(time);
      played.effectiveTimeScale = played.scaleAt(time);
    });
  }
  return knight;
}

/** @param ahead Seconds by which the mixer's time is ahead of the crowd's. */
function readAction(
  played: PlayedAction,
  { fps, count }: BakedClip,
  actions: Actions,
  { pass, within, finished }: Place,
  ahead: number,
): void {
  played.reset();
  const rate = actions[ACTION_RATE];
  // What is held has its speed where another action has that of its warp.
  const speed = rate === 0 ? actions[ACTION_WARP_RATE] : rate / fps;
  played.timeScale = count < 2 ? 1 : speed;
  played.clampWhenFinished = hasBit(actions, 0, LOOP_CLAMP);
  played.loop = hasBit(actions, 0, ONCE)
    ? LoopOnce
    : hasBit(actions, 0, LOOP_PING_PONG)
      ? LoopPingPong
      : LoopRepeat;
  const repetitions = actions[ACTION_REPETITIONS];
  played.repetitions = repetitions >= REPEAT_FOREVER ? Infinity : repetitions;
  played.time = fps === 0 ? 0 : within / fps;
  played.loopCount = pass;
  // By index, it may go on since.
  const isHeld = rate === 0;
  played.paused = (isHeld && hasBit(actions, 0, PAUSED)) || (finished && played.clampWhenFinished);
  played.enabled = !finished || played.clampWhenFinished;
  if (isHeld && hasBit(actions, 0, WAITING)) played.startTime = actions[ACTION_WARP_START] + ahead;

  const [from, to] = [actions[ACTION_FROM], actions[ACTION_TO]];
  played.weight = to || from;
  const fadeRate = actions[ACTION_FADE_RATE];
  if (fadeRate !== 0) {
    const start = actions[ACTION_FADE_START] + ahead;
    const factor = played.weight || 1;
    played.fade = { start, end: start + 1 / fadeRate, from: from / factor, to: to / factor };
  }
  const warpRate = actions[ACTION_WARP_RATE];
  if (actions[ACTION_WARP] === 0) return;
  const start = actions[ACTION_WARP_START] + ahead;
  const change = 2 * actions[ACTION_WARP] * warpRate;
  played.warp = {
    start,
    end: start + 1 / Math.abs(warpRate),
    from: warpRate > 0 ? 1 : 1 + change,
    to: warpRate > 0 ? 1 + change : 1,
  };
}
