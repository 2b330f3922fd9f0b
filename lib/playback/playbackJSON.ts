import type { InstanceIds } from '../instances/instanceRange.js';
import type { ClipTable } from '../poses/ClipTable.js';
import type { Clock } from './Clock.js';
import { nestedToWeights, weightsToNested } from './convertFades.js';
import type { LayerSlots } from './LayerSlots.js';
import { nestedFades } from './nestedFades.js';
import type { PlaybackState } from './PlaybackState.js';
import { fromVersion2, toVersion2 } from './playbackJSON2.js';
import { readRow, type SavedLayer, toVersion4 } from './playbackRows.js';
import { saveClip } from './savedClips.js';
import { FADING_OUT, fadeDone, hasBit, hasJustBegun, SLOT_START, SLOT_STARTED_IN } from './slots.js';

/** What every instance of a crowd plays, as plain data; see `SkinnedInstancedMesh.playbackToJSON`. */
export interface PlaybackJSON {
  /**
   * Of the format: 4 for crowds of encoding `'tracks'`, which know weights and layers, 2 for others. Either crowd reads both,
   * and 3, which had no layers.
   */
  version: 2 | 3 | 4;
  /** Names of the clips that `instances` count by. */
  clips: string[];
  /** Version 4: names of the layers, the base first. */
  layers?: string[];
  /**
   * One row per instance: 1 if it is paused, else 0; then in version 2 the clip that plays, 9 numbers, and 18 more for those
   * it fades out of; in version 3 14 numbers for each clip that shows, in the order in which they were started; in version 4
   * for each layer 4 numbers of its weight, how many clips show on it, and these. Infinite repetitions are 1e9.
   */
  instances: number[][];
  /**
   * Clips that were started, or whose time was set, at this very moment, so that the next update tells of what lies right there. For
   * each four numbers: its row, its layer, its place among `clips`, and the pass it was in. Left out if there is none.
   */
  begun?: number[][];
  /** Numbers of the rows of instances that are hidden, see `setVisibleAt`; left out if none is. */
  hidden?: number[];
  /** Numbers of the rows that belong to no instance, since it was deleted; left out if none was. */
  deleted?: number[];
}

/** Times are kept in seconds, and clips and layers by name, so that another baking of the same character can take over. */
export function savePlayback(playback: PlaybackState, count: number, clips: ClipTable): PlaybackJSON {
  const names: string[] = [];
  const begun: number[][] = [];
  const { stack, time, layers } = playback;
  const nested = stack.base.blend === nestedFades;
  const instances = Array.from({ length: count }, (_, i) => {
    const row = [time.isPaused(i) ? 1 : 0];
    stack.layers.forEach((layer, number) => {
      const rows = saveLayer(layer, i, time, clips, names);
      for (const [clip, pass] of justBegun(layer, i, time, clips))
        begun.push([i, number, names.indexOf(clip), pass]);
      if (nested) row.push(...toVersion2(rows));
      else row.push(...stack.weights.save(number, i, time.timeOf(i)), rows.length, ...rows.flat());
    });
    return row;
  });
  const more = begun.length > 0 && { begun };
  if (nested) return { version: 2, clips: names, instances, ...more };
  return { version: 4, clips: names, layers: [...layers.names], instances, ...more };
}

/** Names of clips of an instance on a layer that have begun at this very moment, and the passes they were in. */
function justBegun(layer: LayerSlots, index: number, time: Clock, clips: ClipTable): [string, number][] {
  const at = layer.at(index);
  const found: [string, number][] = [];
  for (let place = 0; place < layer.order.count(index); place++) {
    const slots = layer.slotsAt(index, place);
    const clip = clips.startingAt(slots[at + SLOT_START]);
    if (clip === null || hasBit(slots, at, FADING_OUT) || !hasJustBegun(slots, at, time.elapsedOf(index)))
      continue;
    found.push([clip.name, slots[at + SLOT_STARTED_IN]]);
  }
  return found;
}

/** The clips of an instance on a layer, in the order in which they were started. */
function saveLayer(
  layer: LayerSlots,
  index: number,
  time: Clock,
  clips: ClipTable,
  names: string[],
): number[][] {
  const clock = time.timeOf(index);
  const at = layer.at(index);
  const current = layer.current(index);
  const rows: number[][] = [];
  for (let place = 0; place < layer.order.count(index); place++) {
    const slots = layer.slotsAt(index, place);
    // It has faded out, but its slot was not freed yet. One whose fade has not begun, after the clock was turned back, is kept.
    const showsNothing = layer.weightOf(index, place, clock) <= 0 && fadeDone(slots, at, clock) > 0;
    if (showsNothing && hasBit(slots, at, FADING_OUT)) continue;
    rows.push(saveClip(slots, at, clock, time.isPaused(index), slots === current, clips, names));
  }
  return rows;
}

/**
 * Reads what was saved.
 *
 * @param ids Instances that may go on from it.
 * @returns Lets them do so.
 * @throws If the data is of another kind, or names a clip or layer that is not there.
 */
export function readPlayback(
  playback: PlaybackState,
  ids: InstanceIds,
  json: PlaybackJSON,
  clips: ClipTable,
  caller: string,
): () => void {
  const version: number | undefined = json?.version;
  const isKnown = version === 2 || version === 3 || (version === 4 && Array.isArray(json.layers));
  if (!isKnown || !Array.isArray(json.clips) || !Array.isArray(json.instances)) {
    throw new Error(
      `${caller}: this is not what playbackToJSON returned, or of a version other than 2 to 4.`,
    );
  }
  if (json.instances.length > ids.capacity) {
    throw new Error(
      `${caller}: the data is for ${json.instances.length} instances, the mesh has ${ids.capacity}; call setCapacity(${json.instances.length}) first.`,
    );
  }
  const played = json.clips.map((name) => clips.clips[clips.indexOf(name, caller)]);
  const layers = (json.layers ?? [0]).map((name) => playback.layers.indexOf(name, caller));
  if (new Set(layers).size < layers.length) {
    throw new Error(`${caller}: the data names a layer twice: ${json.layers?.join(', ')}.`);
  }
  const all = json.instances.map((row, i) => {
    const what = `${caller}: instance ${i}`;
    const convert = (numbers: number[]) => {
      if (version === 4) return numbers;
      return toVersion4(version === 2 ? fromVersion2(numbers, what) : numbers);
    };
    return readRow(row, convert, layers, played, what);
  });
  for (const saved of all.flat()) {
    for (const { clip } of saved.clips) {
      if (clip !== null) playback.layers.checkClip(saved.layer, clip, caller);
    }
  }
  const begun = json.begun ?? [];
  const isBegun = ([row, layer, clip, pass]: number[]) =>
    row in all && layer in layers && clip in played && Number.isInteger(pass);
  if (!Array.isArray(begun) || !begun.every((one) => Array.isArray(one) && isBegun(one))) {
    throw new Error(`${caller}: "begun" names a row, layer or clip that the data does not have.`);
  }
  return () => {
    all.forEach((saved, i) => {
      if (!ids.isDeleted(i)) restore(playback, i, json.instances[i][0] === 1, saved, version === 2);
    });
    for (const [row, layer, clip, pass] of begun) {
      playback.restoreBegun(row, layers[layer], played[clip], pass);
    }
  };
}

/** Lets an instance go on from clips that were saved, with nested fades or with weights. */
function restore(
  playback: PlaybackState,
  index: number,
  paused: boolean,
  saved: readonly SavedLayer[],
  nested: boolean,
): void {
  const { stack, time } = playback;
  playback.driver?.released(index);
  stack.clear(index);
  for (const { layer, weight, clips } of saved) {
    const slots = stack.layers[layer];
    let current = -1;
    for (const clip of clips) {
      slots.add(index).set(clip.slot, slots.at(index));
      if (clip.current) current = slots.order.current(index);
    }
    slots.order.setCurrent(index, current);
    if (layer > 0) stack.weights.restore(layer, index, weight);
  }
  time.resume(index);
  if (paused) time.pause(index);
  stack.shift(index, time.time);
  const { base } = stack;
  if (nested && base.blend !== nestedFades) nestedToWeights(base, index, time.time);
  if (!nested && base.blend === nestedFades) weightsToNested(base, index);
  playback.restored(index);
}
