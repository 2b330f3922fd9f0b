import { LoopOnce, LoopPingPong, LoopRepeat, Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { createPoseMix } from '../../lib/animation/mixPose.js';
import { letRead } from '../support/capture.js';
import { captureOf, TWINS, type Twin } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { crowdArguments } from '../support/crowdArguments.js';
import { frames, getVertexPosition, SkinnedInstancedMesh } from '../support/library.js';
import { random, SEEDS } from '../support/random.js';
import { characterHeight } from '../support/reference.js';
import { NIGHTLY } from '../support/thorough.js';

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
    { encoding: frames, interpolate: true },
    { encoding: frames, interpolate: false },
  ] as const)('draws the CPU twin amid fades, $encoding, interpolate $interpolate', async (options) => {
    const how = await captureOf(twin);
    const { root, clips } = NIGHTLY ? createCharacter() : createCoarseCharacter();
    const height = characterHeight(root);
    const count = 24;
    const crowd = new SkinnedInstancedMesh(...crowdArguments(root, clips, count, options));
    const vertices = letRead(crowd, how);
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
          getVertexPosition(crowd, i, vertex, expected);
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
  });
});

const POSE = createPoseMix();
