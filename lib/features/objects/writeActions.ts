import { ACTION_SIZE, type Actions } from '../../playback/actionNumbers.js';
import type { InstancePlayback } from '../../playback/InstancePlayback.js';
import { MAX_ACTIONS } from '../../playback/instanceLayout.js';
import { warnOnce } from '../../utils/warnOnce.js';
import type { PlayedAction } from './ActionState.js';
import { encodeAction } from './encodeAction.js';

const _actions: Actions[] = [];

/**
 * Writes the actions of an instance as what it plays.
 *
 * @param active In the order in which they are mixed.
 * @param scale Seconds of the mixer's time for each of the crowd's.
 * @param written Layers that were written before, as bits.
 * @returns Those that have actions now.
 */
export function writeActions(
  playback: InstancePlayback,
  index: number,
  active: readonly PlayedAction[],
  scale: number,
  written: number,
): number {
  const clock = playback.time.timeOf(index);
  let layers = 0;
  for (const { layer } of active) layers |= 1 << layer;
  if ((layers | written) === 0) return 0;
  for (let layer = 0; layer < playback.layers.length; layer++) {
    if (((layers | written) & (1 << layer)) === 0) continue;
    const shown = shownOf(active, layer, scale);
    shown.forEach((action, i) => {
      _actions[i] ??= new Float64Array(ACTION_SIZE);
      encodeAction(action, scale, clock, _actions[i]);
    });
    playback.setActions(index, layer, _actions, shown.length);
  }
  playback.restored(index);
  return layers;
}

/** The actions of a layer that show, or will: those with the most weight, if there are too many. */
function shownOf(active: readonly PlayedAction[], layer: number, scale: number): readonly PlayedAction[] {
  const shown = active.filter((action) => action.layer === layer && mostWeight(action, scale) > 0);
  if (shown.length <= MAX_ACTIONS) return shown;
  const byWeight = [...shown].sort((a, b) => mostWeight(b, scale) - mostWeight(a, scale));
  const left = byWeight.splice(MAX_ACTIONS).map(({ clip }) => `"${clip.name}"`);
  warnOnce(
    `SkinnedInstance: an instance shows ${MAX_ACTIONS} actions at most on a layer; ${left.join(', ')}, which weighs least, is left out. Others can play on a layer of their own: clipAction(clip, { layer }).`,
  );
  return shown.filter((action) => byWeight.includes(action));
}

/** The most that an action weighs until something about it changes. */
function mostWeight(action: PlayedAction, scale: number): number {
  const { enabled, weight, fade, at } = action;
  const now = action.weightAt(at);
  if (!enabled || fade === null || scale === 0) return now;
  return Math.max(now, weight * (scale > 0 ? fade.to : fade.from));
}
