import { AnimationUtils, type Bone, Matrix4, type Object3D } from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { captureGeometry } from '../support/capture.js';
import { captureOf, TWINS } from '../support/captures.js';
import { describeCharacters, loadCharacter } from '../support/characters.js';
import { disposeLater } from '../support/disposeLater.js';
import { LayeredMixers } from '../support/layeredMixers.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { MaskedMixer, namesBelow } from '../support/maskedMixer.js';
import { farthestVertex } from '../support/mixers.js';
import type { Capture } from '../support/parity.js';
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
  let how: Capture & { dispose(): void };
  beforeAll(async () => {
    how = await captureOf(twin);
  });
  afterAll(() => how.dispose());

  describeCharacters((name) => {
    test('seed 17: a masked layer that fades in, and an additive one, are those of AnimationMixer', async () => {
      const { root, clips } = await loadCharacter(name);
      const moving = clips.filter(({ duration }) => duration > 0);
      const next = random(17);
      const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)];
      const joints = middleJoints(root);
      const upper = pick(joints);
      const leaning = pick(joints);
      const lean = AnimationUtils.makeClipAdditive(pick(moving).clone());
      lean.name = 'Lean';

      const count = 6;
      const crowd = SkinnedInstancedMesh.from(root, [...moving, lean], count, {
        layers: [
          { name: 'upper', mask: [upper], weight: 0.2 },
          { name: 'lean', mask: { [leaning]: 0.5 }, additive: true },
        ],
      });
      const vertices = crowd.geometry.getAttribute('position').count;
      crowd.geometry = captureGeometry(crowd.geometry);
      crowd.material = how.material(vertices);
      for (let i = 0; i < count; i++) crowd.setMatrixAt(i, new Matrix4());

      const targets = Array.from({ length: count }, () => next());
      const clones = targets.map(() => SkeletonUtils.clone(root) as Object3D);
      const mixers = clones.map((clone, i) => {
        const [base, over] = [pick(moving), pick(moving)];
        crowd.play(i, base).play(i, over, { layer: 'upper' });
        crowd.setLayerWeightAt(i, 'upper', targets[i], { fade: 0.5 });
        const mixer = new MaskedMixer(clone, base, over, namesBelow(clone, upper));
        if (i % 2 === 0) {
          const [weight, time] = [next(), next() * lean.duration];
          crowd.play(i, lean, { layer: 'lean', weight, time });
          mixer.add(lean, namesBelow(clone, leaning), 0.5 * weight, time);
        }
        return mixer;
      });

      let now = 0;
      for (const delta of [0.0123, 0.171, 0.4567]) {
        now += delta;
        crowd.update(delta);
        mixers.forEach((mixer, i) => {
          mixer.update(delta, 0.2 + (targets[i] - 0.2) * Math.min(now / 0.5, 1));
        });
        const drawn = await how.read(crowd, vertices, count);
        clones.forEach((clone, i) => {
          const distance = farthestVertex(clone, 1, (vertex, target) =>
            target.fromArray(drawn, (i * vertices + vertex) * 3),
          );
          expect(distance / characterHeight(root), `instance ${i}, ${upper}, ${leaning}`).toBeLessThanOrEqual(
            EXACT,
          );
        });
      }
      disposeLater(crowd);
    });

    test('seed 23: what is done on layers, in fades that are interrupted, is what a mixer for each shows', async () => {
      const { root, clips } = await loadCharacter(name);
      const moving = clips.filter(({ duration }) => duration > 0).slice(0, 6);
      const upper = middleJoints(root)[1];
      const lean = AnimationUtils.makeClipAdditive(moving[0].clone());
      lean.name = 'Lean';
      const all = [...moving, lean];
      const layers = [
        { name: 'upper', mask: [upper] },
        { name: 'whole', weight: 1 },
        { name: 'lean', additive: true },
      ];
      const count = 3;
      const crowd = SkinnedInstancedMesh.from(root, all, count, { layers });
      const vertices = crowd.geometry.getAttribute('position').count;
      crowd.geometry = captureGeometry(crowd.geometry);
      crowd.material = how.material(vertices);
      for (let i = 0; i < count; i++) crowd.setMatrixAt(i, new Matrix4());

      const next = random(23);
      const over = layers.map((layer) => ({ name: layer.name, from: layer.name === 'upper' ? upper : null }));
      const pair = new LayeredMixers(crowd, root, all, over);
      const pick = (most: number) => Math.floor(next() * most);
      for (let step = 0; step < 5; step++) {
        for (let change = 0; change < 6; change++) {
          const [index, layer] = [pick(count), pick(4)];
          const clip = layer === 3 ? moving.length : pick(moving.length);
          const fade = next() < 0.3 ? 0 : 0.7 * next();
          const playing = pair.playing(index, layer);
          if (layer % 3 !== 0 && next() < 0.3) pair.setLayerWeight(index, layer, next(), fade);
          else if (playing.includes(clip)) pair.stop(index, layer, fade);
          else if (playing.length < 3) pair.replace(index, layer, clip, fade, next());
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
