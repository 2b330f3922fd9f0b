import { AnimationMixer, AnimationUtils, Vector3 } from 'three';
import { describe, expect, test, vi } from 'vitest';
import { bakeCharacter, encodingOf, getVertexPosition, SkinnedInstancedMesh } from '../../support/library.js';
import { createStick, createStickCrowd, REST_X, tipOf } from '../../support/stick.js';

const DURATIONS = { A: 4, B: 8, C: 2, D: 3, E: 5 };

function createCrowd(count = 1, encoding: 'tracks' | 'frames' = 'tracks') {
  return createStickCrowd(count, DURATIONS, { encoding: encodingOf(encoding) });
}

const still = { timeScale: 0 };

describe('weights', () => {
  test('a fifth clip drops the one that shows least, and a warning names it', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const crowd = createCrowd();
    const weights = { A: 0.5, B: 0.1, C: 0.2, D: 0.15 };
    for (const [clip, weight] of Object.entries(weights)) crowd.play(0, clip, { weight });
    crowd.play(0, 'E', { weight: 0.3 });
    expect(crowd.getWeightAt(0, 'B')).toBe(0);
    expect(crowd.getWeightAt(0, 'D')).toBe(0.15);
    expect(warn.mock.calls.flat().join()).toMatch(/4 clips .* "B"/);
  });

  test('time and speed of one clip of several change as those of its action', () => {
    const { root, clips, bones } = createStick(DURATIONS);
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
    const mixer = new AnimationMixer(root);
    const actions = clips.slice(0, 2).map((clip) => mixer.clipAction(clip).play());
    crowd.play(0, 'A', { weight: 0.4 }).play(0, 'B', { weight: 0.6 });
    actions[0].setEffectiveWeight(0.4);
    actions[1].setEffectiveWeight(0.6);
    const update = (delta: number) => {
      mixer.update(delta);
      crowd.update(delta);
      expect(tipOf(crowd, 0)).toBeCloseTo(bones[1].position.x, 5);
      actions.forEach((action, i) => {
        expect(crowd.getTimeAt(0, 'base', clips[i])).toBeCloseTo(action.time, 5);
        expect(crowd.getTimeScaleAt(0, 'base', clips[i])).toBeCloseTo(action.timeScale, 5);
      });
    };
    update(0.3);
    crowd.setTimeAt(0, 2.5, { clip: 'A' }).setTimeScaleAt(0, -0.5, { clip: 'A' });
    actions[0].time = 2.5;
    actions[0].timeScale = -0.5;
    update(0.7);
    crowd.setTimeAt(0, 7, { clip: 'B' });
    actions[1].time = 7;
    update(1.5);
    expect(crowd.getTimeAt(0)).toBeCloseTo(actions[1].time, 5);
  });

  test('need encoding tracks', () => {
    const crowd = createCrowd(1, 'frames');
    expect(() => crowd.play(0, 'A', { weight: 0.5 })).toThrow(/A weight needs .*encoding "tracks"/);
    crowd.play(0, 'A');
    expect(() => crowd.setWeightAt(0, 'A', 0.5)).toThrow(/A weight needs .*encoding "tracks"/);
    expect(crowd.getWeightAt(0, 'A')).toBe(1);
  });

  test('of a range change for all of it, or, where one does not play the clip, for none', () => {
    const crowd = createCrowd(3);
    crowd.play({ start: 0, count: 2 }, 'A');
    expect(() => crowd.setWeightAt(crowd.all, 'A', 0.5)).toThrow('Instance 2 does not play "A"');
    expect(() => crowd.setTimeAt(crowd.all, 1, { clip: 'A' })).toThrow('Instance 2 does not play "A"');
    expect(() => crowd.setTimeScaleAt(crowd.all, 2, { clip: 'A' })).toThrow('Instance 2 does not play "A"');
    expect([crowd.getWeightAt(0, 'A'), crowd.getTimeAt(0), crowd.getTimeScaleAt(0)]).toEqual([1, 0, 1]);
    crowd.play(2, 'A').setWeightAt(crowd.all, 'A', 0.5);
    expect([0, 1, 2].map((index) => crowd.getWeightAt(index, 'A'))).toEqual([0.5, 0.5, 0.5]);
  });

  test.each([
    ['a clip', (bad: number) => [(i: number) => (i === bad ? 'Z' : 'B'), {}] as const, 'no clip "Z"'],
    ['a time', (bad: number) => ['B', { time: (i: number) => i / (i - bad) }] as const, 'time is'],
    ['a fade', (bad: number) => ['B', { fade: (i: number) => bad - 1 - i }] as const, 'fade is -1'],
    ['a layer', (bad: number) => ['B', { layer: (i: number) => (i === bad ? 'Z' : 0) }] as const, 'no layer'],
  ])('a range begins to play as a whole, or, where %s of one is wrong, not at all', (_, of, message) => {
    const crowd = createCrowd(4);
    crowd.playAll('A', { time: 0.25 }).pause(0).deleteInstance(1);
    const [clip, options] = of(3);
    expect(() => crowd.playAll(clip, options)).toThrow(message);
    expect([0, 2, 3].map((i) => [crowd.getClipAt(i), crowd.getTimeAt(i), crowd.isPausedAt(i)])).toEqual([
      ['A', 0.25, true],
      ['A', 0.25, false],
      ['A', 0.25, false],
    ]);
    const asked: number[] = [];
    crowd.playAll('B', { time: (i) => asked.push(i) / 8 });
    expect(asked).toEqual([0, 2, 3]);
    expect([0, 2, 3].map((i) => [crowd.getClipAt(i), crowd.getTimeAt(i)])).toEqual([
      ['B', 1 / 8],
      ['B', 2 / 8],
      ['B', 3 / 8],
    ]);
  });
});

test('bounds hold two additive clips that play in full at once', () => {
  const { root, clips } = createStick({ A: 4, B: 8 });
  for (const clip of clips) AnimationUtils.makeClipAdditive(clip);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
  crowd.play(0, 'A', { ...still, time: 3.9, weight: 1 }).play(0, 'B', { ...still, time: 7.9, weight: 1 });
  expect(tipOf(crowd, 0)).toBeCloseTo(REST_X + 3.9 + 7.9, 4);
  crowd.computeBoundingBox();
  const tip = getVertexPosition(crowd, 0, 1, new Vector3());
  expect(crowd.boundingBox?.distanceToPoint(tip)).toBeLessThan(1e-6);
});
