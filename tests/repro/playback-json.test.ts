import { LoopOnce, LoopPingPong } from 'three';
import { describe, expect, test } from 'vitest';
import { SkinnedInstancedMesh } from '../support/library.js';
import { createStick, tipOf } from '../support/stick.js';

function createCrowd(count: number) {
  const { root, clips } = createStick({ A: 1, B: 2 });
  return SkinnedInstancedMesh.from(root, clips, count);
}

function saved() {
  const crowd = createCrowd(3);
  crowd.play(0, 'A').play(1, 'B', { loop: LoopPingPong }).update(0.3);
  crowd.play(2, 'A', { time: 0.7 }).pause(2);
  return JSON.parse(JSON.stringify(crowd.playbackToJSON()));
}

describe('playbackFromJSON takes all or nothing', () => {
  test.each<[string, (json: ReturnType<typeof saved>) => void, RegExp]>([
    [
      'a number is missing',
      ({ instances }) => instances[2].pop(),
      /instance 2 has 9 numbers; 10 or 28 are needed/,
    ],
    [
      'a number is null',
      ({ instances }) => instances[2].fill(null, 3),
      /instance 2 is no row of finite numbers/,
    ],
    ['a row is missing', ({ instances }) => instances.splice(2, 1, null), /instance 2 is no row/],
    ['a clip is not there', ({ instances }) => instances[2].fill(7, 1, 2), /instance 2 plays clip 7 of 2/],
    ['a clip is half', ({ instances }) => instances[2].fill(0.5, 1, 2), /instance 2 plays clip 0.5 of 2/],
    [
      'a flag is none',
      ({ instances }) => instances[2].fill(9, 0, 1),
      /instance 2 begins with 9; 0 or 1 is needed/,
    ],
    [
      'passes are no number',
      ({ instances }) => instances[2].fill(0.5, 3, 4),
      /instance 2 has numbers that no instance/,
    ],
  ])('%s', (_, spoil, message) => {
    const json = saved();
    spoil(json);
    const crowd = createCrowd(3);
    crowd.playAll('B', { time: 1.5 });
    expect(() => crowd.playbackFromJSON(json)).toThrow(message);
    for (let i = 0; i < 3; i++) {
      expect(crowd.getClipAt(i)).toBe('B');
      expect(tipOf(crowd, i)).toBeCloseTo(1.5, 5);
    }
  });
});

test('what had finished before it was saved does not finish again', () => {
  const crowd = createCrowd(1);
  crowd.play(0, 'A', { loop: LoopOnce, clampWhenFinished: true }).update(2);
  const other = createCrowd(1);
  let finished = 0;
  other.addEventListener('finished', () => finished++);
  other.playbackFromJSON(crowd.playbackToJSON());
  expect(tipOf(other, 0)).toBeCloseTo(1, 6);
  other.addEventListener('loop', () => {});
  other.update(1);
  expect(finished).toBe(0);
  expect(other.isPlayingAt(0)).toBe(false);
});
