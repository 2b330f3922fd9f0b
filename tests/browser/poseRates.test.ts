import { Box3, Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { letRead } from '../support/capture.js';
import { TWINS, useCapture } from '../support/captures.js';
import { disposeLater } from '../support/disposeLater.js';
import { useDrawing } from '../support/drawings.js';
import { changedPixels, createStage } from '../support/pictures.js';
import { createStickCrowd } from '../support/stick.js';

const FPS = 60;
const RATE = 10;

// The WebGL 2 backend of WebGPURenderer poses all instances.
describe.each(TWINS.filter((twin) => twin !== 'TSL on WebGL 2'))('%s', (twin) => {
  const how = useCapture(twin);
  const drawing = useDrawing(twin);

  /** Sticks whose tips are at the time of their clip, and what reads off the picture where they are. */
  function createSticks(count: number, rateOf: (index: number) => number) {
    const crowd = createStickCrowd(count, { Slide: 100, Other: 50 });
    const vertices = letRead(crowd, how);
    for (let i = 0; i < count; i++) {
      crowd.setMatrixAt(i, new Matrix4());
      crowd.playback.texels.setRate(i, rateOf(i));
      crowd.play(i, 'Slide');
    }
    const read = async (): Promise<number[]> => {
      const drawn = await how.read(crowd, vertices, crowd.count);
      return Array.from({ length: crowd.count }, (_, i) => drawn[i * vertices * 3]);
    };
    /** Reads once what was just played, and again, since what changed at the time of a frame may have changed after it. */
    const settle = async () => {
      await read();
      crowd.update(1e-3);
      return await read();
    };
    return { crowd, read, settle };
  }

  test('an instance of 10 poses a second keeps each for a tenth of a second, and frames share the work', async () => {
    const count = 60;
    const { crowd, read, settle } = createSticks(count, (i) => (i === 0 ? 0 : RATE));
    let before = await settle();
    const changes = new Array(count).fill(0);
    let most = 0;
    for (let frame = 1; frame <= FPS; frame++) {
      crowd.update(1 / FPS);
      const now = await read();
      const changed = now.map((x, i) => x !== before[i]);
      changed.forEach((one, i) => (changes[i] += one ? 1 : 0));
      // A pose that is written is that of the moment.
      now.forEach((x, i) => {
        if (changed[i]) expect(x).toBeCloseTo(now[0], 5);
      });
      most = Math.max(most, changed.filter(Boolean).length);
      before = now;
    }
    expect(changes[0], 'of an instance without a rate').toBe(FPS);
    for (const times of changes.slice(1)) expect(times).toBe(RATE);
    expect(most, 'of 60 in one frame').toBeLessThanOrEqual(count / 6 + 3);
    disposeLater(crowd);
  });

  test('an instance that moves is posed and placed in that frame', async () => {
    const { scene, camera } = createStage(new Box3(new Vector3(-6, -2, -1), new Vector3(6, 2, 1)));
    const pictures = [];
    for (const rate of [0, RATE]) {
      const crowd = createStickCrowd(1, { Slide: 100 });
      disposeLater(crowd);
      crowd.playback.texels.setRate(0, rate);
      crowd.setMatrixAt(0, new Matrix4());
      crowd.play(0, 'Slide', { timeScale: 50 });
      for (const x of [0, 1]) {
        crowd.setMatrixAt(0, new Matrix4().setPosition(x, 0, 0));
        crowd.instanceMatrix.needsUpdate = true;
        crowd.update(0.01);
        pictures.push(await drawing.draw(scene, camera, crowd));
      }
    }
    const [before, after, rated, moved] = pictures;
    expect(changedPixels(before, after)).toBeGreaterThan(20);
    expect(changedPixels(before, rated)).toBe(0);
    expect(changedPixels(after, moved)).toBe(0);
  });
});
