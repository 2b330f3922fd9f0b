import { LoopOnce, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { captureGeometry } from '../support/capture.js';
import { captureOf, TWINS } from '../support/captures.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

describe.each(TWINS)('%s', (twin) => {
  test('a clip that has just been started shows its start, not its end, at any clock and speed', async () => {
    const count = 300;
    const { root, clips } = createStick({ Jump: 1 });
    const how = await captureOf(twin);
    const crowd = SkinnedInstancedMesh.from(root, clips, count);
    crowd.geometry = captureGeometry(crowd.geometry);
    crowd.material = how.material(3);
    const expected = new Vector3();
    for (const clock of [0.3, 7.7, 15.9]) {
      crowd.update(clock - crowd.clock);
      const reverse = (index: number) => index % 2 !== 0;
      crowd.playAll('Jump', {
        loop: LoopOnce,
        timeScale: (index) => (0.5 + index / 70) * (reverse(index) ? -1 : 1),
        time: (index) => (reverse(index) ? 1 : 0),
      });
      const drawn = await how.read(crowd, 3, count);
      for (let i = 0; i < count; i++) {
        crowd.getVertexPositionAt(i, 0, expected);
        expect(drawn[i * 9], `instance ${i} at ${clock} s`).toBeCloseTo(expected.x, 3);
      }
    }
    how.dispose();
  });
});
