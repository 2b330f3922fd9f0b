import { LoopOnce } from 'three';
import { describe, expect, test } from 'vitest';
import { SkinnedInstancedMesh } from '../support/library.js';
import { createStick, tipOf } from '../support/stick.js';

function createCrowd(count = 2) {
  const { root, clips } = createStick({ A: 1, B: 2 });
  return { crowd: SkinnedInstancedMesh.from(root, clips, count), clips };
}

describe('a single index', () => {
  test('takes options that are functions of the index', () => {
    const { crowd } = createCrowd();
    crowd.play(1, 'A', {
      loop: () => LoopOnce,
      clampWhenFinished: (index) => index === 1,
      time: (index) => index * 0.25,
      timeScale: (index) => index * 2,
    });
    expect(tipOf(crowd, 1)).toBeCloseTo(0.25, 6);
    expect(crowd.getTimeScaleAt(1)).toBeCloseTo(2, 9);
    crowd.update(5);
    expect(tipOf(crowd, 1)).toBeCloseTo(1, 6);
  });

  test('takes functions that say true or false', () => {
    const { crowd } = createCrowd();
    crowd.play(0, 'A').update(0.5);
    crowd.play(0, 'B', { sync: () => true });
    expect(crowd.getTimeAt(0)).toBeCloseTo(1, 6);
    expect(() => crowd.play(0, 'A', { rootMotion: () => true })).toThrow('clip "A" has no root motion');
  });
});

describe('an AnimationClip is found by its name', () => {
  test('in play, crossFadeTo, playAll and functions', () => {
    const { crowd, clips } = createCrowd();
    crowd.play(0, clips[1]);
    expect(crowd.getClipAt(0)).toBe('B');
    crowd.crossFadeTo(0, clips[0], 0.2);
    expect(crowd.getClipAt(0)).toBe('A');
    crowd.playAll((index) => clips[index]);
    expect([0, 1].map((index) => crowd.getClipAt(index))).toEqual(['A', 'B']);
    crowd.playAll(clips[0]);
    expect([0, 1].map((index) => crowd.getClipAt(index))).toEqual(['A', 'A']);
  });

  test('in clipIndex, addMarker and removeMarkers', () => {
    const { crowd, clips } = createCrowd();
    const { boneTexture } = crowd;
    expect(boneTexture.clipIndex(clips[1])).toBe(1);
    boneTexture.addMarker(clips[1], 1.5, 'late').addMarker(clips[1], 0.5, 'early');
    expect(boneTexture.clips[1].markers.map(({ name }) => name)).toEqual(['early', 'late']);
    boneTexture.removeMarkers(clips[1], 'early');
    expect(boneTexture.clips[1].markers.map(({ name }) => name)).toEqual(['late']);
  });

  test('and messages name it, whatever was passed', () => {
    const { crowd } = createCrowd();
    const other = createStick({ Nap: 1 }).clips[0];
    expect(() => crowd.play(0, other)).toThrow(
      'SkinnedInstancedMesh.play: no clip named "Nap"; the bone texture has "A", "B".',
    );
    for (const [clip, kind] of [
      [undefined, 'undefined'],
      [null, 'null'],
      [{}, 'an object without a name'],
      [[], 'an object without a name'],
      [true, 'true'],
    ]) {
      expect(() => crowd.play(0, clip as string)).toThrow(
        `SkinnedInstancedMesh.play: the clip is ${kind}; pass its name, its index or the AnimationClip.`,
      );
    }
  });
});

test('speeds and times that floats cannot hold are refused', () => {
  const { crowd } = createCrowd();
  for (const timeScale of [1e308, -1e308, 1.5e6, Infinity, Number.NaN]) {
    expect(() => crowd.play(0, 'A', { timeScale })).toThrow(
      `SkinnedInstancedMesh.play: timeScale is ${timeScale}; use a number from -1000000 to 1000000.`,
    );
    expect(() => crowd.setTimeScaleAt(0, timeScale)).toThrow(
      `SkinnedInstancedMesh.setTimeScaleAt: timeScale is ${timeScale}; use a number from -1000000 to 1000000.`,
    );
  }
  for (const time of [1e308, -Infinity, Number.NaN]) {
    expect(() => crowd.play(0, 'A', { time })).toThrow(
      `SkinnedInstancedMesh.play: time is ${time}; use a number`,
    );
    expect(() => crowd.setTimeAt(0, time)).toThrow(`setTimeAt: time is ${time}; use a number`);
  }
});

test('an update by a date is refused', () => {
  const { crowd } = createCrowd();
  for (const delta of [Date.now(), 1e308, Number.NaN]) {
    expect(() => crowd.update(delta)).toThrow(
      `SkinnedInstancedMesh.update: delta is ${delta}; pass the seconds`,
    );
  }
  expect(crowd.elapsed).toBe(0);
});

test('a count beyond the capacity names setCapacity', () => {
  const { crowd } = createCrowd();
  expect(() => {
    crowd.count = 3;
  }).toThrow(
    'SkinnedInstancedMesh.count: 3 is not a whole number from 0 to the capacity of 2; make room with setCapacity(n) first.',
  );
});
