import { LoopPingPong, LoopRepeat } from 'three';
import { expect, test } from 'vitest';
import { createStickCrowd, REST_X, tipOf } from '../../support/stick.js';
import { THOROUGH } from '../../support/thorough.js';

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
