import { LoopOnce, LoopPingPong, LoopRepeat, Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { createPoseMix } from '../../lib/poses/PoseMix.js';
import { captureGeometry } from '../support/capture.js';
import { captureOf, TWINS, type Twin } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { random, SEEDS } from '../support/random.js';
import { characterHeight } from '../support/reference.js';
import { createStick } from '../support/stick.js';
import { THOROUGH } from '../support/thorough.js';

/** Lets every instance of a crowd do this and that, fades above all. */
function disturb(crowd: SkinnedInstancedMesh, next: () => number): void {
  const { clips } = crowd.boneTexture;
  for (let i = 0; i < crowd.count; i++) {
    const what = next();
    if (what < 0.45) {
      crowd.play(i, Math.floor(next() * clips.length), {
        fade: next() < 0.2 ? 0 : 0.1 + next(),
        warp: next() < 0.3,
        sync: next() < 0.3,
        time: next(),
        timeScale: next() < 0.1 ? 0 : (next() - 0.3) * 2,
        loop: [LoopOnce, LoopRepeat, LoopPingPong][Math.floor(next() * 3)] as typeof LoopRepeat,
        clampWhenFinished: next() < 0.5,
      });
    } else if (what < 0.5) crowd.stop(i, { fade: next() });
    else if (what < 0.55) crowd.pause(i);
    else if (what < 0.65) crowd.resume(i);
    else if (what < 0.7) crowd.setTimeScaleAt(i, (next() - 0.4) * 2);
    else if (what < 0.75) crowd.setTimeAt(i, next());
    else if (what < 0.8) crowd.swapInstances(i, Math.floor(next() * crowd.count));
  }
}

describe.each(TWINS)('%s', (twin: Twin) => {
  test.each([
    { encoding: 'quaternion', interpolate: true },
    { encoding: 'matrix', interpolate: true },
    { encoding: 'quaternion', interpolate: false },
  ] as const)(
    'draws the CPU twin in the midst of fades, $encoding, interpolate $interpolate',
    async (options) => {
      const how = await captureOf(twin);
      const { root, clips } = THOROUGH ? createCharacter() : createCoarseCharacter();
      const height = characterHeight(root);
      const count = 24;
      const crowd = SkinnedInstancedMesh.from(root, clips, count, options);
      const vertices = crowd.geometry.getAttribute('position').count;
      crowd.geometry = captureGeometry(crowd.geometry);
      crowd.material = how.material(vertices);
      const next = random(SEEDS[0]);
      const matrix = new Matrix4();
      for (let i = 0; i < count; i++) {
        crowd.setMatrixAt(i, matrix.makeRotationY(next() * 6).setPosition(i, 0, 0));
        crowd.play(i, i % clips.length, { time: next() });
      }
      const expected = new Vector3();
      let fading = 0;
      for (let step = 0; step < 16; step++) {
        disturb(crowd, next);
        crowd.update(step === 9 ? 14.9 : next() * 0.3);
        const drawn = await how.read(crowd, vertices, count);
        for (let i = 0; i < count; i++) {
          for (let vertex = i % 5; vertex < vertices; vertex += 5) {
            crowd.getVertexPositionAt(i, vertex, expected);
            const at = (i * vertices + vertex) * 3;
            const off = Math.hypot(
              drawn[at] - expected.x,
              drawn[at + 1] - expected.y,
              drawn[at + 2] - expected.z,
            );
            expect(off / height, `step ${step}, instance ${i}, vertex ${vertex}`).toBeLessThan(2e-5);
          }
          if (crowd.playback.pose(i, true, POSE).count > 1) fading++;
        }
      }
      expect(fading).toBeGreaterThan(100);
      how.dispose();
    },
  );

  test('a crowd that grows and shrinks in the midst of fades is drawn as it was', async () => {
    const how = await captureOf(twin);
    const { root, clips } = createStick({ Walk: 1, Run: 0.6, Dance: 2 });
    const crowd = SkinnedInstancedMesh.from(root, clips, 5);
    const vertices = crowd.geometry.getAttribute('position').count;
    crowd.geometry = captureGeometry(crowd.geometry);
    crowd.material = how.material(vertices);
    for (let i = 0; i < 5; i++) crowd.setMatrixAt(i, new Matrix4().makeTranslation(i, 0, 0));
    crowd.playAll('Walk').update(0.2).playAll('Run', { fade: 1, sync: true }).update(0.3);
    const check = async (instances: readonly number[]) => {
      const drawn = await how.read(crowd, vertices, crowd.count);
      const expected = new Vector3();
      for (const instance of instances) {
        crowd.getVertexPositionAt(instance, 0, expected);
        const at = instance * vertices * 3;
        expect(new Vector3().fromArray(drawn, at).distanceTo(expected), `instance ${instance}`).toBeLessThan(
          1e-4,
        );
      }
    };
    await check([0, 4]);

    crowd.setCapacity(600);
    crowd.count = 400;
    crowd.setMatrixAt(399, new Matrix4().makeTranslation(0, 9, 0));
    crowd.play(399, 'Walk').play(399, 'Dance', { fade: 1 }).update(0.2);
    await check([0, 1, 4, 399]);
    crowd.swapInstances(4, 399);
    crowd.count = 5;
    crowd.setCapacity(5).update(0.1);
    await check([0, 1, 4]);
    expect(crowd.getClipAt(4)).toBe('Dance');
    how.dispose();
  });
});

const POSE = createPoseMix();
