import { LOOP_CLAMP, LOOP_PING_PONG } from '../constants.js';
import type { BakedClip, ClipTable } from '../poses/ClipTable.js';
import { settle } from './changeSlot.js';
import {
  clearSlot,
  FADING_OUT,
  FINISHED,
  FIRST,
  ONCE,
  REVERSED,
  ROOT_MOTION,
  SLOT_COUNT,
  SLOT_FADE_RATE,
  SLOT_FADE_START,
  SLOT_FROM,
  SLOT_LOOP,
  SLOT_PASS,
  SLOT_PLACE,
  SLOT_RATE,
  SLOT_REPETITIONS,
  SLOT_SINCE,
  SLOT_SIZE,
  SLOT_START,
  SLOT_STARTED_IN,
  SLOT_TO,
  SLOT_WARP,
  SLOT_WARP_RATE,
  SLOT_WARP_START,
  type Slots,
  shiftSlot,
} from './slots.js';

/** What a row holds of a clip after its index, and 1 if it is the one that plays, else 0; in this order. */
const FIELDS = [
  SLOT_PLACE,
  SLOT_PASS,
  SLOT_RATE,
  SLOT_LOOP,
  SLOT_REPETITIONS,
  SLOT_WARP,
  SLOT_WARP_START,
  SLOT_WARP_RATE,
  SLOT_FROM,
  SLOT_TO,
  SLOT_FADE_START,
  SLOT_FADE_RATE,
] as const;

/** Numbers of a clip in a row. */
export const CLIP_NUMBERS = 2 + FIELDS.length;

const ALL_BITS = LOOP_PING_PONG | LOOP_CLAMP | ROOT_MOTION | ONCE | REVERSED | FINISHED | FIRST | FADING_OUT;

const _slot = /*@__PURE__*/ new Float64Array(SLOT_SIZE);

/** A clip that was saved. */
export interface SavedClip {
  /** Null for the rest pose. */
  clip: BakedClip | null;
  slot: Slots;
  /** Whether it is the one that plays. */
  current: boolean;
}

/**
 * A slot as the numbers of a row: times in seconds, on a clock that is at zero now.
 *
 * @param held Whether the instance is paused.
 * @param current Whether the clip is the one that plays.
 * @param names Names of clips that rows count by; the clip's is added if it is missing.
 */
export function saveClip(
  slots: Slots,
  at: number,
  clock: number,
  held: boolean,
  current: boolean,
  clips: ClipTable,
  names: string[],
): number[] {
  _slot.set(slots.subarray(at, at + SLOT_SIZE));
  if (!held) settle(_slot, 0, clock);
  shiftSlot(_slot, 0, -clock);
  const clip = clips.startingAt(_slot[SLOT_START]);
  if (clip !== null && !names.includes(clip.name)) names.push(clip.name);
  scale(_slot, clip === null || clip.fps === 0 ? 0 : 1 / clip.fps);
  const fields = FIELDS.map((field) => _slot[field]);
  return [clip === null ? -1 : names.indexOf(clip.name), current ? 1 : 0, ...fields];
}

/**
 * The clip of so many numbers of a row.
 *
 * @throws If they are none that a slot can have; `what` begins the message.
 */
export function readClip(
  [index, current, ...values]: number[],
  clips: readonly BakedClip[],
  what: string,
): SavedClip {
  const clip = index === -1 ? null : clips[index];
  if (clip === undefined) throw new Error(`${what} plays clip ${index} of ${clips.length}.`);
  const slot = new Float64Array(SLOT_SIZE);
  clearSlot(slot, 0);
  FIELDS.forEach((field, i) => {
    slot[field] = values[i];
  });
  const loop = slot[SLOT_LOOP];
  if (
    !Number.isInteger(slot[SLOT_PASS]) ||
    slot[SLOT_REPETITIONS] < 0 ||
    (loop & ALL_BITS) !== loop ||
    (current !== 0 && current !== 1) ||
    !isWeight(slot[SLOT_FROM]) ||
    !isWeight(slot[SLOT_TO]) ||
    slot[SLOT_FADE_RATE] < 0
  ) {
    throw new Error(`${what} has numbers that no instance can have, for clip ${index}.`);
  }
  if (clip !== null) {
    slot[SLOT_START] = clip.start;
    slot[SLOT_COUNT] = clip.count;
  }
  scale(slot, clip === null ? 0 : clip.fps);
  slot[SLOT_SINCE] = 0;
  slot[SLOT_STARTED_IN] = Number.NaN;
  return { clip, slot, current: current === 1 };
}

/** Whether a number is a weight. */
export const isWeight = (weight: number): boolean => weight >= 0 && weight <= 1;

/** From frames to seconds or back. */
function scale(slot: Slots, factor: number): void {
  slot[SLOT_PLACE] *= factor;
  slot[SLOT_RATE] *= factor;
}
