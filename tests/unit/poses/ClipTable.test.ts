import { expect, test } from 'vitest';
import { type BakedClip, ClipTable, listNames } from '../../../lib/poses/ClipTable.js';

const clip = (name: string, start: number): BakedClip => ({
  name,
  start,
  count: 10,
  duration: 1,
  fps: 9,
  bounds: [0, 0, 0, 1, 1, 1],
  rootMotion: null,
  markers: [],
});
const table = new ClipTable([clip('Idle', 1), clip('Run', 11), clip('Idle', 21)]);

test('clips are found by name, index and AnimationClip; of equal names by the first', () => {
  expect(table.indexOf('Run', 'test')).toBe(1);
  expect(table.indexOf('Idle', 'test')).toBe(0);
  expect(table.indexOf(2, 'test')).toBe(2);
  expect(table.indexOf({ name: 'Run' }, 'test')).toBe(1);
});

test('clips are found by their first frame, and by no other', () => {
  expect(table.startingAt(11)).toBe(table.clips[1]);
  expect(table.startingAt(12)).toBeNull();
  expect(table.startingAt(0)).toBeNull();
});

test.each([
  ['Fly', 'test: no clip named "Fly"; the bone texture has "Idle", "Run", "Idle".'],
  [3, 'test: no clip 3; the bone texture has 3 clips, 0 to 2.'],
  [-1, 'test: no clip -1;'],
  [0.5, 'test: no clip 0.5;'],
  [Number.NaN, 'test: no clip NaN;'],
  [null, 'test: the clip is null; pass its name'],
  [{}, 'test: the clip is an object without a name'],
  [['Run'], 'test: the clip is an object without a name'],
] as [never, string][])('%j is no clip', (reference, message) => {
  expect(() => table.indexOf(reference, 'test')).toThrow(message);
});

test('without clips the message says so', () => {
  expect(() => new ClipTable([]).indexOf(0, 'test')).toThrow('the bone texture has none.');
  expect(() => new ClipTable([]).indexOf('A', 'test')).toThrow('the bone texture has none.');
});

test('long lists of names end with how many are left', () => {
  const named = Array.from({ length: 15 }, (_, i) => ({ name: `${i}` }));
  expect(listNames(named, 2)).toBe('"0", "1", and 13 more');
  expect(listNames(named.slice(0, 2), 2)).toBe('"0", "1"');
});
