import { AnimationUtils, type Bone, Matrix4, type Object3D } from 'three';
import { describe, expect, test } from 'vitest';
import { letRead } from '../support/capture.js';
import { TWINS, useCapture } from '../support/captures.js';
import { describeCharacters, loadCharacter } from '../support/characters.js';
import { disposeLater } from '../support/disposeLater.js';
import { AnimationLayers, bakeCharacter, SkinnedInstancedMesh } from '../support/library.js';
import { Mixers } from '../support/mixers.js';
import { random } from '../support/random.js';
import { characterHeight } from '../support/reference.js';

/** Share of the character's height: what float32 makes of chains of ten joints. */
const EXACT = 1e-5;

/** Joints with others below them, but not all. */
function middleJoints(root: Object3D): string[] {
  const names: string[] = [];
  root.traverse((node) => {
    if ((node as Bone).isBone && (node.parent as Bone).isBone && node.children.length > 0)
      names.push(node.name);
  });
  return names;
}

describe.each(TWINS)('%s', (twin) => {
  const how = useCapture(twin);

  describeCharacters((name) => {
    test('seed 23: what is done on layers, in fades that are interrupted, is what a mixer for each shows', async () => {
      const { root, clips } = await loadCharacter(name);
      const moving = clips.filter(({ duration }) => duration > 0).slice(0, 6);
      const [, upper, leaning] = middleJoints(root);
      const lean = AnimationUtils.makeClipAdditive(moving[0].clone());
      lean.name = 'Lean';
      const all = [...moving, lean];
      const layers = [
        { name: 'upper', mask: [upper] },
        { name: 'whole', weight: 1 },
        { name: 'lean', mask: { [leaning]: 0.5 }, additive: true },
      ];
      const count = 3;
      const crowd = new SkinnedInstancedMesh(bakeCharacter(root, all), count);
      new AnimationLayers(crowd, layers);
      const vertices = letRead(crowd, how);
      for (let i = 0; i < count; i++) crowd.setMatrixAt(i, new Matrix4());

      const next = random(23);
      const over = [
        { name: 'upper', from: upper },
        { name: 'whole', from: null },
        { name: 'lean', from: leaning, weight: 0.5 },
      ];
      const pair = new Mixers(crowd, root, all, over);
      const pick = (most: number) => Math.floor(next() * most);
      for (let step = 0; step < 5; step++) {
        for (let change = 0; change < 6; change++) {
          const [index, layer] = [pick(count), pick(4)];
          const clip = layer === 3 ? moving.length : pick(moving.length);
          const fade = next() < 0.3 ? 0 : 0.7 * next();
          const playing = pair.playing(index, layer);
          if (layer % 3 !== 0 && next() < 0.3) pair.setLayerWeight(index, layer, next(), fade);
          else if (playing.includes(clip)) pair.stop(index, fade, layer);
          else if (playing.length < 3) pair.replace(index, clip, fade, next(), layer);
          pair.update(0.05 * next());
        }
        pair.update(0.3 * next());
        const drawn = await how.read(crowd, vertices, count);
        const worst = pair.worst(
          (i, vertex, target) => target.fromArray(drawn, (i * vertices + vertex) * 3),
          Math.ceil(vertices / 500),
        );
        expect(worst / characterHeight(root), `step ${step}, ${upper}`).toBeLessThanOrEqual(EXACT);
      }
      disposeLater(crowd);
    });
  }, twin);
});
