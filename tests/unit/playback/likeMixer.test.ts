import { AnimationMixer, LoopOnce, LoopPingPong, LoopRepeat } from 'three';
import { describe, expect, test } from 'vitest';
import { ActionReference } from '../../support/ActionReference.js';
import { bakeCharacter, loadPlayback, SkinnedInstancedMesh, savePlayback } from '../../support/library.js';
import { createStick, createStickCrowd, tipOf } from '../../support/stick.js';

/** A time as a program gets it from a clock. What counted passes of it one by one would never end. */
const NOW = 1_763_740_800_123;

function createCrowd(count = 1) {
  const crowd = createStickCrowd(count, { A: 1, B: 0.37 });
  const log: string[] = [];
  crowd.addEventListener('loop', ({ instanceId, loopDelta }) => log.push(`${instanceId} loop ${loopDelta}`));
  crowd.addEventListener('finished', ({ instanceId, direction }) =>
    log.push(`${instanceId} finished ${direction}`),
  );
  return { crowd, log };
}

describe('a time far beyond the end', () => {
  test.each([NOW, -NOW])('finishes LoopOnce at once: %d', (start) => {
    const { crowd, log } = createCrowd();
    for (const timeScale of [1, -1]) {
      const options = { loop: LoopOnce, clampWhenFinished: true, time: start, timeScale };
      const reference = new ActionReference([1]);
      reference.play({ clip: 0, repetitions: 1, ...options });
      reference.update(0.1);
      crowd.play(0, 'A', options).update(0.1);
      expect(tipOf(crowd, 0)).toBeCloseTo(reference.target.position.x, 6);
      expect(log.splice(0)).toEqual([`0 finished ${reference.direction}`]);
      crowd.play(0, 'A', { ...options, time: 0.5 });
      crowd.setTimeAt(0, start).update(0.1);
      expect(log.splice(0)).toEqual([`0 finished ${timeScale}`]);
    }
  });

  test('is so many passes of a clip that repeats, and its pose is exact', () => {
    const { crowd, log } = createCrowd();
    crowd.play(0, 'A', { time: NOW + 0.25 }).update(0.125);
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
      crowd.update(delta);
      const expected = references.flatMap((reference, i) => {
        reference.update(delta);
        return reference.loops === 0 ? [] : [`${i} loop ${reference.loops}`];
      });
      expect(log.splice(0).sort()).toEqual(expected);
    }
  });
});

const STEP = 1 / 2000;

test('a warp goes on in proportion when the time scale changes, as that of an AnimationAction', () => {
  const stick = createStick({ Walk: 1.2, Run: 0.8 });
  const crowd = new SkinnedInstancedMesh(bakeCharacter(stick.root, stick.clips), 1);
  const mixer = new AnimationMixer(stick.root);
  const [walk, run] = stick.clips.map((clip) => mixer.clipAction(clip));
  walk.play();
  crowd.play(0, 'Walk');
  run.reset().play();
  walk.crossFadeTo(run, 0.5, true);
  crowd.play(0, 'Run', { fade: 0.5, warp: true });
  for (let i = 0; i < 950; i++) {
    if (i === 400) {
      run.timeScale = 0.5;
      crowd.setTimeScaleAt(0, 0.5);
    } else if (i === 600) {
      run.timeScale = 0;
      crowd.setTimeScaleAt(0, 0);
    } else if (i === 700) {
      run.timeScale = -1.5;
      crowd.setTimeScaleAt(0, -1.5);
    }
    mixer.update(STEP);
    crowd.update(STEP);
    expect(crowd.getTimeAt(0), `${i * STEP} s`).toBeCloseTo(run.time, 3);
  }
  // From 0.187 on three.js then puts back the time scale from before the warp; here the one that was set stays.
  crowd.update(0.1);
  const before = crowd.getTimeAt(0);
  crowd.update(0.1);
  expect(crowd.getTimeAt(0) - before).toBeCloseTo(-0.15, 6);
  expect(crowd.getTimeScaleAt(0)).toBe(-1.5);
});

test('clips that were warped go on as fast beneath the next fade', () => {
  const crowd = createStickCrowd(1, { A: 4, B: 1, C: 2 });
  crowd.play(0, 'A').update(0.5);
  crowd.play(0, 'B', { fade: 1, warp: true }).update(0.35);
  const speed = () => {
    const before = tipOf(crowd, 0);
    crowd.update(1e-3);
    return (tipOf(crowd, 0) - before) / 1e-3;
  };
  const before = speed();
  // what the fade of A to B had added, which ends: by so much each second, times how far B is ahead
  const weight = 0.35 + 1e-3;
  const b = crowd.getTimeAt(0);
  const a = (tipOf(crowd, 0) - weight * b) / (1 - weight);
  // so slow a fade that what it adds is not seen
  crowd.play(0, 'C', { fade: 1e5 });
  // the warp itself goes on by a hundredth within these two milliseconds
  expect(Math.abs(speed() + (b - a) - before)).toBeLessThan(0.02);
});

test.each<[string, (crowd: SkinnedInstancedMesh) => SkinnedInstancedMesh]>([
  ['gets its speed again', (crowd) => crowd.setTimeScaleAt(0, 1)],
  ['is paused and goes on', (crowd) => crowd.pause(0).resume(0)],
  ['is saved and goes on', (crowd) => loadPlayback(crowd, savePlayback(crowd))],
])('a ping-pong that was turned back to before its start stays on its way when it %s', (_, change) => {
  const { crowd } = createCrowd();
  // From the second call on, its passes count from this one.
  crowd.play(0, 'A', { loop: LoopPingPong }).update(1.4).setTimeScaleAt(0, 1).update(-2.2);
  expect(tipOf(crowd, 0)).toBeCloseTo(0.8, 5);
  expect(tipOf(change(crowd), 0)).toBeCloseTo(0.8, 5);
});

test('a ping-pong that is stopped in its first pass in reverse shows its time, as an AnimationAction does', () => {
  const stick = createStick({ A: 1 });
  const crowd = new SkinnedInstancedMesh(bakeCharacter(stick.root, stick.clips), 1);
  const mixer = new AnimationMixer(stick.root);
  const action = mixer.clipAction(stick.clips[0]).setLoop(LoopPingPong, Infinity).play();
  crowd.play(0, 'A', { loop: LoopPingPong });
  action.time = 0.8;
  crowd.setTimeAt(0, 0.8);
  for (const timeScale of [-1, 0, 1]) {
    action.timeScale = timeScale;
    crowd.setTimeScaleAt(0, timeScale);
    mixer.update(0.1);
    crowd.update(0.1);
    expect(tipOf(crowd, 0), `${timeScale}`).toBeCloseTo(stick.bones[1].position.x, 5);
  }
});
