import { REST_FRAME } from '../constants.js';
import type { BakedClip, ClipTable } from '../poses/ClipTable.js';
import { startBeside } from './actionWeights.js';
import { setPlace } from './changeSlot.js';
import type { LayerSlots } from './LayerSlots.js';
import { basePass, type Place } from './loops.js';
import type { Start } from './PlayOptions.js';
import {
  FIRST,
  fadeTo,
  intervalsOf,
  REVERSED,
  SLOT_COUNT,
  SLOT_LOOP,
  SLOT_PASS,
  SLOT_RATE,
  SLOT_REPETITIONS,
  SLOT_START,
  SLOT_STARTED_IN,
  type Slots,
} from './slots.js';
import { lengthRatio, startWarp } from './warps.js';

const _place: Place = { pass: 0, within: 0, finished: false };

/**
 * Starts a clip on a layer of an instance that is not paused.
 *
 * @param clip Null for the rest pose.
 * @param clips The clips that the crowd plays.
 * @returns The slots in which the clip now is; null for the rest pose if all slots fade out to it.
 */
export function startClip(
  layer: LayerSlots,
  index: number,
  clock: number,
  clip: BakedClip | null,
  clips: ClipTable,
  start: Start,
): Slots | null {
  const { rate, fade, weight, sync, warp } = start;
  const at = layer.at(index);
  const before = sync || warp ? layer.leading(index) : null;
  let { time } = start;
  let ratio = 0;
  if (clip !== null && clip.count >= 2 && before !== null && intervalsOf(before, at) >= 1) {
    if (sync && rate !== 0) ratio = lengthRatio(before, at, clip.count - 1, rate);
    else ratio = (clips.startingAt(before[at + SLOT_START])?.duration ?? clip.duration) / clip.duration;
    const { within } = layer.locate(before, index, clock, false, _place);
    if (sync) time += (within / intervalsOf(before, at)) * (clip.count - 1);
  }

  let slots: Slots | null;
  if (Number.isNaN(weight)) {
    slots = layer.startInstead(index, clock, fade, clip === null);
    if (slots !== null && fade > 0 && ratio > 0 && ratio < Infinity) {
      const shows = before !== null && before !== slots && layer.uses(index, before);
      startWarp(slots, shows ? before : null, at, clock, ratio, fade);
    }
  } else {
    slots = startBeside(layer, index, clip?.start ?? REST_FRAME, clock, clips);
    fadeTo(slots, at, clock, weight, fade);
  }
  if (clip === null || slots === null) return slots;
  slots[at + SLOT_START] = clip.start;
  slots[at + SLOT_COUNT] = clip.count;
  slots[at + SLOT_LOOP] = start.loop | FIRST | (rate < 0 ? REVERSED : 0);
  slots[at + SLOT_REPETITIONS] = start.repetitions;
  slots[at + SLOT_RATE] = rate;
  slots[at + SLOT_PASS] = -1;
  slots[at + SLOT_STARTED_IN] = basePass(slots, at);
  setPlace(slots, at, clock, time, rate === 0);
  return slots;
}
