import { changeRate, settle } from './changeSlot.js';
import {
  clearSlot,
  copyClip,
  fadingShare,
  intervalsOf,
  SLOT_FADE,
  SLOT_FADE_RATE,
  SLOT_RATE,
  SLOT_WARP,
  type Slots,
} from './slots.js';

/**
 * How clips fade: over the newest slot of an instance lie two that fade out, in arrays of their own but at the same place
 * `at`. The newest slot's fade divides between it and both others; the second slot's fade divides between these two.
 */

/**
 * Warps both clips of a fade that begins, so that at its start both have the speed of the first one's length and at its
 * end of the second one's: as `AnimationAction.crossFadeTo` does with `warp`.
 *
 * @param ratio Length of the clip that fades out to that of the other.
 * @param fade Seconds.
 */
export function startWarp(newest: Slots, second: Slots, at: number, ratio: number, fade: number): void {
  newest[at + SLOT_WARP] = ((1 - 1 / ratio) * fade) / 2;
  second[at + SLOT_WARP] = ((ratio - 1) * fade) / 2;
}

/** Makes room for a clip that fades in over all that shows: the newest clip becomes one that fades out. */
export function fadeOutNewest(newest: Slots, second: Slots, oldest: Slots, at: number, clock: number): void {
  const share = fadingShare(newest, at, clock);
  endWarp(newest, second, at, clock);
  if (share === 0) {
    clearSlot(second, at);
    clearSlot(oldest, at);
    copyClip(newest, second, at);
    return;
  }

  const oldestOfBoth = fadingShare(second, at, clock);
  const newestShows = 1 - share;
  const secondShows = share * (1 - oldestOfBoth);
  const oldestShows = share * oldestOfBoth;
  // With three clips on screen, the one that shows least makes way for the new one.
  if (oldestOfBoth > 0 && newestShows <= secondShows && newestShows <= oldestShows) return;
  if (oldestOfBoth > 0 && secondShows < oldestShows) {
    const weight = oldestShows / (oldestShows + newestShows);
    const left = share / newest[at + SLOT_FADE_RATE];
    second[at + SLOT_FADE_RATE] = weight / left;
    second[at + SLOT_FADE] = weight + (clock * weight) / left;
  } else {
    copyClip(second, oldest, at);
    second[at + SLOT_FADE] = newest[at + SLOT_FADE];
    second[at + SLOT_FADE_RATE] = newest[at + SLOT_FADE_RATE];
  }
  copyClip(newest, second, at);
}

/** Lets both clips of a fade go on at the speed that warping has brought them to. */
function endWarp(newest: Slots, second: Slots, at: number, clock: number): void {
  const fadeRate = newest[at + SLOT_FADE_RATE];
  if (fadeRate === 0) return;
  const share = fadingShare(newest, at, clock);
  const rateIn = newest[at + SLOT_RATE] * (1 - 2 * newest[at + SLOT_WARP] * share * fadeRate);
  const rateOut = second[at + SLOT_RATE] * (1 + 2 * second[at + SLOT_WARP] * (1 - share) * fadeRate);
  settle(newest, at, clock, share ** 2);
  settle(second, at, clock, (1 - share) ** 2);
  changeRate(newest, at, clock, share ** 2, rateIn, 0);
  changeRate(second, at, clock, (1 - share) ** 2, rateOut, 0);
}

/** How many times as long the clip of a slot takes as another, each at its speed; 0 or infinite if one stands still. */
export function lengthRatio(slots: Slots, at: number, intervals: number, rate: number): number {
  const slotSeconds = intervalsOf(slots, at) / Math.abs(slots[at + SLOT_RATE]);
  return (slotSeconds / intervals) * Math.abs(rate);
}
