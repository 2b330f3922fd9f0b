import {
  LOOP_BACK,
  LOOP_CLAMP,
  LOOP_ENDS_BACK,
  LOOP_FIRST,
  LOOP_PING_PONG,
  REPEAT_FOREVER,
  REST_FRAME,
} from '../constants.js';
import {
  CLIP_COUNT,
  CLIP_PASSES,
  CLIP_RATE,
  CLIP_START,
  CLIP_TIME,
  CLIP_WARP,
  packCount,
} from './instanceLayout.js';
import { basePass, frameOf, locate, type Place, passesLeft, totalAt } from './loops.js';
import {
  FINISHED,
  FIRST,
  hasBit,
  SLOT_COUNT,
  SLOT_LOOP,
  SLOT_PLACE,
  SLOT_RATE,
  SLOT_SINCE,
  SLOT_START,
  SLOT_WARP,
  type Slots,
} from './slots.js';

const _place: Place = { pass: 0, within: 0, finished: false };

/**
 * Writes a slot's clip as shaders read it: the fields of `instanceLayout` up to the fade's.
 *
 * @param held Whether the instance is paused.
 */
export function encodeSlot(
  slots: Slots,
  at: number,
  clock: number,
  held: boolean,
  out: Float32Array | Float64Array,
  to: number,
): void {
  const rate = slots[at + SLOT_RATE];
  const bits = slots[at + SLOT_LOOP] | 0;
  if (held || rate === 0 || (bits & FINISHED) !== 0) {
    encodeStill(slots, at, totalAt(slots, at, clock), out, to);
    return;
  }
  const left = passesLeft(slots, at);
  let loop = bits & (LOOP_PING_PONG | LOOP_CLAMP);
  if (bits & FIRST) loop |= LOOP_FIRST;
  if (loop & LOOP_PING_PONG) {
    const base = basePass(slots, at);
    const last = base + left - 1;
    if (base % 2 !== 0) loop |= LOOP_BACK;
    // A ping-pong that finishes before its first pass was counted ends at the other end, as in three.js.
    if (last > 0 && last % 2 !== 0) loop |= LOOP_ENDS_BACK;
  }
  out[to + CLIP_START] = slots[at + SLOT_START];
  out[to + CLIP_COUNT] = packCount(slots[at + SLOT_COUNT], loop);
  out[to + CLIP_TIME] = slots[at + SLOT_PLACE] - slots[at + SLOT_SINCE] * rate;
  out[to + CLIP_WARP] = rate * slots[at + SLOT_WARP];
  out[to + CLIP_RATE] = rate;
  out[to + CLIP_PASSES] = left;
}

/** Writes a slot that stays at `total`: the one frame it shows. */
function encodeStill(
  slots: Slots,
  at: number,
  total: number,
  out: Float32Array | Float64Array,
  to: number,
): void {
  const place = locate(slots, at, total, true, _place);
  const rest = place.finished && !hasBit(slots, at, LOOP_CLAMP);
  out[to + CLIP_START] = rest ? REST_FRAME : slots[at + SLOT_START];
  out[to + CLIP_COUNT] = packCount(rest ? 1 : slots[at + SLOT_COUNT], LOOP_CLAMP);
  out[to + CLIP_TIME] = rest ? 0 : frameOf(slots, at, place);
  out[to + CLIP_WARP] = 0;
  out[to + CLIP_RATE] = 0;
  out[to + CLIP_PASSES] = REPEAT_FOREVER;
}
