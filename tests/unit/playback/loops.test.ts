import { type AnimationActionLoopStyles, AnimationMixer, LoopOnce, LoopPingPong, LoopRepeat } from 'three';
import { describe, expect, test } from 'vitest';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { random, SEEDS } from '../../support/random.js';
import { createStick, REST_X, tipOf } from '../../support/stick.js';
import { THOROUGH } from '../../support/thorough.js';

const LOOPS: Record<string, AnimationActionLoopStyles> = { LoopOnce, LoopRepeat, LoopPingPong };

interface Play {
  loop: AnimationActionLoopStyles;
  repetitions: number;
  clampWhenFinished: boolean;
  timeScale: number;
  time: number;
}

/** Runs an instance and an AnimationAction side by side and compares the time they show at each step. */
function compareWithAction(duration: number, options: Play, steps: readonly number[]): void {
  const stick = createStick({ Slide: duration });
  const crowd = SkinnedInstancedMesh.from(stick.root, stick.clips, 1);
  crowd.play(0, 'Slide', options);

  const mixer = new AnimationMixer(stick.root);
  const action = mixer.clipAction(stick.clips[0]);
  action.reset().setLoop(options.loop, options.repetitions);
  action.clampWhenFinished = options.clampWhenFinished;
  action.timeScale = options.timeScale;
  action.time = options.time;
  action.play();
  let finishing = false;
  mixer.addEventListener('finished', () => {
    finishing = true;
  });

  let elapsed = 0;
  for (const step of steps) {
    finishing = false;
    elapsed += step;
    mixer.update(step);
    crowd.update(step);
    // In the very update in which a ping-pong finishes, three.js shows the other end for that one frame.
    if (finishing && options.loop === LoopPingPong) continue;
    const expected = stick.bones[1].position.x;
    const actual = tipOf(crowd, 0);
    // At a wrap both answers are right.
    const nearWrap = Math.min(expected, duration - expected) < 1e-4 && expected > -1;
    if (nearWrap && Math.min(Math.abs(actual), Math.abs(duration - actual)) < 1e-3) continue;
    expect(actual, `after ${elapsed} s`).toBeCloseTo(expected, 4);
  }
}

describe.each(Object.entries(LOOPS))('%s', (_, loop) => {
  test.each([
    { timeScale: 1, time: 0 },
    { timeScale: 1, time: 0.35 },
    { timeScale: -1, time: 0.6 },
    { timeScale: -1, time: 0 },
    { timeScale: -1, time: 1 },
    { timeScale: 0, time: 0.4 },
    { timeScale: 2.5, time: 0.1 },
  ])('runs as an AnimationAction does at timeScale $timeScale from $time s', (start) => {
    for (const repetitions of [1, 2, 3, Infinity]) {
      for (const clampWhenFinished of [true, false]) {
        const options = { loop, repetitions, clampWhenFinished, ...start };
        compareWithAction(
          1,
          options,
          Array.from({ length: 45 }, () => 0.107),
        );
      }
    }
  });
});

test.each(SEEDS)('random actions run as AnimationAction does (seed %i)', (seed) => {
  const next = random(seed);
  for (let round = 0; round < 60; round++) {
    const duration = 0.2 + 3 * next();
    const options = {
      loop: Object.values(LOOPS)[Math.floor(next() * 3)],
      repetitions: next() < 0.4 ? Infinity : 1 + Math.floor(next() * 6),
      clampWhenFinished: next() < 0.5,
      timeScale: (next() - 0.4) * 4,
      time: next() * duration,
    };
    // Steps stay below the duration: beyond it, three.js's own result depends on the frame rate.
    const longest = (0.9 * duration) / Math.max(Math.abs(options.timeScale), 0.1);
    const steps = Array.from({ length: 80 }, () => next() * Math.min(longest, 0.7));
    compareWithAction(duration, options, steps);
  }
});

test('an instance that plays nothing, and one that finished unclamped, stand in the rest pose', () => {
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 2);
  expect(tipOf(crowd, 0)).toBeCloseTo(REST_X, 6);
  crowd.play(1, 'Slide', { loop: LoopOnce });
  crowd.update(0.5);
  expect(tipOf(crowd, 1)).toBeCloseTo(0.5, 5);
  crowd.update(0.6);
  expect(tipOf(crowd, 1)).toBeCloseTo(REST_X, 6);
});

test('each instance has its own clip, speed and start', () => {
  const { root, clips } = createStick({ A: 1, B: 3 });
  const crowd = SkinnedInstancedMesh.from(root, clips, 3);
  crowd.play(0, 'A');
  crowd.update(0.25);
  crowd.play(1, 'B', { timeScale: 2, time: 0.5 });
  crowd.play(2, 1, { time: 1 });
  crowd.update(0.25);
  expect([0, 1, 2].map((i) => tipOf(crowd, i))).toEqual([
    expect.closeTo(0.5, 5),
    expect.closeTo(1, 5),
    expect.closeTo(1.25, 5),
  ]);
});

test('without interpolation the nearest frame is shown', () => {
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { fps: 10, interpolate: false });
  crowd.play(0, 'Slide');
  crowd.update(0.54);
  expect(tipOf(crowd, 0)).toBeCloseTo(0.5, 5);
  crowd.update(0.02);
  expect(tipOf(crowd, 0)).toBeCloseTo(0.6, 5);
  crowd.interpolate = true;
  expect(tipOf(crowd, 0)).toBeCloseTo(0.56, 5);
});

test('the clock stays fine after a month, and nothing moves when it goes back to zero', () => {
  const duration = 1.2345;
  const { root, clips } = createStick({ Slide: duration });
  const crowd = SkinnedInstancedMesh.from(root, clips, 4);
  crowd.play(0, 'Slide', { timeScale: 1.1 });
  crowd.play(1, 'Slide', { timeScale: -0.7, time: 0.3 });
  crowd.play(2, 'Slide', { loop: LoopPingPong, timeScale: 1.3 });
  crowd.play(3, 'Slide', { loop: LoopRepeat, repetitions: 1e6, timeScale: 0.9 });
  const step = THOROUGH ? 3.75 : 15;
  const steps = Math.round((30 * 86400) / step);
  for (let i = 0; i < steps; i++) crowd.update(step);

  const total = steps * step;
  const wrap = (time: number) => time - Math.floor(time / duration) * duration;
  const pong = (time: number) => {
    const cycle = wrap(time);
    return Math.floor(time / duration) % 2 === 0 ? cycle : duration - cycle;
  };
  expect(tipOf(crowd, 0)).toBeCloseTo(wrap(total * 1.1), 4);
  expect(tipOf(crowd, 1)).toBeCloseTo(wrap(0.3 - total * 0.7), 4);
  expect(tipOf(crowd, 2)).toBeCloseTo(pong(total * 1.3), 4);
  expect(tipOf(crowd, 3)).toBeCloseTo(REST_X, 4);

  // Across a rebase, which is due at the latest 16 s later, the pose moves on evenly.
  let before = tipOf(crowd, 0);
  for (let i = 0; i < 1300; i++) {
    crowd.update(1 / 60);
    const after = tipOf(crowd, 0);
    expect(wrap(after - before + duration)).toBeCloseTo(1.1 / 60, 4);
    before = after;
  }
});
