import { AnimationClip, type KeyframeTrack, VectorKeyframeTrack } from 'three';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type * as Bake from '../../../lib/baking/bake.js';
import type * as RunBake from '../../../lib/baking/runBake.js';
import type * as TrackTexels from '../../../lib/tracks/trackTexels.js';
import { createStick } from '../../support/stick.js';

// So many keys as tracks may really have take seconds to bake.
const PATH = '../../../lib/tracks/trackTexels.js';
let runAll: typeof RunBake.runAll;
let bakeSteps: typeof Bake.bakeSteps;

beforeAll(async () => {
  vi.resetModules();
  vi.doMock(PATH, async (original) => ({
    ...(await original<typeof TrackTexels>()),
    MAX_TRACK_TEXELS: 1000,
  }));
  ({ runAll } = await import('../../../lib/baking/runBake.js'));
  ({ bakeSteps } = await import('../../../lib/baking/bake.js'));
});

afterAll(() => {
  vi.doUnmock(PATH);
  vi.resetModules();
});

const track = (name: string, times: number[], value: (key: number) => number) =>
  new VectorKeyframeTrack(
    name,
    times,
    times.flatMap((_, key) => [value(key), 0.5, 0.5]),
  ) as KeyframeTrack;

function bake(duration: number, tracks: KeyframeTrack[]) {
  const clips = [new AnimationClip('Long', duration, tracks)];
  return runAll(bakeSteps(createStick().root, clips, { encoding: 'tracks' }));
}

test('what only trembles by rounding does not count among the keys', () => {
  const times = Array.from({ length: 601 }, (_, i) => i / 60);
  const trembling = ['Base.position', 'Base.scale'].map((name) =>
    track(name, times, (key) => 1 + (key % 7 === 0 ? 1.2e-7 : 0)),
  );
  const moving = track('Tip.position', times, (key) => Math.sin(key / 50));
  expect(bake(10, [moving, ...trembling]).clips[0].count).toBe(601);
  const other = track('Tip.scale', times, (key) => 2 + Math.sin(key / 50));
  expect(() => bake(10, [moving, other])).toThrow(
    'encoding "tracks" cannot hold clip "Long" of 10 s, which takes more than 1000 keys; use encoding "auto".',
  );
});

test('a clip that cannot be sampled as finely as asked for is kept as fine as it can be, with a warning', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const odd = [0, Math.SQRT1_2, Math.E / 2, Math.PI, 10];
  const { clips } = bake(10, [track('Tip.position', odd, (key) => key % 2)]);
  const [{ count }] = clips;
  expect(count).toBeGreaterThan(250);
  expect(count).toBeLessThan(1000);
  const fps = Math.round((count - 1) / 10);
  expect(warn.mock.calls.flat()).toEqual([
    expect.stringContaining(`its curves or key times are finer than ${fps} frames per second hold.`),
  ]);
  warn.mockRestore();
});
