import {
  LOOP_BACK,
  LOOP_CLAMP,
  LOOP_ENDS_BACK,
  LOOP_FIRST,
  LOOP_MODES,
  LOOP_PING_PONG,
  REPEAT_FOREVER,
  REST_FRAME,
} from '../constants.js';
import type { FrameMix } from '../poses/PoseMix.js';
import { frameAt } from './frameAt.js';
import {
  CLIP_COUNT,
  CLIP_FADE,
  CLIP_FADE_RATE,
  CLIP_PASSES,
  CLIP_RATE,
  CLIP_START,
  CLIP_TIME,
  CLIP_WARP,
  packCount,
} from './instanceLayout.js';
import {
  basePass,
  FIRST,
  hasBit,
  intervalsOf,
  locate,
  olderWeight,
  type Place,
  passesLeft,
  runsBack,
  SLOT_COUNT,
  SLOT_FADE,
  SLOT_FADE_RATE,
  SLOT_LOOP,
  SLOT_PLACE,
  SLOT_RATE,
  SLOT_SINCE,
  SLOT_START,
  SLOT_WARP,
  type Slots,
  standsStill,
  totalAt,
} from './slots.js';

const _place: Place = { pass: 0, within: 0, finished: false };
const _drawn = /*@__PURE__*/ new Float64Array(CLIP_FADE);

/**
 * Writes a slot's clip as the GPU reads it: fields of `instanceLayout` up to the fade's.
 *
 * @param ease Square of how far its fade is from done.
 * @param held Whether the instance is paused.
 */
export function drawSlot(
  slots: Slots,
  at: number,
  clock: number,
  ease: number,
  held: boolean,
  out: Float32Array | Float64Array,
  to: number,
): void {
  if (held || standsStill(slots, at)) {
    drawStill(slots, at, totalAt(slots, at, clock, ease), out, to);
    return;
  }
  const rate = slots[at + SLOT_RATE];
  const left = passesLeft(slots, at);
  let loop = slots[at + SLOT_LOOP] & (LOOP_PING_PONG | LOOP_CLAMP);
  if (hasBit(slots, at, FIRST)) loop |= LOOP_FIRST;
  if (loop & LOOP_PING_PONG) {
    const base = basePass(slots, at);
    const last = base + left - 1;
    if (base % 2 !== 0) loop |= LOOP_BACK;
    // Nor does three.js mirror the end of a ping-pong that has finished before its first pass was counted.
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
function drawStill(
  slots: Slots,
  at: number,
  total: number,
  out: Float32Array | Float64Array,
  to: number,
): void {
  const place = locate(slots, at, total, true, _place);
  const rest = place.finished && !hasBit(slots, at, LOOP_CLAMP);
  const frame = runsBack(slots, at, place) ? intervalsOf(slots, at) - place.within : place.within;
  out[to + CLIP_START] = rest ? REST_FRAME : slots[at + SLOT_START];
  out[to + CLIP_COUNT] = packCount(rest ? 1 : slots[at + SLOT_COUNT], LOOP_CLAMP);
  out[to + CLIP_TIME] = rest ? 0 : frame;
  out[to + CLIP_WARP] = 0;
  out[to + CLIP_RATE] = 0;
  out[to + CLIP_PASSES] = REPEAT_FOREVER;
}

/** Writes a slot's fade as the GPU reads it. */
export function drawFade(
  slots: Slots,
  at: number,
  clock: number,
  held: boolean,
  out: Float32Array,
  to: number,
): void {
  out[to + CLIP_FADE] = held ? olderWeight(slots, at, clock) : slots[at + SLOT_FADE];
  out[to + CLIP_FADE_RATE] = held ? 0 : slots[at + SLOT_FADE_RATE];
}

/** Frames that a slot shows, from the numbers that the GPU has of it, but in doubles. */
export function showSlot(
  slots: Slots,
  at: number,
  clock: number,
  ease: number,
  held: boolean,
  interpolate: boolean,
  target: FrameMix,
): void {
  drawSlot(slots, at, clock, ease, held, _drawn, 0);
  const packed = _drawn[CLIP_COUNT];
  const count = Math.floor(packed / LOOP_MODES);
  frameAt(
    clock,
    _drawn[CLIP_START],
    count,
    _drawn[CLIP_TIME] + _drawn[CLIP_WARP] * ease,
    packed - count * LOOP_MODES,
    _drawn[CLIP_RATE],
    _drawn[CLIP_PASSES],
    interpolate,
    target,
  );
}
