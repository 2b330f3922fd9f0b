import { LOOP_CLAMP, LOOP_PING_PONG } from '../constants.js';
import type { BakedClip, ClipTable } from '../poses/ClipTable.js';
import { settle } from './changeSlot.js';
import { nestedToWeights, weightsToNested } from './convertFades.js';
import type { InstancePlayback } from './InstancePlayback.js';
import { nestedFades } from './nestedFades.js';
import { fromVersion2, toVersion2 } from './playbackJSON2.js';
import { MAX_ACTIONS } from './SlotOrder.js';
import {
  clearSlot,
  FADING_OUT,
  FINISHED,
  FIRST,
  hasBit,
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

/** What every instance of a crowd plays, as plain data; see `SkinnedInstancedMesh.playbackToJSON`. */
export interface PlaybackJSON {
  /** Of the format: 3 for crowds of encoding `'tracks'`, which know weights, 2 for others. Either crowd reads both. */
  version: 2 | 3;
  /** Names of the clips that `instances` count by. */
  clips: string[];
  /**
   * One row per instance: 1 if it is paused, else 0; then in version 2 the clip that plays, 9 numbers, and 18 more for those
   * it fades out of; in version 3 14 numbers for each clip that shows, in the order in which they were started. Infinite
   * repetitions are 1e9.
   */
  instances: number[][];
}

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
const ROW_SIZE = 2 + FIELDS.length;

const ALL_BITS = LOOP_PING_PONG | LOOP_CLAMP | ROOT_MOTION | ONCE | REVERSED | FINISHED | FIRST | FADING_OUT;

const _slot = /*@__PURE__*/ new Float64Array(SLOT_SIZE);

/** Times are kept in seconds and clips by name, so that another baking of the same character can take over. */
export function savePlayback(playback: InstancePlayback, count: number, clips: ClipTable): PlaybackJSON {
  const names: string[] = [];
  const instances: number[][] = [];
  const { layer, time } = playback;
  const nested = layer.blend === nestedFades;
  for (let i = 0; i < count; i++) {
    const paused = time.isPaused(i);
    const row = [paused ? 1 : 0];
    const clock = time.timeOf(i);
    const at = layer.at(i);
    const current = layer.current(i);
    const rows: number[][] = [];
    for (let place = 0; place < layer.order.count(i); place++) {
      const slots = layer.slotsAt(i, place);
      // It has faded out, but its slot was not freed yet.
      if (hasBit(slots, at, FADING_OUT) && layer.weightOf(i, place, clock) <= 0) continue;
      _slot.set(slots.subarray(at, at + SLOT_SIZE));
      if (!paused) settle(_slot, 0, clock);
      // With a clock that is at zero now.
      shiftSlot(_slot, 0, -clock);
      const clip = clips.startingAt(_slot[SLOT_START]);
      if (clip !== null && !names.includes(clip.name)) names.push(clip.name);
      scale(_slot, clip === null || clip.fps === 0 ? 0 : 1 / clip.fps);
      const fields = FIELDS.map((field) => _slot[field]);
      rows.push([clip === null ? -1 : names.indexOf(clip.name), slots === current ? 1 : 0, ...fields]);
    }
    row.push(...(nested ? toVersion2(rows) : rows.flat()));
    instances.push(row);
  }
  return { version: nested ? 2 : 3, clips: names, instances };
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
  const version: number | undefined = json?.version;
  if ((version !== 2 && version !== 3) || !Array.isArray(json.clips) || !Array.isArray(json.instances)) {
    throw new Error(
      `${caller}: this is not what playbackToJSON returned, or of a version other than 2 and 3.`,
    );
  }
  if (json.instances.length > count) {
    throw new Error(
      `${caller}: the data is for ${json.instances.length} instances, the mesh has ${count}; call setCapacity(${json.instances.length}) first.`,
    );
  }
  const played = json.clips.map((name) => clips.clips[clips.indexOf(name, caller)]);
  const all = json.instances.map((row, i) => readRow(row, version, played, `${caller}: instance ${i}`));
  all.forEach((saved, i) => {
    restore(playback, i, json.instances[i][0] === 1, saved, version === 2);
  });
}

/** A clip that was saved. */
interface Saved {
  slot: Slots;
  /** Whether it is the one that plays. */
  current: boolean;
}

/** Lets an instance go on from clips that were saved, with nested fades or with weights. */
function restore(
  playback: InstancePlayback,
  index: number,
  paused: boolean,
  saved: Saved[],
  nested: boolean,
): void {
  const { layer, time } = playback;
  layer.order.clear(index);
  let current = -1;
  for (const one of saved) {
    layer.add(index).set(one.slot, layer.at(index));
    if (one.current) current = layer.order.current(index);
  }
  layer.order.setCurrent(index, current);
  time.resume(index);
  if (paused) time.pause(index);
  layer.shift(index, time.time);
  if (nested && layer.blend !== nestedFades) nestedToWeights(layer, index, time.time);
  if (!nested && layer.blend === nestedFades) weightsToNested(layer, index);
  playback.restored(index);
}

/** @throws If that is no row of a saved instance; `what` begins the message. */
function readRow(row: unknown, version: number, clips: readonly BakedClip[], what: string): Saved[] {
  if (!Array.isArray(row) || !row.every(Number.isFinite)) {
    throw new Error(`${what} is no row of finite numbers.`);
  }
  const numbers: number[] = version === 2 ? fromVersion2(row, what) : row;
  const count = (numbers.length - 1) / ROW_SIZE;
  if (!Number.isInteger(count) || count > MAX_ACTIONS) {
    throw new Error(
      `${what} has ${row.length} numbers; 1 and ${ROW_SIZE} for each of up to ${MAX_ACTIONS} clips are needed.`,
    );
  }
  if (row[0] !== 0 && row[0] !== 1) throw new Error(`${what} begins with ${row[0]}; 0 or 1 is needed.`);
  return Array.from({ length: count }, (_, i) =>
    readSlot(numbers.slice(1 + i * ROW_SIZE, 1 + (i + 1) * ROW_SIZE), clips, what),
  );
}

function readSlot([index, current, ...values]: number[], clips: readonly BakedClip[], what: string): Saved {
  const clip = index === -1 ? null : clips[index];
  if (clip === undefined) throw new Error(`${what} plays clip ${index} of ${clips.length}.`);
  const slot = new Float64Array(SLOT_SIZE);
  clearSlot(slot, 0);
  FIELDS.forEach((field, i) => {
    slot[field] = values[i];
  });
  const loop = slot[SLOT_LOOP];
  const isWeight = (weight: number) => weight >= 0 && weight <= 1;
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
  return { slot, current: current === 1 };
}

/** From frames to seconds or back. */
function scale(slot: Slots, factor: number): void {
  slot[SLOT_PLACE] *= factor;
  slot[SLOT_RATE] *= factor;
}
