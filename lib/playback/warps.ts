import { intervalsOf, SLOT_RATE, SLOT_WARP, SLOT_WARP_RATE, SLOT_WARP_START, type Slots } from './slots.js';

/**
 * Warps both clips of a fade that begins, so that at its start both have the speed of the first one's length and at its
 * end of the second one's: as `AnimationAction.crossFadeTo` does with `warp`.
 *
 * @param fadingOut Slots in which the first clip is; null if it shows no more.
 * @param ratio Length of the clip that fades out to that of the other.
 * @param fade Seconds.
 */
export function startWarp(
  fadingIn: Slots,
  fadingOut: Slots | null,
  at: number,
  clock: number,
  ratio: number,
  fade: number,
): void {
  fadingIn[at + SLOT_WARP] = ((1 - 1 / ratio) * fade) / 2;
  fadingIn[at + SLOT_WARP_START] = clock;
  fadingIn[at + SLOT_WARP_RATE] = -1 / fade;
  if (fadingOut === null) return;
  fadingOut[at + SLOT_WARP] = ((ratio - 1) * fade) / 2;
  fadingOut[at + SLOT_WARP_START] = clock;
  fadingOut[at + SLOT_WARP_RATE] = 1 / fade;
}

/** How many times as long the clip of a slot takes as another, each at its speed; 0 or infinite if one stands still. */
export function lengthRatio(slots: Slots, at: number, intervals: number, rate: number): number {
  const slotSeconds = intervalsOf(slots, at) / Math.abs(slots[at + SLOT_RATE]);
  return (slotSeconds / intervals) * Math.abs(rate);
}
