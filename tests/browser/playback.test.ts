import { type AnimationActionLoopStyles, LoopOnce, LoopPingPong, LoopRepeat, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { letRead } from '../support/capture.js';
import { captureOf, TWINS, type Twin } from '../support/captures.js';
import {
  assembleCharacter,
  bakeBoneTexture,
  bakeCharacter,
  getVertexPosition,
  SkinnedInstancedMesh,
  setBoneTexture,
} from '../support/library.js';
import { random, SEEDS } from '../support/random.js';
import { createStick } from '../support/stick.js';

const LOOPS: Record<string, AnimationActionLoopStyles> = { LoopOnce, LoopRepeat, LoopPingPong };

interface Play {
  loop: AnimationActionLoopStyles;
  repetitions: number;
  clampWhenFinished: boolean;
  timeScale: number;
  time: number;
}

describe('shader and CPU twin show the same frame', () => {
  const edges: Play[] = [];
  for (const loop of Object.values(LOOPS)) {
    for (const timeScale of [1, -1, 0, 2]) {
      for (const time of [-0.5, 0, 0.1, 0.45, 0.5, 0.95, 1, 1.5, 2, 3]) {
        for (const repetitions of [1, 2, Infinity]) {
          edges.push({ loop, timeScale, time, repetitions, clampWhenFinished: time !== 0.5 });
        }
      }
    }
  }

  async function compareTwins(
    twin: Twin,
    plays: readonly Play[],
    clocks: readonly number[],
    interpolate: boolean,
    change?: (crowd: SkinnedInstancedMesh) => void,
  ) {
    const { root, clips } = createStick({ Slide: 1, Pose: 0, Long: 2 });
    const how = await captureOf(twin);
    // 8 frames a second: times that are exact in float32, so that both sides are on the same side of an edge
    const character = bakeCharacter(root, clips, { fps: 8 });
    const crowd = new SkinnedInstancedMesh(character, plays.length, {
      interpolate,
    });
    letRead(crowd, how);
    const expected = new Vector3();
    for (const clock of clocks) {
      crowd.update(-crowd.elapsed);
      plays.forEach((play, i) => crowd.play(i, i % 17 === 0 ? 'Pose' : 'Slide', play));
      crowd.update(clock);
      if (change !== undefined) {
        change(crowd);
        crowd.update(1.25);
      }
      const drawn = await how.read(crowd, 3, plays.length);
      plays.forEach((play, i) => {
        for (let vertex = 0; vertex < 3; vertex++) {
          getVertexPosition(crowd, i, vertex, expected);
          const label = `${JSON.stringify(play)} at ${clock}`;
          expect(drawn[(i * 3 + vertex) * 3], label).toBeCloseTo(expected.x, 5);
          expect(drawn[(i * 3 + vertex) * 3 + 1], label).toBeCloseTo(expected.y, 5);
        }
      });
    }
    how.dispose();
  }

  describe.each(TWINS)('%s', (twin) => {
    test.each([true, false])('at the edges, interpolate %s', async (interpolate) => {
      // The last ones are epochs and hours away from what was written.
      await compareTwins(twin, edges, [0, 0.5, 1, 1.25, 2, 7.125, 33.25, 3600.5, -700.125], interpolate);
    });

    test.each(SEEDS)('anywhere (seed %i)', async (seed) => {
      const next = random(seed);
      const sixteenth = () => Math.round((next() * 6 - 3) * 16) / 16;
      const plays = Array.from({ length: 400 }, () => ({
        loop: Object.values(LOOPS)[Math.floor(next() * 3)],
        timeScale: sixteenth(),
        time: sixteenth(),
        repetitions: next() < 0.3 ? Infinity : Math.floor(next() * 10) / 2,
        clampWhenFinished: next() < 0.5,
      }));
      // then some turn around, stop, are paused or fade, in the pass they are in
      const turn = (crowd: SkinnedInstancedMesh) => {
        for (let i = 0; i < plays.length; i++) {
          const what = next();
          if (what < 0.6) crowd.setTimeScaleAt(i, sixteenth());
          else if (what < 0.8) crowd.setTimeScaleAt(i, -crowd.getTimeScaleAt(i));
          else if (what < 0.85) crowd.pause(i);
          else if (what < 0.95) crowd.play(i, 'Long', { fade: 2, warp: what < 0.9 });
        }
      };
      await compareTwins(twin, plays, [0, 1 / 32, 3.03125, 11.5, 3600.5], true, turn);
    });
  });
});

describe.each(TWINS)('%s', (twin) => {
  test('a clip that has just been started shows its start, not its end, at any clock and speed', async () => {
    const count = 300;
    const { root, clips } = createStick({ Jump: 1 });
    const how = await captureOf(twin);
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), count);
    letRead(crowd, how);
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
        getVertexPosition(crowd, i, 0, expected);
        expect(drawn[i * 9], `instance ${i} at ${clock} s`).toBeCloseTo(expected.x, 3);
      }
    }
    how.dispose();
  });
});

test.each(TWINS)('%s: a renderer poses by the tracks of a crowd, whatever another drew', async (twin) => {
  const { root, clips } = createStick({ Short: 0.2, Long: 1 });
  const bake = (names: string[]) => bakeBoneTexture(root, clips, { clips: names });
  const [one, other] = [bake(['Long']), bake(['Short', 'Long'])];
  const crowd = new SkinnedInstancedMesh(assembleCharacter(root, one), 1);
  const [first, second] = [await captureOf(twin), await captureOf(twin === 'GLSL' ? twin : 'TSL on WebGL 2')];
  const vertices = letRead(crowd, first);
  crowd.play(0, 'Long').update(0.5);

  await first.read(crowd, vertices, 1);
  setBoneTexture(crowd, other);
  await second.read(crowd, vertices, 1);
  setBoneTexture(crowd, one);
  crowd.update(0.1);
  const drawn = await first.read(crowd, vertices, 1);

  const expected = new Vector3();
  for (let vertex = 0; vertex < vertices; vertex++) {
    getVertexPosition(crowd, 0, vertex, expected);
    expect(new Vector3().fromArray(drawn, vertex * 3).distanceTo(expected)).toBeLessThan(1e-5);
  }
  first.dispose();
  second.dispose();
});
