import { LoopOnce, LoopPingPong, LoopRepeat, Matrix4, Vector3, VectorKeyframeTrack } from 'three';
import { describe, expect, test } from 'vitest';
import { ActionReference } from '../support/ActionReference.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { createStick, tipOf } from '../support/stick.js';

/** A time as a program gets it from a clock. */
const NOW = 1_763_740_800_123;

/** Milliseconds of the processor that are enough on any machine for what is not counted pass by pass. */
const SOON = 1000;

function createCrowd(count = 1) {
  const { root, clips } = createStick({ A: 1, B: 0.37 });
  const crowd = SkinnedInstancedMesh.from(root, clips, count);
  const log: string[] = [];
  crowd.addEventListener('loop', ({ instanceId, loopDelta }) => log.push(`${instanceId} loop ${loopDelta}`));
  crowd.addEventListener('finished', ({ instanceId, direction }) =>
    log.push(`${instanceId} finished ${direction}`),
  );
  return { crowd, log };
}

/** Milliseconds of the processor that something takes, however long this process waits for its turn. */
function time(act: () => void): number {
  const start = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

describe('a time far beyond the end', () => {
  test.each([NOW, -NOW])('finishes LoopOnce at once: %d', (start) => {
    const { crowd, log } = createCrowd();
    for (const timeScale of [1, -1]) {
      const options = { loop: LoopOnce, clampWhenFinished: true, time: start, timeScale };
      const reference = new ActionReference([1]);
      reference.play({ clip: 0, repetitions: 1, ...options });
      reference.update(0.1);
      expect(time(() => crowd.play(0, 'A', options).update(0.1))).toBeLessThan(SOON);
      expect(tipOf(crowd, 0)).toBeCloseTo(reference.target.position.x, 6);
      expect(log.splice(0)).toEqual([`0 finished ${reference.direction}`]);
      crowd.play(0, 'A', { ...options, time: 0.5 });
      expect(time(() => crowd.setTimeAt(0, start).update(0.1))).toBeLessThan(SOON);
      expect(log.splice(0)).toEqual([`0 finished ${timeScale}`]);
    }
  });

  test('is so many passes of a clip that repeats, and its pose is exact', () => {
    const { crowd, log } = createCrowd();
    expect(time(() => crowd.play(0, 'A', { time: NOW + 0.25 }).update(0.125))).toBeLessThan(SOON);
    expect(tipOf(crowd, 0)).toBeCloseTo(0.375, 3);
    expect(log.splice(0)).toEqual([`0 loop ${NOW}`]);
    crowd.play(0, 'A', { time: NOW, repetitions: 1e6, loop: LoopRepeat, clampWhenFinished: true }).update(0);
    expect(log.splice(0)).toEqual(['0 finished 1']);
    expect(tipOf(crowd, 0)).toBeCloseTo(1, 6);
  });
});

describe('an update of hours', () => {
  test('tells of all passes of an instance in one event, as three.js does', () => {
    const { crowd, log } = createCrowd(2);
    const references = [1, 1.5].map((timeScale, i) => {
      const reference = new ActionReference([0.37]);
      const options = { loop: LoopRepeat, repetitions: Infinity, clampWhenFinished: false, time: 0.1 };
      reference.play({ clip: 0, timeScale, ...options });
      crowd.play(i, 'B', { timeScale, ...options });
      return reference;
    });
    for (const delta of [0.05, 3600, 0.3, 86_400, 0.21]) {
      expect(time(() => crowd.update(delta))).toBeLessThan(SOON);
      const expected = references.flatMap((reference, i) => {
        reference.update(delta);
        return reference.loops === 0 ? [] : [`${i} loop ${reference.loops}`];
      });
      expect(log.splice(0).sort()).toEqual(expected);
    }
  });

  test('costs ten thousand instances what one pass costs', () => {
    const count = 10_000;
    const { crowd, log } = createCrowd(count);
    crowd.playAll('B', { timeScale: (i) => 1 + i / count });
    crowd.update(1);
    log.length = 0;
    const hour = time(() => crowd.update(3600));
    console.log(`10,000 instances: an update of an hour takes ${hour.toFixed(0)} ms`);
    expect(log.length).toBe(count);
    // 10,000 events, not the 146 million passes that lie in it
    expect(hour).toBeLessThan(5 * SOON);
  });

  test('tells of the marks of the last eight passes and of the one it began in', () => {
    const { crowd } = createCrowd(1);
    crowd.boneTexture.addMarker('A', 0.25, 'left').addMarker('A', 0.75, 'right');
    const marks: string[] = [];
    crowd.addEventListener('mark', ({ name }) => marks.push(name));
    crowd.play(0, 'A').update(0.5);
    expect(marks.splice(0)).toEqual(['left']);
    crowd.update(8);
    expect(marks.splice(0)).toEqual(
      ['right', ...Array(8).fill(['left', 'right']).flat().slice(0, 14), 'left', 'right', 'left'].slice(
        0,
        16,
      ),
    );
    crowd.update(3600);
    expect(marks.length).toBe(1 + 16 + 1);
  });

  test.each([LoopRepeat, LoopPingPong])('moves by root motion as short updates do, loop %d', (loop) => {
    const { root, clips } = createStick({ Walk: 1 });
    clips[0].tracks = [
      new VectorKeyframeTrack('Base.position', [0, 0.5, 1], [0, 0, 0, 0.3, 0, 1, 0.1, 0, 2]),
    ];
    const place = (seconds: number, steps: number, timeScale: number) => {
      const crowd = SkinnedInstancedMesh.from(root, clips, 1, { rootMotion: true });
      crowd.play(0, 'Walk', { rootMotion: true, loop, timeScale, time: 0.3 });
      for (let i = 0; i < steps; i++) crowd.update(seconds / steps).applyRootMotion(seconds / steps);
      const matrix = new Matrix4();
      crowd.getMatrixAt(0, matrix);
      return new Vector3().setFromMatrixPosition(matrix);
    };
    for (const timeScale of [1, -1, 0.7]) {
      for (const seconds of [0.5, 1.2, 5.55, 6.85]) {
        expect(place(seconds, 1, timeScale).distanceTo(place(seconds, 97, timeScale))).toBeLessThan(1e-5);
      }
    }
    expect(time(() => place(86_400, 1, 1))).toBeLessThan(SOON);
    if (loop === LoopRepeat) expect(place(86_400, 1, 1).z).toBeCloseTo(2 * 86_400, 0);
  });
});

test.each([0, 0.4, 1, 1.7, 2, 2.3, 3])('%f repetitions end where three.js ends them', (repetitions) => {
  for (const loop of [LoopRepeat, LoopPingPong]) {
    for (const timeScale of [1, -1]) {
      const { crowd } = createCrowd();
      const reference = new ActionReference([1]);
      const options = { loop, repetitions, clampWhenFinished: true, timeScale, time: 0.5 };
      crowd.play(0, 'A', options);
      reference.play({ clip: 0, ...options });
      for (let i = 0; i < 60; i++) {
        crowd.update(0.1);
        reference.update(0.1);
        if (reference.comparesPose) expect(tipOf(crowd, 0)).toBeCloseTo(reference.target.position.x, 4);
      }
      expect(reference.finished).toBe(true);
      expect(crowd.isPlayingAt(0)).toBe(false);
    }
  }
});
