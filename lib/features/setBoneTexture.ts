import type { BoneTexture } from '../animation/BoneTexture.js';
import type { BakedClip, ClipTable } from '../animation/ClipTable.js';
import { REST_FRAME } from '../constants.js';
import type { SkinnedInstancedMesh } from '../crowd/SkinnedInstancedMesh.js';
import {
  ACTION_COUNT,
  ACTION_FADE_RATE,
  ACTION_FADE_START,
  ACTION_FROM,
  ACTION_LOOP,
  ACTION_PLACE,
  ACTION_RATE,
  ACTION_START,
  ACTION_TO,
  type Actions,
  aheadAt,
  clearAction,
  FADING_OUT,
  FINISHED,
  hasBit,
  intervalsOf,
  ROOT_MOTION,
} from '../playback/actions.js';
import type { LayerActions } from '../playback/LayerActions.js';
import { listNames, warnOnce } from '../utils/messages.js';

/**
 * Shows another bone texture, baked of the same skeleton: instances go on in the clips of the same names, as many seconds into them
 * and as fast, with the repetitions so far; those whose clip it has not, or whose layer does not take it, stand in the rest pose. What
 * is attached comes along. Another encoding compiles the materials anew.
 *
 * @throws If it was baked for another skeleton; then nothing was changed.
 *
 * @category Play and blend
 */
export function setBoneTexture(mesh: SkinnedInstancedMesh, boneTexture: BoneTexture): void {
  const { crowd, playback, capacity, boneTexture: former } = mesh;
  if (boneTexture === former) return;
  crowd.checkBoneTexture(boneTexture);
  for (const feature of crowd.features) feature.checkBoneTexture?.(boneTexture);
  crowd.replaceBoneTexture(boneTexture);

  /** Names of clips that instances showed, and that are not there. */
  const lost = new Set<string>();
  playback.observer?.replacing();
  for (let i = 0; i < capacity; i++) {
    playback.settle(i);
    const now = playback.time.timeOf(i);
    for (const layer of playback.layers)
      changeClips(layer, i, now, former.clipTable, boneTexture.clipTable, lost);
    if (!playback.mixes) keepFade(playback.layers[0], i);
  }
  playback.writeAll();
  for (let i = 0; i < capacity; i++) playback.observer?.started(i);
  playback.driver?.clipsChanged();
  if (lost.size === 0) return;
  warnOnce(
    `SkinnedInstancedMesh: the new bone texture has no ${listNames([...lost])}; instances that played it stand in the rest pose.`,
  );
}

/** Lets an instance that is settled go on in the clips of the same names of another table. */
function changeClips(
  layer: LayerActions,
  index: number,
  time: number,
  before: ClipTable,
  after: ClipTable,
  lost: Set<string>,
): void {
  layer.endFades(index, time);
  const at = layer.at(index);
  for (let place = 0; place < layer.count(index); place++) {
    const actions = layer.actions(place);
    const clip = before.startingAt(actions[at + ACTION_START]);
    if (clip === null) continue;
    const next = after.clips.find(({ name }) => name === clip.name);
    if (next !== undefined && layer.share?.takes(next) !== false) {
      changeClip(actions, at, time, clip, next);
      continue;
    }
    lost.add(clip.name);
    const fadingOut = actions[at + ACTION_LOOP] & FADING_OUT;
    actions.fill(0, at, at + ACTION_FROM);
    actions[at + ACTION_START] = REST_FRAME;
    actions[at + ACTION_COUNT] = 1;
    actions[at + ACTION_LOOP] = fadingOut;
  }
}

function changeClip(actions: Actions, at: number, time: number, clip: BakedClip, next: BakedClip): void {
  // A pose has no frames per second, so the speed it was meant to have is not known.
  const factor = clip.fps === 0 ? 0 : next.fps / clip.fps;
  const finished = hasBit(actions, at, FINISHED);
  const ahead = finished ? 0 : actions[at + ACTION_RATE] * aheadAt(actions, at, time);
  const within = actions[at + ACTION_PLACE] + ahead;
  const ended = finished && within === intervalsOf(actions, at);
  const nextWithin = ended ? next.count - 1 : Math.min(within * factor, next.count - 1);

  actions[at + ACTION_START] = next.start;
  actions[at + ACTION_COUNT] = next.count;
  actions[at + ACTION_RATE] = clip.fps === 0 ? next.fps : actions[at + ACTION_RATE] * factor;
  actions[at + ACTION_PLACE] = nextWithin - ahead * factor;
  if (next.rootMotion === null) actions[at + ACTION_LOOP] &= ~ROOT_MOTION;
}

/** Leaves an instance whose weights may add up to more than 1, which frames cannot mix, the clip that was started last, alone. */
export function keepFade(layer: LayerActions, index: number): void {
  const count = layer.count(index);
  if (count === 0) return;
  const at = layer.at(index);
  const current = layer.current(index);
  const last = current < 0 ? count - 1 : current;
  const kept = layer.actions(last);
  let from = 0;
  let to = 0;
  for (let place = 0; place < count; place++) {
    const actions = layer.actions(place);
    const together =
      actions[at + ACTION_FADE_RATE] === kept[at + ACTION_FADE_RATE] &&
      actions[at + ACTION_FADE_START] === kept[at + ACTION_FADE_START];
    from += together ? actions[at + ACTION_FROM] : Infinity;
    to += actions[at + ACTION_TO];
  }
  if (from < 1 + 1e-6 && Math.abs(to - 1) < 1e-6) return;
  for (let place = count - 1; place >= 0; place--) if (place !== last) layer.remove(index, place);
  const alone = layer.actions(0);
  if (hasBit(alone, at, FADING_OUT)) clearAction(alone, at);
  layer.setCurrent(index, 0);
  alone[at + ACTION_FROM] = alone[at + ACTION_TO] = 1;
  alone[at + ACTION_FADE_RATE] = 0;
}
