import { LOOP_ROOT_MOTION, REST_FRAME } from '../constants.js';
import type { ClipTable } from '../poses/ClipTable.js';
import { CLIP_COUNT, CLIP_LOOP, CLIP_RATE, CLIP_START, CLIP_TIME } from './instanceLayout.js';
import { cycleOf, type Slots, totalAt } from './slots.js';

/**
 * Lets a slot go on in the clip of the same name of another table: as many seconds into it, as fast, in the same pass.
 *
 * @param warp What the slot's warp comes to now, in frames.
 * @param lost Takes the name of a clip that is not there; the slot then is the rest pose.
 * @returns By how much the frames of the new clip are more than those of the old, which its warps must be multiplied by.
 */
export function changeClip(
  slots: Slots,
  at: number,
  clock: number,
  warp: number,
  reverse: boolean,
  before: ClipTable,
  after: ClipTable,
  lost: Set<string>,
): number {
  const clip = before.startingAt(slots[at + CLIP_START]);
  if (clip === null) return 1;
  const next = after.clips.find(({ name }) => name === clip.name);
  if (next === undefined) {
    lost.add(clip.name);
    slots[at + CLIP_START] = REST_FRAME;
    slots[at + CLIP_COUNT] = 1;
    slots[at + CLIP_TIME] = 0;
    slots[at + CLIP_RATE] = 0;
    slots[at + CLIP_LOOP] = 0;
    return 0;
  }

  const intervals = clip.count - 1;
  const nextIntervals = next.count - 1;
  // A pose has no frames per second: nothing is known of how fast it was meant to be.
  const factor = clip.fps === 0 ? 0 : next.fps / clip.fps;
  const total = totalAt(slots, at, clock, warp);
  const cycle = intervals < 1 ? 0 : cycleOf(total, intervals, reverse);
  const within = total - cycle * intervals;
  // In reverse a clip may be started from beyond its end.
  const beyond = within > intervals;
  const nextWithin = beyond ? within * factor : Math.min(within * factor, nextIntervals);

  slots[at + CLIP_START] = next.start;
  slots[at + CLIP_COUNT] = next.count;
  slots[at + CLIP_RATE] = clip.fps === 0 ? next.fps : slots[at + CLIP_RATE] * factor;
  slots[at + CLIP_TIME] = cycle * nextIntervals + nextWithin - clock * slots[at + CLIP_RATE] - warp * factor;
  if (next.rootMotion === null) slots[at + CLIP_LOOP] &= ~LOOP_ROOT_MOTION;
  return factor;
}
