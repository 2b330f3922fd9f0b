import { LoopPingPong, LoopRepeat } from 'three';
import { describe, expect, test } from 'vitest';
import { drawnTip } from '../../support/drawnTip.js';
import { bakeCharacter, frames, SkinnedInstancedMesh } from '../../support/library.js';
import { createStick, createStickCrowd, REST_X, tipOf } from '../../support/stick.js';
import { THOROUGH } from '../../support/thorough.js';

test('without interpolation the nearest frame is shown', () => {
  const { root, clips } = createStick();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips, { fps: 10, encoding: frames }), 1, {
    interpolate: false,
  });
  crowd.play(0, 'Slide');
  crowd.update(0.54);
  expect(tipOf(crowd, 0)).toBeCloseTo(0.5, 5);
  crowd.update(0.02);
  expect(tipOf(crowd, 0)).toBeCloseTo(0.6, 5);
  crowd.interpolate = true;
  expect(tipOf(crowd, 0)).toBeCloseTo(0.56, 5);
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

describe('what shaders know of an instance holds for hours', () => {
  const create = (count: number) => {
    const duration = 37 / 30;
    const crowd = createStickCrowd(count, { Slide: duration }, { encoding: frames, fps: 30 });
    return { crowd, duration };
  };

  test('where it is in a loop, without being written anew', () => {
    const { crowd, duration } = create(6);
    const scales = [1, 1.1, -0.7, 1.3, 0.9137, 3.3];
    scales.forEach((timeScale, i) => {
      crowd.play(i, 'Slide', { timeScale, time: 0.1 * i, loop: i === 3 ? LoopPingPong : LoopRepeat });
    });
    crowd.play(4, 'Slide', { timeScale: scales[4], time: 0.4, repetitions: 1e5 });
    crowd.update(0.3);
    const { version } = crowd.playback;
    const wrap = (time: number) => time - Math.floor(time / duration) * duration;
    let worst = 0;
    let total = 0.3;
    for (const seconds of [15.9, 0.4, 60, 600, 3001.7, 3600 * 3, 3600 * 5 + 0.013]) {
      for (let left = seconds; left > 0; left -= 700) crowd.update(Math.min(left, 700));
      total += seconds;
      scales.forEach((scale, i) => {
        const at = 0.1 * i + total * scale;
        const odd = i === 3 && Math.floor(at / duration) % 2 !== 0;
        const expected = odd ? duration - wrap(at) : wrap(at);
        worst = Math.max(worst, Math.abs(drawnTip(crowd, i) - expected));
      });
    }
    console.log(`worst after ${(total / 3600).toFixed(1)} hours: ${worst.toExponential(1)} s`);
    // A second is a third of the height.
    expect(worst / 3).toBeLessThan(1e-5);
    expect(crowd.playback.version).toBe(version);
  });

  test('when it has finished', () => {
    const { crowd, duration } = create(2);
    crowd.play(0, 'Slide', { repetitions: 3000, timeScale: 1.1, clampWhenFinished: true });
    crowd.play(1, 'Slide', { repetitions: 3000, timeScale: -0.9, clampWhenFinished: true });
    const running = () => [0, 1].map((i) => crowd.isPlayingAt(i));
    crowd.update((3000 * duration) / 1.1 - 0.01);
    expect(running()).toEqual([true, true]);
    expect(drawnTip(crowd, 0)).toBeCloseTo(duration - 0.011, 4);
    crowd.update(0.02);
    expect(running()).toEqual([false, true]);
    expect(drawnTip(crowd, 0)).toBeCloseTo(duration, 4);
    crowd.update((3000 * duration) / 0.9 - (3000 * duration) / 1.1 - 0.1);
    expect(drawnTip(crowd, 1)).toBeCloseTo(0.09 * 0.9, 4);
    crowd.update(0.2);
    expect(drawnTip(crowd, 1)).toBeCloseTo(0, 4);
  });
});
