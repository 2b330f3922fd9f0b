import { LOOP_CLAMP, LOOP_PING_PONG } from '../constants.js';
import type { BakedClip, ClipTable } from '../poses/ClipTable.js';
import type { InstancePlayback } from './InstancePlayback.js';
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
  SLOT_SIZE,
  SLOT_START,
  SLOT_WARP,
  type Slots,
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

/** Times are kept in seconds and clips by name, so that another baking of the same character can take over. */
export function savePlayback(playback: InstancePlayback, count: number, clips: ClipTable): PlaybackJSON {
  const names: string[] = [];
  const instances: number[][] = [];
  for (let i = 0; i < count; i++) {
    const { paused, slots } = playback.save(i);
    const row = [paused ? 1 : 0];
    for (let at = 0; at < slots.length; at += SLOT_SIZE) {
      const clip = clips.startingAt(slots[at + SLOT_START]);
      if (clip !== null && !names.includes(clip.name)) names.push(clip.name);
      scale(slots, at, clip === null || clip.fps === 0 ? 0 : 1 / clip.fps);
      row.push(clip === null ? -1 : names.indexOf(clip.name));
      for (const field of FIELDS) row.push(slots[at + field]);
    }
    instances.push(row);
  }
  return { version: VERSION, clips: names, instances };
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
  for (let i = 0; i < all.length; i++) playback.restore(i, json.instances[i][0] === 1, all[i]);
}

/** @throws If that is no row of a saved instance; `what` begins the message. */
function readRow(row: unknown, clips: readonly BakedClip[], what: string): Slots {
  if (!Array.isArray(row) || !row.every(Number.isFinite)) {
    throw new Error(`${what} is no row of finite numbers.`);
  }
  const slotCount = (row.length - 1) / ROW_SIZE;
  if (slotCount !== 1 && slotCount !== 3) {
    throw new Error(`${what} has ${row.length} numbers; ${ROW_SIZE + 1} or ${3 * ROW_SIZE + 1} are needed.`);
  }
  if (row[0] !== 0 && row[0] !== 1) throw new Error(`${what} begins with ${row[0]}; 0 or 1 is needed.`);

  const slots = new Float64Array(slotCount * SLOT_SIZE);
  for (let slot = 0; slot < slotCount; slot++) {
    const at = slot * SLOT_SIZE;
    const [index, ...values] = row.slice(1 + slot * ROW_SIZE, 1 + (slot + 1) * ROW_SIZE);
    const clip = index === -1 ? null : clips[index];
    if (clip === undefined) throw new Error(`${what} plays clip ${index} of ${clips.length}.`);
    clearSlot(slots, at);
    for (let i = 0; i < FIELDS.length; i++) slots[at + FIELDS[i]] = values[i];
    const loop = slots[at + SLOT_LOOP];
    if (
      !Number.isInteger(slots[at + SLOT_PASS]) ||
      slots[at + SLOT_REPETITIONS] < 0 ||
      (loop & ALL_BITS) !== loop
    ) {
      throw new Error(`${what} has numbers that no instance can have, for clip ${index}.`);
    }
    if (clip !== null) {
      slots[at + SLOT_START] = clip.start;
      slots[at + SLOT_COUNT] = clip.count;
    }
    scale(slots, at, clip === null ? 0 : clip.fps);
  }
  return slots;
}

/** From frames to seconds or back. */
function scale(slots: Slots, at: number, factor: number): void {
  slots[at + SLOT_PLACE] *= factor;
  slots[at + SLOT_RATE] *= factor;
}
