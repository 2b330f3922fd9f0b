import type { SkinnedInstancedMesh } from '../crowd/SkinnedInstancedMesh.js';
import {
  ACTION_COUNT,
  ACTION_LOOP,
  ACTION_PLACE,
  ACTION_RATE,
  ACTION_SINCE,
  ACTION_SIZE,
  ACTION_START,
  ACTION_STARTED,
  ACTION_STARTED_IN,
  ACTION_TOLD_AGAIN,
  ACTION_TOLD_TIME,
  type Actions,
  FADING_OUT,
  fadeDone,
  hasBit,
  hasJustBegun,
  RAMP_SIZE,
  RAMP_START,
  settle,
  shiftAction,
} from '../playback/actionNumbers.js';
import { MAX_ACTIONS } from '../playback/instanceLayout.js';
import { keepFade } from './setBoneTexture.js';

/** What all instances of a crowd play, as plain data; see {@link savePlayback}. */
export interface PlaybackJSON {
  /** Of the format. */
  version: 2;
  /** Names of the clips that `instances` count by. */
  clips: string[];
  /** Names of the layers, the base first. */
  layers: string[];
  /** By id; null for those that were deleted. */
  instances: (InstanceJSON | null)[];
}

/** What one instance plays. */
export interface InstanceJSON {
  /** Left out if it is not. */
  paused?: true;
  /** Left out if it is not, see `setVisibleAt`. */
  hidden?: true;
  /**
   * For each layer how its weight fades, of layers over the base, and its clips in the order in which they were started: the
   * number of the clip; 1 if it is the one that plays, else 0; those of an action from `ACTION_LOOP` on, in seconds; and of
   * one that was started at this very moment the pass it is in, since the next update tells of what lies right there.
   */
  layers: {
    /** How the weight of the layer fades. */
    weight?: number[];
    /** Its clips. */
    clips: number[][];
  }[];
}

/** Numbers of a clip of a file: those of an action from `ACTION_LOOP` to `ACTION_SINCE`, behind two others. */
const CLIP_NUMBERS = 2 + ACTION_SINCE - ACTION_LOOP;

const _action = /*@__PURE__*/ new Float64Array(ACTION_SIZE);

/**
 * What the instances of a crowd play, and which are hidden or deleted, as plain data that JSON can hold; {@link loadPlayback}
 * takes it. Times are in seconds, and clips and layers go by name, so that another baking of the character can take over.
 *
 * @example
 * ```ts
 * localStorage.setItem('crowd', JSON.stringify(savePlayback(crowd)));
 * ```
 *
 * @category Save
 */
export function savePlayback(mesh: SkinnedInstancedMesh): PlaybackJSON {
  const { playback, visibility, count } = mesh;
  const { time } = playback;
  const { clipTable } = mesh.boneTexture;
  const clips: string[] = [];
  const instances = Array.from({ length: count }, (_, i): InstanceJSON | null => {
    if (visibility.isDeleted(i)) return null;
    playback.driver?.mixers[i]?.settle();
    const now = time.timeOf(i);
    const layers = playback.layers.map((layer) => {
      const weight = layer.share && [...layer.share.ramps.subarray(i * RAMP_SIZE, (i + 1) * RAMP_SIZE)];
      if (weight) weight[RAMP_START] -= now;
      const at = layer.at(i);
      const rows: number[][] = [];
      for (let place = 0; place < layer.count(i); place++) {
        const actions = layer.actions(place);
        const fadesOut = hasBit(actions, at, FADING_OUT);
        // It has faded out, but was not taken away yet. One whose fade has not begun, after the clock was turned back, is kept.
        if (fadesOut && layer.weightOf(i, place, now) <= 0 && fadeDone(actions, at, now) > 0) continue;
        const clip = clipTable.startingAt(actions[at + ACTION_START]);
        if (!clips.includes(clip.name)) clips.push(clip.name);
        _action.set(actions.subarray(at, at + ACTION_SIZE));
        if (!time.isPaused(i)) settle(_action, 0, now);
        shiftAction(_action, 0, -now);
        scale(_action, 0, clip.fps === 0 ? 0 : 1 / clip.fps);
        const row = [clips.indexOf(clip.name), place === layer.current(i) ? 1 : 0];
        row.push(..._action.subarray(ACTION_LOOP, ACTION_SINCE));
        if (!fadesOut && hasJustBegun(actions, at, now)) row.push(actions[at + ACTION_STARTED_IN]);
        rows.push(row);
      }
      return { ...(weight && { weight }), clips: rows };
    });
    return {
      ...(time.isPaused(i) && { paused: true }),
      ...(!visibility.isVisible(i) && { hidden: true }),
      layers,
    };
  });
  return { version: 2, clips, layers: playback.layers.map(({ name }) => name), instances };
}

/**
 * Lets instances go on from where {@link savePlayback} left them, in the same crowd or in another one whose bone texture has
 * clips of the same names. Of the instances that there are now, those that were deleted or hidden then are so now, and all
 * others that the data is of exist and are visible; a crowd without any gets them all.
 *
 * @throws If the data is of another kind, is for more instances than there is room for in a crowd that has some, or names a clip or layer that is not
 * there. Then nothing was changed.
 *
 * @example
 * ```ts
 * loadPlayback(crowd, JSON.parse(localStorage.getItem('crowd')!));
 * ```
 *
 * @category Save
 */
export function loadPlayback<T extends SkinnedInstancedMesh>(mesh: T, json: PlaybackJSON): T {
  const { crowd, playback, visibility } = mesh;
  if (json?.version !== 2 || ![json.clips, json.layers, json.instances].every(Array.isArray)) {
    throw new Error('This is not what savePlayback() returned, or not of version 2.');
  }
  const { time } = playback;
  const { instances } = json;
  const isEmpty = visibility.count === 0;
  if (instances.length > mesh.capacity && !isEmpty) {
    throw new Error(
      `The data is for ${instances.length} instances, and the crowd has room for ${mesh.capacity}; call setCapacity(${instances.length}) first.`,
    );
  }
  const { clipTable } = mesh.boneTexture;
  const clips = json.clips.map((name) => clipTable.find(name));
  const layers = json.layers.map((name) => playback.layerIndex(name));
  instances.forEach((instance, i) => {
    const isWhole =
      instance === null ||
      (instance?.layers?.length === layers.length &&
        instance.layers.every((layer, k) => isLayer(layer, k, clips.length)));
    if (!isWhole) throw new Error(`The data of instance ${i} is damaged.`);
    instance?.layers.forEach((layer, k) => {
      for (const [clip] of layer.clips) playback.checkClip(layers[k], clips[clip]);
    });
  });

  playback.observer?.replacing();
  if (isEmpty) {
    crowd.resize(Math.max(mesh.capacity, instances.length));
    crowd.setCount(instances.length);
  }
  instances.forEach((instance, i) => {
    const isThere = i < visibility.count;
    if (instance === null) {
      if (isThere) crowd.delete(i);
      return;
    }
    if (isThere) {
      if (visibility.isDeleted(i)) crowd.restore(i);
      crowd.setVisible(i, !instance.hidden);
    }
    playback.driver?.released(i);
    for (const layer of playback.layers) layer.reset(i);
    time.resume(i);
    if (instance.paused) time.pause(i);
    const now = time.elapsed;
    instance.layers.forEach(({ weight, clips: rows }, k) => {
      const layer = playback.layers[layers[k]];
      const at = layer.at(i);
      let current = -1;
      for (const row of rows) {
        const place = layer.add(i);
        if (row[1] === 1) current = place;
        const actions = layer.actions(place);
        const clip = clips[row[0]];
        actions.set(row.slice(2, CLIP_NUMBERS), at + ACTION_LOOP);
        actions[at + ACTION_START] = clip.start;
        actions[at + ACTION_COUNT] = clip.count;
        scale(actions, at, clip.fps);
        actions[at + ACTION_SINCE] = 0;
        shiftAction(actions, at, now);
        // A program that tells it so in each frame goes on doing so. With which time it was told is not saved.
        actions[at + ACTION_TOLD_TIME] = Number.NaN;
        actions[at + ACTION_TOLD_AGAIN] = now;
        const isBegun = row.length > CLIP_NUMBERS;
        if (isBegun) actions[at + ACTION_STARTED] = now;
        actions[at + ACTION_STARTED_IN] = isBegun ? row[CLIP_NUMBERS] : Number.NaN;
      }
      layer.setCurrent(i, current);
      if (layer.share === null || weight === undefined) return;
      layer.share.ramps.set(weight, i * RAMP_SIZE);
      layer.share.ramps[i * RAMP_SIZE + RAMP_START] += now;
    });
    if (!playback.mixes) keepFade(playback.layers[0], i);
    playback.restored(i);
  });
  return mesh;
}

/** Whether a layer of a file is one that an instance can have: numbers that are none would be drawn as garbage for good. */
function isLayer({ weight, clips }: InstanceJSON['layers'][number], number: number, count: number): boolean {
  const isClip = (row: number[]) =>
    row.length >= CLIP_NUMBERS &&
    row.every(Number.isFinite) &&
    row[0] >= 0 &&
    row[0] < count &&
    row[0] % 1 === 0;
  return (
    clips?.length <= MAX_ACTIONS &&
    clips.every(isClip) &&
    (number === 0 || (weight?.length === RAMP_SIZE && weight.every(Number.isFinite)))
  );
}

/** From frames to seconds or back. */
function scale(actions: Actions, at: number, factor: number): void {
  actions[at + ACTION_PLACE] *= factor;
  actions[at + ACTION_RATE] *= factor;
}
