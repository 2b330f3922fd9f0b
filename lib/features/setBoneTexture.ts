import type { BoneTexture } from '../animation/BoneTexture.js';
import type { BakedClip } from '../animation/ClipTable.js';
import type { SkinnedInstancedMesh } from '../crowd/SkinnedInstancedMesh.js';
import {
  ACTION_COUNT,
  ACTION_LOOP,
  ACTION_PLACE,
  ACTION_RATE,
  ACTION_START,
  ACTION_WEIGHT,
  type Actions,
  FADING_OUT,
  FINISHED,
  hasBit,
  intervalsOf,
  RAMP_FROM,
  RAMP_RATE,
  RAMP_START,
  RAMP_TO,
  ROOT_MOTION,
  setRamp,
} from '../playback/actionNumbers.js';
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
    for (const layer of playback.layers) {
      layer.endFades(i, now);
      const at = layer.at(i);
      for (let place = layer.count(i) - 1; place >= 0; place--) {
        const actions = layer.actions(place);
        const clip = former.clipTable.startingAt(actions[at + ACTION_START]);
        const next = boneTexture.clips.find(({ name }) => name === clip.name);
        if (next !== undefined && layer.share?.takes(next) !== false) changeClip(actions, at, clip, next);
        else {
          lost.add(clip.name);
          layer.remove(i, place);
        }
      }
    }
    if (!playback.mixes) keepFade(playback.layers[0], i);
  }
  playback.writeAll();
  for (let i = 0; i < capacity; i++) playback.observer?.started(i);
  for (const mixer of playback.driver?.mixers ?? []) mixer?.clipsChanged();
  if (lost.size === 0) return;
  warnOnce(
    `SkinnedInstancedMesh: the new bone texture has no ${listNames([...lost])}; instances that played it stand in the rest pose.`,
  );
}

function changeClip(actions: Actions, at: number, clip: BakedClip, next: BakedClip): void {
  // A pose has no frames per second, so the speed it was meant to have is not known.
  const factor = clip.fps === 0 ? 0 : next.fps / clip.fps;
  const within = actions[at + ACTION_PLACE];
  const ended = hasBit(actions, at, FINISHED) && within === intervalsOf(actions, at);

  actions[at + ACTION_START] = next.start;
  actions[at + ACTION_COUNT] = next.count;
  actions[at + ACTION_RATE] = clip.fps === 0 ? next.fps : actions[at + ACTION_RATE] * factor;
  actions[at + ACTION_PLACE] = ended ? next.count - 1 : Math.min(within * factor, next.count - 1);
  if (next.rootMotion === null) actions[at + ACTION_LOOP] &= ~ROOT_MOTION;
}

/** Leaves an instance whose weights may add up to more than 1, which frames cannot mix, the clip that was started last, alone. */
export function keepFade(layer: LayerActions, index: number): void {
  const count = layer.count(index);
  if (count === 0) return;
  const fade = layer.at(index) + ACTION_WEIGHT;
  const current = layer.current(index);
  const last = current < 0 ? count - 1 : current;
  const kept = layer.actions(last);
  let from = 0;
  let to = 0;
  for (let place = 0; place < count; place++) {
    const actions = layer.actions(place);
    const together =
      actions[fade + RAMP_RATE] === kept[fade + RAMP_RATE] &&
      actions[fade + RAMP_START] === kept[fade + RAMP_START];
    from += together ? actions[fade + RAMP_FROM] : Infinity;
    to += actions[fade + RAMP_TO];
  }
  if (from < 1 + 1e-6 && to < 1 + 1e-6) return;
  for (let place = count - 1; place >= 0; place--) if (place !== last) layer.remove(index, place);
  const alone = layer.actions(0);
  layer.setCurrent(index, 0);
  setRamp(alone, fade, 1);
  if (hasBit(alone, layer.at(index), FADING_OUT)) layer.clear(index);
}
