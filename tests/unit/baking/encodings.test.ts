import {
  AnimationClip,
  InterpolateSmooth,
  type KeyframeTrack,
  NumberKeyframeTrack,
  Vector3,
  VectorKeyframeTrack,
} from 'three';
import { afterEach, expect, test, vi } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import {
  BoneTexture,
  bakeBoneTexture,
  bakeCharacter,
  frames,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { createStick } from '../../support/stick.js';

afterEach(() => vi.restoreAllMocks());

const { root, clips } = createCharacter();

test('tracks, in either precision', () => {
  expect(bakeBoneTexture(root, clips).encoding).toBe('tracks');
  const { encoding, precision } = bakeBoneTexture(root, clips, { precision: 'half' });
  expect([encoding, precision]).toEqual(['tracks', 'half']);
  const character = bakeCharacter(root, clips, { encoding: undefined });
  expect(new SkinnedInstancedMesh(character, 10).boneTexture.encoding).toBe('tracks');
});

test('frames are passed in, and bone textures of their data take them too', () => {
  const stick = createStick();
  const boneTexture = bakeBoneTexture(stick.root, stick.clips, { encoding: frames });
  expect(boneTexture.encoding).toBe('frames');
  expect(() => new BoneTexture(boneTexture.data)).toThrow('new BoneTexture(data, frames)');
  expect(new BoneTexture(boneTexture.data, frames).encoding).toBe('frames');
  expect(boneTexture.clone().encoding).toBe('frames');
});

test('tracks that do not fit are an error', () => {
  expect(() => bakeBoneTexture(root, clips, { maxTextureSize: 1024 })).toThrow('maxTextureSize is 1024');
});

test('tracks that cannot be as exact as was asked for say so', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const times = [0, 0.1234, 0.31415, 1];
  const values = times.map((time) => Math.sin(time * 50));
  const track = new NumberKeyframeTrack('Hips.position[y]', times, values) as KeyframeTrack;
  const shaken = new AnimationClip('Shaken', 1, [track]);
  bakeBoneTexture(root, [shaken], { maxError: 1e-9 });
  expect(warn.mock.calls).toEqual([
    [expect.stringMatching(/^Clip "Shaken" is off by up to .* more than maxError \(1e-9\)/)],
  ]);
});

test('clips of nodes with pivots are stated as no worse than those of others', () => {
  const { root: stick, bones } = createStick();
  Object.assign(bones[1], { pivot: new Vector3(2, 30, 1) });
  const bent = new VectorKeyframeTrack('Tip.position', [0, 0.4, 1], [0, 0, 0, 3, 1, 0, 0, 2, 0]);
  bent.setInterpolation(InterpolateSmooth);
  const { tracks } = bakeBoneTexture(stick, [new AnimationClip('Bent', 1, [bent as KeyframeTrack])]).data;
  expect(tracks?.clips[0].error).toBeGreaterThan(0);
  expect(tracks?.clips[0].error).toBeLessThan(1e-3);
});
