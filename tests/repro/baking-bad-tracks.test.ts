import {
  AnimationClip,
  BooleanKeyframeTrack,
  InterpolateSmooth,
  type KeyframeTrack,
  Matrix4,
  NumberKeyframeTrack,
  QuaternionKeyframeTrack,
  VectorKeyframeTrack,
} from 'three';
import { expect, test, vi } from 'vitest';
import { cubicSpline } from '../support/cubicSpline.js';
import { BoneTexture, SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

const vector = (times: number[], values: number[]) =>
  new VectorKeyframeTrack('Tip.position', times, values) as KeyframeTrack;

const bake = (track: KeyframeTrack) => () =>
  BoneTexture.bake(createStick().root, [new AnimationClip('Bad', 1, [track])]);

test('a quaternion track without four values a key is named, and does not hang', () => {
  const track = (name: string, values: number) =>
    new QuaternionKeyframeTrack(name, [0, 1], new Array(values).fill(0.5)) as KeyframeTrack;
  expect(bake(track('Tip.quaternion', 6))).toThrow(
    'BoneTexture.bake: track "Tip.quaternion" of clip "Bad" has 6 values for 2 keys, which is not four a key',
  );
  expect(bake(track('Tip.scale', 6))).toThrow('not four a key');
  expect(bake(track('Tip.quaternion', 7))).toThrow('no whole number a key');
  expect(bake(track('Tip.quaternion', 16))).toThrow('has 8 values per key, but quaternion takes 4');
});

test('values that are no whole number of keys, or another number than what they move', () => {
  expect(bake(vector([0, 0.5, 1], [0, 0, 0, 1, 0, 0, 1]))).toThrow(
    'track "Tip.position" of clip "Bad" has 7 values for 3 keys, which is no whole number a key',
  );
  expect(bake(vector([0, 1], [0, 0, 1, 0]))).toThrow('has 2 values per key, but position takes 3');
  expect(bake(vector([0, 1], new Array(8).fill(0)))).toThrow('has 4 values per key, but position takes 3');
  const one = new NumberKeyframeTrack('Tip.position[x]', [0, 1], [1, 2, 3, 4]) as KeyframeTrack;
  expect(bake(one)).toThrow('has 2 values per key, but one number of position takes 1');
});

test('infinite keys are named as those that are no number are', () => {
  expect(bake(vector([0, 1], [0, 0, 0, Infinity, 0, 0]))).toThrow(
    'key 1 of track "Tip.position" of clip "Bad" is Infinity',
  );
  // float32, which tracks hold, has no larger number than 3.4e38
  expect(bake(vector([0, 1], [-1e39, 0, 0, 0, 0, 0]))).toThrow(
    'key 0 of track "Tip.position" of clip "Bad" is -Infinity',
  );
  expect(bake(vector([0, Infinity], [0, 0, 0, 0, 0, 0]))).toThrow('key 1');
});

test('matrices that are not finite are named', () => {
  const large = (name: string) =>
    new VectorKeyframeTrack(`${name}.scale`, [0, 1], new Array(6).fill(1e30)) as KeyframeTrack;
  const { root } = createStick();
  expect(() =>
    BoneTexture.bake(root, [new AnimationClip('Large', 1, [large('Base'), large('Tip')])]),
  ).toThrow(/the matrix of joint "Tip" holds 1\.\d+e\+60 in clip "Large"/);
  root.children[0].position.x = Number.NaN;
  expect(() => BoneTexture.bake(root, [])).toThrow('the matrix of joint "Base" holds NaN in the rest pose');
});

test('two keys at one time: of a smooth track they are named, of others they are a jump', async () => {
  const times = [0, 0.5, 0.5, 1];
  const values = [0, 0, 0, 1, 0, 0, 3, 0, 0, 4, 0, 0];
  const smooth = vector(times, values);
  smooth.setInterpolation(InterpolateSmooth);
  expect(bake(smooth)).toThrow('keys 1 and 2 of track "Tip.position" of clip "Bad" are both at 0.5 s');

  const cubic = await cubicSpline();
  const splined = vector(
    times,
    [0, 3, 6, 9].flatMap((key) => [0, 0, 0, ...values.slice(key, key + 3), 0, 0, 0]),
  );
  for (const track of [vector(times, values), cubic(splined)]) {
    const crowd = SkinnedInstancedMesh.from(createStick().root, [new AnimationClip('Jump', 1, [track])], 1, {
      fps: 8,
    });
    const xs = [0.375, 0.5].map((time) => {
      crowd.play(0, 'Jump', { time });
      return crowd.getSkinningMatrixAt(0, 'Tip', new Matrix4()).elements[12] - 5;
    });
    expect(xs[0]).toBeLessThan(1.01);
    expect(xs[1]).toBeCloseTo(3, 5);
    crowd.computeBoundingSphere();
    expect(crowd.boundingSphere?.radius).toBeGreaterThan(0);
  }
});

test('tracks of true and false are left out as before', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { root, clips } = createStick();
  clips[0].tracks.push(new BooleanKeyframeTrack('Tip.visible', [0, 1], [true, false]) as KeyframeTrack);
  BoneTexture.bake(root, clips);
  expect(warn.mock.calls.flat().join()).toContain('"Tip.visible"');
  warn.mockRestore();
});
