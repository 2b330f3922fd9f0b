import { LOOP_CLAMP, LOOP_PING_PONG } from '../constants.js';
import type { BakedClip, ClipTable } from '../poses/ClipTable.js';
import { settle } from './changeSlot.js';
import type { InstancePlayback } from './InstancePlayback.js';
import { SLOT_COUNT_PER_LAYER } from './LayerSlots.js';
import {
  clearSlot,
  FINISHED,
  FIRST,
  ONCE,
  REVERSED,
  ROOT_MOTION,
  SLOT_COUNT,
  SLOT_FADE,
  SLOT_FADE_RATE,
  SLOT_LOOP,
  SLOT_PASS,
  SLOT_PLACE,
  SLOT_RATE,
  SLOT_REPETITIONS,
  SLOT_SINCE,
  SLOT_SIZE,
  SLOT_START,
  SLOT_WARP,
  type Slots,
  shiftSlot,
} from './slots.js';

const VERSION = 2;

/** What every instance of a crowd plays, as plain data; see `SkinnedInstancedMesh.playbackToJSON`. */
export interface PlaybackJSON {
  /** Of the format. */
  version: 2;
  /** Names of the clips that `instances` count by. */
  clips: string[];
  /**
   * One row per instance: 1 if it is paused, else 0; then 9 numbers for the clip it plays, and 18 more for those it fades
   * out of. Infinite repetitions are 1e9.
   */
  instances: number[][];
}

/** Numbers of a slot in a row. */
const ROW_SIZE = 9;

/** What a row holds of a slot after the index of its clip, in this order. */
const FIELDS = [
  SLOT_PLACE,
  SLOT_PASS,
  SLOT_RATE,
  SLOT_LOOP,
  SLOT_REPETITIONS,
  SLOT_WARP,
  SLOT_FADE,
  SLOT_FADE_RATE,
] as const;

const ALL_BITS = LOOP_PING_PONG | LOOP_CLAMP | ROOT_MOTION | ONCE | REVERSED | FINISHED | FIRST;

const _saved: readonly Slots[] = /*@__PURE__*/ Array.from(
  { length: SLOT_COUNT_PER_LAYER },
  () => new Float64Array(SLOT_SIZE),
);

/** Times are kept in seconds and clips by name, so that another baking of the same character can take over. */
export function savePlayback(playback: InstancePlayback, count: number, clips: ClipTable): PlaybackJSON {
  const names: string[] = [];
  const instances: number[][] = [];
  for (let i = 0; i < count; i++) {
    const row = [playback.isPaused(i) ? 1 : 0];
    const used = saveSlots(playback, i);
    for (let slot = 0; slot < used; slot++) {
      const slots = _saved[slot];
      const clip = clips.startingAt(slots[SLOT_START]);
      if (clip !== null && !names.includes(clip.name)) names.push(clip.name);
      scale(slots, clip === null || clip.fps === 0 ? 0 : 1 / clip.fps);
      row.push(clip === null ? -1 : names.indexOf(clip.name));
      for (const field of FIELDS) row.push(slots[field]);
    }
    instances.push(row);
  }
  return { version: VERSION, clips: names, instances };
}

/**
 * Copies the slots of an instance as they are now, with a clock that is at zero now.
 *
 * @returns How many there are: the newest alone, or all.
 */
function saveSlots({ layer, time }: InstancePlayback, index: number): number {
  const clock = time.timeOf(index);
  const at = layer.at(index);
  const used = layer.countShown(index, clock) > 1 ? SLOT_COUNT_PER_LAYER : 1;
  for (let slot = 0; slot < used; slot++) {
    const slots = _saved[slot];
    slots.set(layer.slots[slot].subarray(at, at + SLOT_SIZE));
    if (!time.isPaused(index)) settle(slots, 0, clock, layer.easeOf(index, slot, clock));
    slots[SLOT_SINCE] = clock;
    shiftSlot(slots, 0, -clock);
  }
  if (used === 1) _saved[0][SLOT_FADE] = _saved[0][SLOT_FADE_RATE] = 0;
  return used;
}

/** Lets an instance go on from slots that were saved. */
function restoreSlots(playback: InstancePlayback, index: number, paused: boolean, saved: Slots[]): void {
  const { layer, time } = playback;
  const at = layer.at(index);
  if (saved.length > 1) layer.needFades();
  saved.forEach((slots, slot) => {
    layer.slots[slot].set(slots, at);
  });
  time.resume(index);
  if (paused) time.pause(index);
  layer.shift(index, time.time);
  playback.restored(index);
}

/**
 * Lets instances go on from what was saved: all of them, or none if anything is wrong.
 *
 * @throws If the data is of another kind, or names a clip that is not there.
 */
export function loadPlayback(
  playback: InstancePlayback,
  count: number,
  json: PlaybackJSON,
  clips: ClipTable,
  caller: string,
): void {
  if (json?.version !== VERSION || !Array.isArray(json.clips) || !Array.isArray(json.instances)) {
    throw new Error(
      `${caller}: this is not what playbackToJSON returned, or of a version other than ${VERSION}.`,
    );
  }
  if (json.instances.length > count) {
    throw new Error(
      `${caller}: the data is for ${json.instances.length} instances, the mesh has ${count}; call setCapacity(${json.instances.length}) first.`,
    );
  }
  const known = json.clips.map((name) => clips.clips[clips.indexOf(name, caller)]);
  const all = json.instances.map((row, i) => readRow(row, known, `${caller}: instance ${i}`));
  for (let i = 0; i < all.length; i++) restoreSlots(playback, i, json.instances[i][0] === 1, all[i]);
}

/** @throws If that is no row of a saved instance; `what` begins the message. */
function readRow(row: unknown, clips: readonly BakedClip[], what: string): Slots[] {
  if (!Array.isArray(row) || !row.every(Number.isFinite)) {
    throw new Error(`${what} is no row of finite numbers.`);
  }
  const slotCount = (row.length - 1) / ROW_SIZE;
  if (slotCount !== 1 && slotCount !== SLOT_COUNT_PER_LAYER) {
    throw new Error(
      `${what} has ${row.length} numbers; ${ROW_SIZE + 1} or ${SLOT_COUNT_PER_LAYER * ROW_SIZE + 1} are needed.`,
    );
  }
  if (row[0] !== 0 && row[0] !== 1) throw new Error(`${what} begins with ${row[0]}; 0 or 1 is needed.`);
  return Array.from({ length: slotCount }, (_, slot) =>
    readSlot(row.slice(1 + slot * ROW_SIZE, 1 + (slot + 1) * ROW_SIZE), clips, what),
  );
}

function readSlot([index, ...values]: number[], clips: readonly BakedClip[], what: string): Slots {
  const clip = index === -1 ? null : clips[index];
  if (clip === undefined) throw new Error(`${what} plays clip ${index} of ${clips.length}.`);
  const slots = new Float64Array(SLOT_SIZE);
  clearSlot(slots, 0);
  for (let i = 0; i < FIELDS.length; i++) slots[FIELDS[i]] = values[i];
  const loop = slots[SLOT_LOOP];
  if (!Number.isInteger(slots[SLOT_PASS]) || slots[SLOT_REPETITIONS] < 0 || (loop & ALL_BITS) !== loop) {
    throw new Error(`${what} has numbers that no instance can have, for clip ${index}.`);
  }
  if (clip !== null) {
    slots[SLOT_START] = clip.start;
    slots[SLOT_COUNT] = clip.count;
  }
  scale(slots, clip === null ? 0 : clip.fps);
  return slots;
}

/** From frames to seconds or back. */
function scale(slots: Slots, factor: number): void {
  slots[SLOT_PLACE] *= factor;
  slots[SLOT_RATE] *= factor;
}
