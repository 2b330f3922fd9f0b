import {
  changeRate,
  clearSlot,
  copyClip,
  intervalsOf,
  OLDER_SIZE,
  olderWeight,
  SLOT_FADE,
  SLOT_FADE_RATE,
  SLOT_RATE,
  SLOT_SIZE,
  SLOT_WARP,
  type Slots,
  settle,
} from './slots.js';

/**
 * How clips fade: an instance has its newest slot at `at`, and at `o` two older ones one after the other, which fade out.
 * The newest slot's fade is between it and all that is older; the second's between it and the oldest.
 */

/** Square of how far the fade is from done, by which the clip that fades in is warped. */
export function easeIn(slots: Slots, at: number, clock: number): number {
  return olderWeight(slots, at, clock) ** 2;
}

/** Square of how much of the fade is done, by which the clip that fades out is warped. */
export function easeOut(slots: Slots, at: number, clock: number): number {
  return (1 - olderWeight(slots, at, clock)) ** 2;
}

/**
 * Warps both clips of a fade that begins, so that at its start both have the speed of the first one's length and at its
 * end of the second one's: as `AnimationAction.crossFadeTo` does with `warp`.
 *
 * @param ratio Length of the clip that fades out to that of the other.
 * @param fade Seconds.
 */
export function startWarp(
  slots: Slots,
  at: number,
  older: Slots,
  o: number,
  ratio: number,
  fade: number,
): void {
  slots[at + SLOT_WARP] = ((1 - 1 / ratio) * fade) / 2;
  older[o + SLOT_WARP] = ((ratio - 1) * fade) / 2;
}

/** Makes room for a clip that fades in over all that shows: the newest clip becomes an older one. */
export function pushOlder(slots: Slots, at: number, older: Slots, o: number, clock: number): void {
  const faded = olderWeight(slots, at, clock);
  endWarp(slots, at, older, o, clock);
  if (faded === 0) {
    older.fill(0, o, o + OLDER_SIZE);
    clearSlot(older, o + SLOT_SIZE);
    copyClip(slots, at, older, o);
    return;
  }

  const olderFaded = olderWeight(older, o, clock);
  const newest = 1 - faded;
  const second = faded * (1 - olderFaded);
  const oldest = faded * olderFaded;
  // With three clips on screen, the one that shows least makes way for the new one.
  if (olderFaded > 0 && newest <= second && newest <= oldest) return;
  if (olderFaded > 0 && second < oldest) {
    const weight = oldest / (oldest + newest);
    const left = faded / slots[at + SLOT_FADE_RATE];
    older[o + SLOT_FADE_RATE] = weight / left;
    older[o + SLOT_FADE] = weight + (clock * weight) / left;
  } else {
    copyClip(older, o, older, o + SLOT_SIZE);
    older[o + SLOT_FADE] = slots[at + SLOT_FADE];
    older[o + SLOT_FADE_RATE] = slots[at + SLOT_FADE_RATE];
  }
  copyClip(slots, at, older, o);
}

/** Lets both clips of a fade go on at the speed that warping has brought them to. */
function endWarp(slots: Slots, at: number, older: Slots, o: number, clock: number): void {
  const fadeRate = slots[at + SLOT_FADE_RATE];
  if (fadeRate === 0) return;
  const weight = olderWeight(slots, at, clock);
  const rateIn = slots[at + SLOT_RATE] * (1 - 2 * slots[at + SLOT_WARP] * weight * fadeRate);
  const rateOut = older[o + SLOT_RATE] * (1 + 2 * older[o + SLOT_WARP] * (1 - weight) * fadeRate);
  settle(slots, at, clock, weight ** 2);
  settle(older, o, clock, (1 - weight) ** 2);
  changeRate(slots, at, clock, weight ** 2, rateIn, 0);
  changeRate(older, o, clock, (1 - weight) ** 2, rateOut, 0);
}

/** By how much longer the clip of a slot is than another one, each played at its speed; 0 or infinite if one is not played. */
export function lengthRatio(slots: Slots, at: number, intervals: number, rate: number): number {
  const slotSeconds = intervalsOf(slots, at) / Math.abs(slots[at + SLOT_RATE]);
  return (slotSeconds / intervals) * Math.abs(rate);
}
