import {
  AnimationClip,
  InterpolateDiscrete,
  type KeyframeTrack,
  NumberKeyframeTrack,
  Vector3,
  VectorKeyframeTrack,
} from 'three';
import { expect, test, vi } from 'vitest';
import type { PoseTracks } from '../../../lib/tracks/PoseTracks.js';
import { cubicSpline } from '../../support/cubicSpline.js';
import { BoneTexture, SkinnedInstancedMesh } from '../../support/library.js';
import { random } from '../../support/random.js';
import { Reference } from '../../support/reference.js';
import { createStick } from '../../support/stick.js';

const cubic = await cubicSpline();

const vector = (name: string, times: number[], values: number[]) =>
  new VectorKeyframeTrack(name, times, values) as KeyframeTrack;
const number = (name: string, times: number[], values: number[]) =>
  new NumberKeyframeTrack(name, times, values) as KeyframeTrack;
const stepped = (track: KeyframeTrack) => track.setInterpolation(InterpolateDiscrete);

/** Bakes a clip of a stick into tracks, and finds how far vertices are from three.js's at times in it. */
function bake(tracks: KeyframeTrack[], duration = 1) {
  const { root } = createStick();
  const clip = new AnimationClip('Clip', duration, tracks);
  const boneTexture = BoneTexture.bake(root, [clip], { encoding: 'tracks' });
  const crowd = SkinnedInstancedMesh.from(root, [clip], 1, { boneTexture });
  const next = random(2);
  const shown = new Vector3();
  let off = 0;
  for (let i = 0; i < 20; i++) {
    const time = next() * duration * 0.999;
    crowd.play(0, 0, { time });
    new Reference(root).pose(clip, time).forEachVertex((vertex, position) => {
      off = Math.max(off, crowd.getVertexPositionAt(0, vertex, shown).distanceTo(position));
    });
  }
  const { clips, keys, table } = boneTexture.data.tracks as PoseTracks;
  return { off, clip: clips[0], keys, table };
}

test('keys on every frame are stored as they are', () => {
  const { off, clip } = bake([vector('Tip.position', [0, 0.5, 1], [0, 0, 0, 1, 0, 0, 0, 2, 0])]);
  expect(off).toBeLessThan(1e-6);
  expect(clip).toMatchObject({ fps: 2, frames: 3, stride: 1, error: 0 });
});

test('tracks with fewer keys than frames are exact too', () => {
  const { off, clip } = bake([
    vector('Tip.position', [0, 0.25, 1], [0, 0, 0, 1, 0, 0, 0, 2, 0]),
    vector('Base.position', [0.5, 0.75], [0, 0, 0, 0, 1, 0]),
  ]);
  expect(off).toBeLessThan(1e-6);
  expect(clip).toMatchObject({ fps: 4, stride: 2, error: 0 });
});

test('keys near to frames are stored on these, as Collada has them with times of five decimals', () => {
  const times = Array.from({ length: 49 }, (_, i) => Number((i / 24).toFixed(5)));
  const { off, clip } = bake(
    [
      vector(
        'Tip.position',
        times,
        times.flatMap((t) => [Math.sin(t), 0, 0]),
      ),
    ],
    2,
  );
  expect(off).toBeLessThan(1e-4);
  expect(clip).toMatchObject({ fps: 24, frames: 49 });
});

test('as many keys as frames, but two of them at one time, are not taken for one a frame', () => {
  const jump = vector('Tip.position', [0, 0.5, 0.5, 1.5], [0, 0, 0, 1, 0, 0, 1, 0, 0, 3, 0, 0]);
  const { off, clip } = bake([jump, vector('Base.position', [0, 1, 1.5], [0, 0, 0, 0, 1, 0, 0, 0, 0])], 1.5);
  expect(clip.frames).toBe(4);
  expect(off).toBeLessThan(1e-6);
});

test('what never changes, or by no more than rounding, takes one texel for all frames', () => {
  const { off, clip, keys } = bake([
    vector('Tip.position', [0, 0.5, 1], [1, 0, 0, 2, 0, 0, 3, 0, 0]),
    vector('Base.position', [0, 1], [5, 6, 7, 5, 6, 7]),
    vector('Base.scale', [0, 1], [1, 1, 1, 1 + 1e-7, 1, 1]),
    vector('Tip.scale', [0, 1], [1, 1, 1, 1, 1, 1]),
  ]);
  expect(off).toBeLessThan(2e-6);
  expect(clip.stride).toBe(1);
  expect(keys.length, 'two constants and three frames').toBe(5 * 4);
});

test('negative zeros are no values of their own', () => {
  const { keys } = bake([
    vector('Tip.position', [0, 1], [0, 0, 0, 0, 0, 0]),
    vector('Base.position', [0, 1], [-0, 0, -0, -0, 0, -0]),
  ]);
  expect(keys.length).toBe(4);
});

test('steps jump at their keys', () => {
  const { off, clip } = bake([stepped(vector('Tip.position', [0, 0.3, 0.6], [0, 0, 0, 1, 0, 0, 3, 0, 0]))]);
  expect(off).toBeLessThan(1e-6);
  expect(clip.error).toBe(0);
});

test('components of a vector are as exact as the whole', () => {
  const { off, clip } = bake([
    number('Tip.position[x]', [0, 0.5, 1], [0, 1, 0]),
    number('Tip.position[z]', [0, 1], [0, 3]),
  ]);
  expect(off).toBeLessThan(1e-6);
  expect(clip.error).toBe(0);
});

test('of several tracks for one property the last counts, a component on top of a whole', () => {
  for (const tracks of [
    [vector('Tip.position', [0, 1], [0, 0, 0, 1, 1, 1]), vector('Tip.position', [0, 1], [0, 0, 0, 4, 0, 0])],
    [vector('Tip.position', [0, 1], [0, 0, 0, 1, 1, 1]), number('Tip.position[y]', [0, 1], [5, 6])],
    [number('Tip.position[y]', [0, 1], [5, 6]), vector('Tip.position', [0, 1], [7, 7, 7, 7, 7, 7])],
  ]) {
    const clip = new AnimationClip('Clip', 1, tracks);
    const { root } = createStick();
    const data = (['tracks', 'matrix'] as const).map((encoding) =>
      BoneTexture.bake(root, [clip], { encoding }),
    );
    const crowds = data.map((boneTexture) => SkinnedInstancedMesh.from(root, [clip], 1, { boneTexture }));
    for (const time of [0, 0.4, 0.8]) {
      const [a, b] = crowds.map((crowd) =>
        crowd.play(0, 0, { time }).getVertexPositionAt(0, 0, new Vector3()),
      );
      expect(a.distanceTo(b)).toBeLessThan(1e-5);
    }
  }
});

test('splines that stand still are no curves, unless their tangents move them', () => {
  const still = [0, 0, 0, 1, 2, 3, 0, 0, 0];
  const moved = [1, 0, 0, 1, 2, 3, 1, 0, 0];
  const straight = vector('Base.position', [0, 1], [0, 0, 0, 1, 0, 0]);
  const one = bake([straight, cubic(vector('Tip.position', [0, 1], [...still, ...still]))]);
  expect(one.clip).toMatchObject({ frames: 2, error: 0 });
  expect(one.off).toBeLessThan(1e-6);
  const other = bake([straight, cubic(vector('Tip.position', [0, 1], [...moved, ...moved]))]);
  expect(other.clip.frames).toBeGreaterThan(10);
  expect(other.off).toBeLessThan(2e-3);
});

test('nodes keep their names, also in a copy', () => {
  const { root, clips } = createStick();
  root.name = '';
  const { data } = BoneTexture.bake(root, clips, { encoding: 'tracks' });
  expect(data.tracks?.names).toEqual(['', 'Base', 'Tip']);
  expect(new BoneTexture(structuredClone(data)).data.tracks?.names).toEqual(['', 'Base', 'Tip']);
});

test('tracks that are skipped are told of once, as with the other encodings', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { root } = createStick();
  const clip = new AnimationClip('Clip', 1, [
    vector('Tip.position', [0, 1], [0, 0, 0, 1, 0, 0]),
    vector('Tail.position', [0, 1], [0, 0, 0, 1, 0, 0]),
    number('Tip.visible', [0, 1], [0, 1]),
  ]);
  BoneTexture.bake(root, [clip, clip.clone()], { encoding: 'tracks', clips: ['Clip'] });
  expect(warn.mock.calls.flat()).toEqual([
    expect.stringContaining('has no such nodes: "Tail.position".'),
    expect.stringContaining('are baked: "Tip.visible".'),
  ]);
  warn.mockRestore();
});
