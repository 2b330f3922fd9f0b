import { Matrix4 } from 'three';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { captureGeometry } from '../support/capture.js';
import { captureOf, TWINS } from '../support/captures.js';
import { describeCharacters, loadCharacter } from '../support/characters.js';
import { disposeLater } from '../support/disposeLater.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { Mixers } from '../support/mixers.js';
import type { Capture } from '../support/parity.js';
import { random } from '../support/random.js';
import { characterHeight } from '../support/reference.js';

/** Share of the character's height: what float32 makes of chains of ten joints. */
const EXACT = 1e-5;

describe.each(TWINS)('%s', (twin) => {
  let how: Capture & { dispose(): void };
  beforeAll(async () => {
    how = await captureOf(twin);
  });
  afterAll(() => how.dispose());

  describeCharacters((name) => {
    test('seed 11: up to three weighted actions, of as many clips as there are, are those of AnimationMixer at any time', async () => {
      const { root, clips } = await loadCharacter(name);
      const moving = clips.filter(({ duration }) => duration > 0);
      const height = characterHeight(root);
      const count = 6;
      const crowd = SkinnedInstancedMesh.from(root, clips, count, { encoding: 'tracks' });
      const vertices = crowd.geometry.getAttribute('position').count;
      crowd.geometry = captureGeometry(crowd.geometry);
      crowd.material = how.material(vertices);
      for (let i = 0; i < count; i++) crowd.setMatrixAt(i, new Matrix4());

      const next = random(11);
      const pair = new Mixers(crowd, root, moving);
      const pick = () => Math.floor(next() * moving.length);
      for (let i = 0; i < count; i++) {
        const [a, b, c] = [pick(), pick(), pick()];
        pair.play(i, a, next(), 0, next());
        if (b !== a) pair.play(i, b, next(), 0.4, next());
        if (c !== a && c !== b) pair.play(i, c, next(), 0.3 * next(), next());
      }
      for (const delta of [0.0123, 0.171, 0.4567]) {
        pair.update(delta);
        const drawn = await how.read(crowd, vertices, count);
        const worst = pair.worst((index, vertex, target) =>
          target.fromArray(drawn, (index * vertices + vertex) * 3),
        );
        expect(worst / height).toBeLessThanOrEqual(EXACT);
        for (let i = 0; i < count; i++) {
          const playing = pair.playing(i);
          pair.setWeight(i, playing[Math.floor(next() * playing.length)], next(), 0.5 * next());
        }
      }
      disposeLater(crowd);
    });
  }, twin);
});
