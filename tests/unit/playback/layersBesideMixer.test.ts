import { AnimationUtils, type Object3D } from 'three';
import { expect, test } from 'vitest';
import { describeCharacters, loadCharacter } from '../../support/characters.js';
import { layersOf } from '../../support/features.js';
import {
  AnimationLayers,
  bakeCharacter,
  getVertexPosition,
  loadPlayback,
  SkinnedInstancedMesh,
  savePlayback,
  setBoneTexture,
} from '../../support/library.js';
import { Mixers } from '../../support/mixers.js';
import { random, SEEDS } from '../../support/random.js';
import { characterHeight } from '../../support/reference.js';

/** Share of the character's height: keys are float32. */
const EXACT = 1e-6;

/** Up to so many moving clips of a character, and behind them as many additive ones made of them. */
async function loadClips(name: string, most: number) {
  const { root, clips: all } = await loadCharacter(name);
  const clips = all.filter(({ duration }) => duration > 0).slice(0, most);
  const additive = clips.map((clip) => {
    const added = AnimationUtils.makeClipAdditive(clip.clone(), 0, clip);
    added.name = `${clip.name} added`;
    return added;
  });
  return { root, clips, additive };
}

/** The name of a joint in the middle of a character, which no other node has; null if there is none. */
function middleJoint(root: Object3D): string | null {
  const bones = root.getObjectsByProperty('isBone', true).filter(({ children }) => children.length > 0);
  const names = bones.map(({ name }) => name);
  const alone = names.filter((one) => one !== '' && names.filter((other) => other === one).length === 1);
  return alone[Math.floor(alone.length / 3)] ?? null;
}

describeCharacters((name) => {
  test.each(SEEDS)('seed %i: whatever is done on layers, poses are those of mixers', async (seed) => {
    const { root, clips, additive } = await loadClips(name, 6);
    const joint = middleJoint(root);
    const height = characterHeight(root);
    const [moving, all] = [clips.length, [...clips, ...additive]];
    const count = 2;
    const layers = [
      { name: 'upper', ...(joint === null ? {} : { mask: [joint] }) },
      { name: 'whole', weight: 1 },
      { name: 'extra', additive: true },
    ];
    const characters = [all, all.toReversed()].map((some) => bakeCharacter(root, some));
    const create = (which: number) => {
      const made = new SkinnedInstancedMesh(characters[which], count);
      new AnimationLayers(made, layers);
      return made;
    };
    const crowd = create(0);
    const vertices = crowd.geometry.getAttribute('position').count;
    const next = random(seed);
    const over = layers.map(({ name }) => ({ name, from: name === 'upper' ? joint : null }));
    const pair = new Mixers(crowd, root, all, over);
    const pick = (most: number) => Math.floor(next() * most);
    /** What nobody may see, in the middle of fades too. */
    const unseen = [
      () => {
        const saved = JSON.parse(JSON.stringify(savePlayback(pair.crowd)));
        pair.crowd = loadPlayback(create(pick(2)).update(30 * next()), saved);
      },
      () => (pair.crowd = pair.crowd.clone()),
      () => setBoneTexture(pair.crowd, characters[pick(2)].boneTexture),
      () => pair.crowd.setCapacity(count + pick(4)),
      () => pair.swap(0, 1),
    ];
    for (let step = 0; step < 60; step++) {
      const [index, layer] = [pick(count), pick(4)];
      const clip = pick(moving) + (layer === 3 ? moving : 0);
      const fade = next() < 0.3 ? 0 : 0.7 * next();
      const playing = pair.playing(index, layer);
      const kind = next();
      if (kind < 0.2 && (layer === 1 || layer === 2)) {
        pair.setLayerWeight(index, layer, next(), fade);
      } else if (kind < 0.35 && playing.length > 0) {
        const one = playing[pick(playing.length)];
        const room = Math.max(1 - pair.mostWeight(index, layer, one), 0);
        pair.setWeight(index, one, room * next(), fade, layer);
      } else if (kind < 0.45) {
        pair.stop(index, fade, layer);
      } else if (!playing.includes(clip) && playing.length < 3) {
        const room = 1 - pair.mostWeight(index, layer);
        if (kind < 0.75 || room <= 0) pair.replace(index, clip, fade, next(), layer);
        else pair.play(index, clip, room * next(), fade, next(), layer);
      }
      if (next() < 0.3) unseen[pick(unseen.length)]();
      pair.update(next() < 0.1 ? 3 * next() : 0.3 * next());
      const stride = Math.ceil(vertices / 100);
      const worst = pair.worst((...at) => getVertexPosition(pair.crowd, ...at), stride);
      expect(worst / height, `step ${step}`).toBeLessThan(EXACT);
      for (const one of pair.playing(index, layer)) {
        expect(pair.crowd.getWeightAt(index, all[one].name, layer)).toBeCloseTo(
          pair.weightOf(index, one, layer),
          9,
        );
      }
      expect(layersOf(pair.crowd).getWeightAt(index, layer)).toBeCloseTo(pair.layerWeightOf(index, layer), 9);
    }
  });
});
