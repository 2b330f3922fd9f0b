import type { ClipTable } from '../poses/ClipTable.js';
import type { InstancePlayback } from './InstancePlayback.js';
import {
  CLIP_COUNT,
  CLIP_RATE,
  CLIP_START,
  CLIP_TIME,
  OLDER_STRIDE,
  SLOT_STRIDE,
  WARP_IN,
  WARP_OUT,
} from './instanceLayout.js';

/** What every instance of a crowd plays, as plain data; see `SkinnedInstancedMesh.playbackToJSON`. */
export interface PlaybackJSON {
  /** Of the format. */
  version: 1;
  /** Names of the clips that `instances` count by. */
  clips: string[];
  /** One row per instance: bits, then 8 or 24 numbers. Infinite repetitions are 1e9. */
  instances: number[][];
}

/** Times are kept in seconds and clips by name, so that another baking of the same character can take over. */
export function savePlayback(playback: InstancePlayback, count: number, clips: ClipTable): PlaybackJSON {
  const names: string[] = [];
  const instances: number[][] = [];
  for (let i = 0; i < count; i++) {
    const { flags, slots } = playback.save(i);
    for (let at = 0; at < slots.length; at += SLOT_STRIDE) {
      const clip = clips.startingAt(slots[at + CLIP_START]);
      if (clip !== null && !names.includes(clip.name)) names.push(clip.name);
      slots[at + CLIP_START] = clip === null ? -1 : names.indexOf(clip.name);
      scale(slots, at, clip === null || clip.fps === 0 ? 0 : 1 / clip.fps);
    }
    instances.push([flags, ...slots]);
  }
  return { version: 1, clips: names, instances };
}

/** @throws If the data is of another kind, or names a clip that is not there. */
export function loadPlayback(
  playback: InstancePlayback,
  count: number,
  json: PlaybackJSON,
  clips: ClipTable,
  caller: string,
): void {
  if (json?.version !== 1 || !Array.isArray(json.clips) || !Array.isArray(json.instances)) {
    throw new Error(`${caller}: this is not what playbackToJSON returned, or of a version other than 1.`);
  }
  if (json.instances.length > count) {
    throw new Error(
      `${caller}: the data is for ${json.instances.length} instances, the mesh has ${count}; call setCapacity(${json.instances.length}) first.`,
    );
  }
  const known = json.clips.map((name) => clips.clips[clips.indexOf(name, caller)]);
  json.instances.forEach(([flags, ...slots], i) => {
    const whole = slots.length === SLOT_STRIDE || slots.length === SLOT_STRIDE + OLDER_STRIDE;
    if (!whole || !slots.every(Number.isFinite)) {
      throw new Error(
        `${caller}: instance ${i} has ${slots.length} numbers, or one that is not finite; 8 or 24 are needed.`,
      );
    }
    for (let at = 0; at < slots.length; at += SLOT_STRIDE) {
      const clip = slots[at + CLIP_START] < 0 ? null : known[slots[at + CLIP_START]];
      if (clip === undefined)
        throw new Error(`${caller}: instance ${i} plays clip ${slots[at + CLIP_START]} of ${known.length}.`);
      slots[at + CLIP_START] = clip === null ? 0 : clip.start;
      slots[at + CLIP_COUNT] = clip === null ? 1 : clip.count;
      scale(slots, at, clip === null ? 0 : clip.fps);
    }
    playback.restore(i, flags, slots);
  });
}

/** From frames to seconds or back. */
function scale(slots: number[], at: number, factor: number): void {
  slots[at + CLIP_TIME] *= factor;
  slots[at + CLIP_RATE] *= factor;
  // The warps lie in the last slot, but are frames of the two before it.
  if (slots.length <= SLOT_STRIDE) return;
  if (at === 0) slots[SLOT_STRIDE + WARP_IN] *= factor;
  if (at === SLOT_STRIDE) slots[SLOT_STRIDE + WARP_OUT] *= factor;
}
