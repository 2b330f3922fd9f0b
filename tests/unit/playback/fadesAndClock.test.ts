import { LoopPingPong, LoopRepeat } from 'three';
import { expect, test } from 'vitest';
import { createStickCrowd, REST_X, tipOf } from '../../support/stick.js';
import { THOROUGH } from '../../support/thorough.js';

const createCrowd = () => createStickCrowd(1, { A: 4, B: 8, C: 2 });

test('a fade that another one interrupts drops the clip that shows least of three, and never jumps by more than that', () => {
  const crowd = createCrowd();
  const places = [0.2, 1.9, 1.0, 0.1, 1.5, 0.7];
  crowd.play(0, 'C', { timeScale: 0, time: places[0] }).update(1);
  let before = tipOf(crowd, 0);
  let largest = 0;
  for (let i = 1; i < 200; i++) {
    crowd.play(0, 'C', { timeScale: 0, time: places[i % places.length], fade: 0.3 });
    largest = Math.max(largest, Math.abs(tipOf(crowd, 0) - before));
    crowd.update(0.03 + 0.002 * (i % 20));
    before = tipOf(crowd, 0);
  }
  // a third of the way between the clips furthest from each other
  expect(largest).toBeLessThan((1.9 - 0.1) / 3);
  expect(largest).toBeGreaterThan(0);
});

test('sync keeps both clips at the same share of their length while they fade', () => {
  for (const timeScale of [1, 1.7]) {
    const crowd = createCrowd();
    crowd.play(0, 'A', { timeScale: 0.8 }).update(1.3);
    const share = () => crowd.getTimeAt(0) / 8;
    const start = crowd.getTimeAt(0) / 4;
    crowd.play(0, 'B', { fade: 0.5, sync: true, timeScale });
    expect(share()).toBeCloseTo(start, 6);
    for (let i = 0; i < 9; i++) {
      crowd.update(0.05);
      const weight = 0.1 * (i + 1);
      // 4 and 8 units long: at one share, the mix of both is that share of the mixed length
      expect(tipOf(crowd, 0)).toBeCloseTo(share() * (4 + 4 * weight), 4);
    }
    crowd.update(0.05);
    expect(crowd.getTimeScaleAt(0)).toBeCloseTo(timeScale, 9);
    const before = crowd.getTimeAt(0);
    crowd.update(0.1);
    expect(crowd.getTimeAt(0) - before).toBeCloseTo(0.1 * timeScale, 6);
  }
});

test('once what came before it has gone, calls are about what was faded to', () => {
  const crowd = createCrowd().play(0, 'A').play(0, 'B', { fade: 0.5 });
  // It goes in a sweep, half a minute later at most.
  for (let second = 0; second < 33; second++) crowd.update(1);
  const before = tipOf(crowd, 0);
  crowd.setTimeScaleAt(0, 3).update(1);
  expect(tipOf(crowd, 0) - before).toBeCloseTo(3, 4);
  crowd.stop(0);
  expect(crowd.getClipAt(0)).toBe(null);
});

test('the clock stays fine after a month, and nothing moves when an epoch ends', () => {
  const duration = 1.2345;
  const crowd = createStickCrowd(4, { Slide: duration });
  crowd.play(0, 'Slide', { timeScale: 1.1 });
  crowd.play(1, 'Slide', { timeScale: -0.7, time: 0.3 });
  crowd.play(2, 'Slide', { loop: LoopPingPong, timeScale: 1.3 });
  crowd.play(3, 'Slide', { loop: LoopRepeat, repetitions: 1e6, timeScale: 0.9 });
  const step = THOROUGH ? 15 : 60;
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

  // Across epochs, which last 16 s, the pose moves on evenly.
  let before = tipOf(crowd, 0);
  for (let i = 0; i < 1300; i++) {
    crowd.update(1 / 60);
    const after = tipOf(crowd, 0);
    expect(wrap(after - before + duration)).toBeCloseTo(1.1 / 60, 4);
    before = after;
  }
});
