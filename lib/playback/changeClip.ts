import { REST_FRAME } from '../constants.js';
import type { ClipTable } from '../poses/ClipTable.js';
import { aheadAt } from './loops.js';
import {
  FADING_OUT,
  FINISHED,
  hasBit,
  intervalsOf,
  ROOT_MOTION,
  SLOT_COUNT,
  SLOT_FROM,
  SLOT_LOOP,
  SLOT_PLACE,
  SLOT_RATE,
  SLOT_START,
  type Slots,
} from './slots.js';

/**
 * Lets a slot that is settled go on in the clip of the same name of another table: as many seconds into it, as fast, in the
 * same pass.
 *
 * @param lost Takes the name of a clip that is not there; the slot then is the rest pose.
 */
export function changeClip(
  slots: Slots,
  at: number,
  clock: number,
  before: ClipTable,
  after: ClipTable,
  lost: Set<string>,
): void {
  const clip = before.startingAt(slots[at + SLOT_START]);
  if (clip === null) return;
  const next = after.clips.find(({ name }) => name === clip.name);
  if (next === undefined) {
    lost.add(clip.name);
    const fadingOut = slots[at + SLOT_LOOP] & FADING_OUT;
    slots.fill(0, at, at + SLOT_FROM);
    slots[at + SLOT_START] = REST_FRAME;
    slots[at + SLOT_COUNT] = 1;
    slots[at + SLOT_LOOP] = fadingOut;
    return;
  }

  // A pose has no frames per second, so the speed it was meant to have is not known.
  const factor = clip.fps === 0 ? 0 : next.fps / clip.fps;
  const finished = hasBit(slots, at, FINISHED);
  const ahead = finished ? 0 : slots[at + SLOT_RATE] * aheadAt(slots, at, clock);
  const within = slots[at + SLOT_PLACE] + ahead;
  const ended = finished && within === intervalsOf(slots, at);
  const nextWithin = ended ? next.count - 1 : Math.min(within * factor, next.count - 1);

  slots[at + SLOT_START] = next.start;
  slots[at + SLOT_COUNT] = next.count;
  slots[at + SLOT_RATE] = clip.fps === 0 ? next.fps : slots[at + SLOT_RATE] * factor;
  slots[at + SLOT_PLACE] = nextWithin - ahead * factor;
  if (next.rootMotion === null) slots[at + SLOT_LOOP] &= ~ROOT_MOTION;
}
