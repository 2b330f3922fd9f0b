import { AnimationClip, type KeyframeTrack, VectorKeyframeTrack } from 'three';
import { expect, test, vi } from 'vitest';
import { planClips as planClipSteps } from '../../../lib/baking/planClips.js';
import { runAll } from '../../../lib/baking/runBake.js';

const planClips = (...given: Parameters<typeof planClipSteps>) => runAll(planClipSteps(...given));

const clip = (name: string, duration: number) =>
  new AnimationClip(name, duration, [
    new VectorKeyframeTrack(
      'Hips.position',
      duration > 0 ? [0, duration] : [0],
      duration > 0 ? [0, 0, 0, 1, 0, 0] : [0, 0, 0],
    ) as KeyframeTrack,
  ]);
const clips = [clip('Walk', 1), clip('Pose', 0), clip('Wave', 0.26)];

test('clips follow each other after the rest pose, with a frame on both ends', () => {
  const planned = planClips(clips, undefined, 10);
  expect(planned.map(({ name, start, count }) => [name, start, count])).toEqual([
    ['Walk', 1, 11],
    ['Pose', 12, 1],
    ['Wave', 13, 4],
  ]);
  expect([0, 5, 10].map(planned[0].timeOf)).toEqual([0, 0.5, 1]);
  expect(planned[1].timeOf(0)).toBe(0);
  expect(planned[2].timeOf(3), 'the end, though it is not on a tenth').toBe(0.26);
});

test('a clip that is shorter than a frame has its two ends', () => {
  expect(planClips([clip('Blink', 0.01)], undefined, 10)[0].count).toBe(2);
});

test('clips are chosen, renamed and given a rate of their own', () => {
  const planned = planClips(clips, ['Wave', { clip: 'Walk', name: 'Run', fps: 60 }, { clip: clips[0] }], 10);
  expect(planned.map(({ name, start, count }) => [name, start, count])).toEqual([
    ['Wave', 1, 4],
    ['Run', 5, 61],
    ['Walk', 66, 11],
  ]);
});

test('an AnimationClip chooses itself', () => {
  const planned = planClips(clips, [clips[2], { clip: clips[0], fps: 60 }], 10);
  expect(planned.map(({ name, count }) => [name, count])).toEqual([
    ['Wave', 4],
    ['Walk', 61],
  ]);
});

test.each([
  [null, undefined, 10, 'clips is null; pass AnimationClips'],
  [{ animations: clips }, undefined, 10, 'clips is Object; pass AnimationClips'],
  [clips[0], undefined, 10, 'clips is AnimationClip "Walk"; pass AnimationClips'],
  [['Walk'], undefined, 10, 'clips holds "Walk", which is no AnimationClip'],
  [clips, [undefined], 10, 'options.clips holds undefined, which is no AnimationClip'],
  [clips, [{ name: 'Walk' }], 10, 'options.clips holds Object "Walk", which is no AnimationClip'],
  [clips, [], 10, 'options.clips is empty'],
  [clips, ['Fly'], 10, 'no clip named "Fly" in options.clips; there are "Walk", "Pose", "Wave".'],
  [clips, [{ clip: 'Walk', fps: 0 }], 10, 'options.clips "Walk": fps is 0'],
  [[Object.assign(clip('Long', 1), { duration: Infinity })], undefined, 10, 'has duration Infinity'],
  [[Object.assign(clip('Flat', 1), { duration: 0 })], undefined, 10, 'has keys but a duration of 0'],
] as [never, never, number, string][])(
  'what cannot be baked is named (%#)',
  (given, choices, fps, message) => {
    expect(() => planClips(given, choices, fps)).toThrow(message);
  },
);

test('names that occur twice are told of', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  planClips(clips, ['Walk', 'Wave', 'Walk'], 10);
  expect(warn.mock.calls.flat().join()).toContain('more than one clip is named "Walk"');
  warn.mockRestore();
});
