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
import { createMorphingStick } from '../support/stick.js';

/** Share of the character's height by which vertices are off at most. */
const COMPACT = 3e-5;

describe.each(TWINS)('%s', (twin) => {
  let how: Capture & { dispose(): void };
  beforeAll(async () => {
    how = await captureOf(twin);
  });
  afterAll(() => how.dispose());

  const crowdOf = (...[root, clips, count]: Parameters<typeof SkinnedInstancedMesh.from>) => {
    const crowd = SkinnedInstancedMesh.from(root, clips, count, { encoding: 'tracks', palette: 'compact' });
    const vertices = crowd.geometry.getAttribute('position').count;
    crowd.geometry = captureGeometry(crowd.geometry);
    crowd.material = how.material(vertices);
    for (let i = 0; i < count; i++) crowd.setMatrixAt(i, new Matrix4());
    return { crowd, vertices };
  };

  test('a compact palette holds influences of morph targets as they are, and joints without a size', async () => {
    const { root, clips } = createMorphingStick();
    root.getObjectByName('Tip')?.scale.set(0, 0, 0);
    const { crowd, vertices } = crowdOf(root, clips, 1);
    const pair = new Mixers(crowd, root, clips);
    pair.play(0, 0, 1, 0, 0.3);
    pair.update(0.1);
    const drawn = await how.read(crowd, vertices, 1);
    const worst = pair.worst((index, vertex, target) =>
      target.fromArray(drawn, (index * vertices + vertex) * 3),
    );
    expect(worst).toBeLessThan(1e-5);
    disposeLater(crowd);
  });
  // The WebGL 2 backend keeps exact palettes, which other tests are about.
  if (twin === 'TSL on WebGL 2') return;
  describeCharacters((name) => {
    test('seed 12: vertices posed by a compact palette are where AnimationMixer has them', async () => {
      const { root, clips } = await loadCharacter(name);
      const moving = clips.filter(({ duration }) => duration > 0);
      const { crowd, vertices } = crowdOf(root, clips, 8);
      const pair = new Mixers(crowd, root, moving);
      const next = random(12);
      for (let i = 0; i < 8; i++)
        pair.play(i, Math.floor(next() * moving.length), 0.5 + 0.5 * next(), 0, next());
      let worst = 0;
      for (const delta of [0.0123, 0.171]) {
        pair.update(delta);
        const drawn = await how.read(crowd, vertices, 8);
        const distance = pair.worst((index, vertex, target) =>
          target.fromArray(drawn, (index * vertices + vertex) * 3),
        );
        worst = Math.max(worst, distance / characterHeight(root));
      }
      console.log(`${name}, ${twin}: a compact palette is off by ${worst.toExponential(1)} of the height`);
      expect(worst).toBeLessThanOrEqual(COMPACT);
      disposeLater(crowd);
    });
  }, twin);
});
