import { expect, test } from 'vitest';
import { findKeyGrid, LOOSE_TOLERANCE } from '../../../lib/baking/keyGrid.js';
import { describeCharacter } from '../../support/characters.js';
import { loadModel } from '../../support/models.js';

test.each([24, 25, 30, 37.5, 60, 120])('keys at %d frames per second', (fps) => {
  // as files have them, rounded to float32
  const times = Float32Array.from({ length: 300 }, (_, i) => i / fps);
  expect(findKeyGrid(times)).toBe(fps);
});

test('the slowest rate that holds all keys', () => {
  expect(findKeyGrid([0, 0.1, 0.25])).toBe(20);
  expect(findKeyGrid([0, 2])).toBe(0.5);
  expect(findKeyGrid([1])).toBe(1);
});

test('the frame rate of times that were written with few decimals', () => {
  const times = Array.from({ length: 1200 }, (_, i) => Number((i / 24).toFixed(4)));
  expect(findKeyGrid(times)).toBeNull();
  expect(findKeyGrid(times, LOOSE_TOLERANCE)).toBe(24);
});

test('one key at the beginning needs no frames', () => {
  expect(findKeyGrid([0, 0])).toBe(0);
});

test('keys on no grid', () => {
  expect(findKeyGrid([0, 0.1, 0.2718281828, 0.31415926])).toBeNull();
});

for (const file of ['CesiumMan.glb', 'Horse.glb', 'Knight.glb', 'RobotExpressive.glb']) {
  describeCharacter(file, () => {
    test('every clip has a grid', async () => {
      const { clips } = await loadModel(file);
      expect(clips).not.toEqual([]);
      for (const { name, tracks } of clips) {
        expect([0, 24, 30], name).toContain(findKeyGrid(tracks.flatMap(({ times }) => Array.from(times))));
      }
    });
  });
}
