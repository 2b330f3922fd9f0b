import { AnimationClip, type KeyframeTrack, NumberKeyframeTrack } from 'three';
import { afterEach, expect, test, vi } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { BoneTexture, SkinnedInstancedMesh } from '../../support/library.js';
import { createStick } from '../../support/stick.js';

afterEach(() => vi.restoreAllMocks());

const { root, clips } = createCharacter();

test('the default is tracks, in either precision', () => {
  expect(BoneTexture.bake(root, clips).encoding).toBe('tracks');
  const { encoding, precision } = BoneTexture.bake(root, clips, { precision: 'half' });
  expect([encoding, precision]).toEqual(['tracks', 'half']);
  expect(SkinnedInstancedMesh.from(root, clips, 10, { encoding: undefined }).boneTexture.encoding).toBe(
    'tracks',
  );
});

test('of few vertices a joint, quaternions', () => {
  const stick = createStick();
  expect(BoneTexture.bake(stick.root, stick.clips).encoding).toBe('quaternion');
});

test('for a crowd of more than a million joints, quaternions', () => {
  const joints = BoneTexture.bake(root, clips).jointNames.length;
  const bake = (instances: number) => BoneTexture.bake(root, clips, { instances }).encoding;
  expect(bake(Math.floor(2 ** 20 / joints))).toBe('tracks');
  expect(bake(Math.ceil(2 ** 20 / joints))).toBe('quaternion');
  expect(SkinnedInstancedMesh.from(root, clips, 60_000).boneTexture.encoding).toBe('quaternion');
});

test('where tracks do not fit, skinning matrices, without a word', () => {
  const warn = vi.spyOn(console, 'warn');
  const narrow = { maxTextureSize: 1024 };
  expect(() => BoneTexture.bake(root, clips, { ...narrow, encoding: 'tracks' })).toThrow(
    'maxTextureSize is 1024',
  );
  expect(BoneTexture.bake(root, clips, narrow).encoding).toBe('quaternion');
  expect(warn).not.toHaveBeenCalled();
});

test('tracks that cannot be as exact as was asked for say so, whether they were asked for or not', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const times = [0, 0.1234, 0.31415, 1];
  const values = times.map((time) => Math.sin(time * 50));
  const track = new NumberKeyframeTrack('Hips.position[y]', times, values) as KeyframeTrack;
  const shaken = new AnimationClip('Shaken', 1, [track]);
  const options = { maxError: 1e-9, instances: 1 };
  expect(BoneTexture.bake(root, [shaken], options).encoding).toBe('tracks');
  expect(warn.mock.calls).toEqual([
    [
      expect.stringMatching(
        /^BoneTexture\.bake: clip "Shaken" is off by up to .* more than maxError \(1e-9\)/,
      ),
    ],
  ]);
  // Where they cannot be kept, the others that are kept are not off.
  BoneTexture.bake(root, [shaken], { ...options, maxError: 1e-8, maxTextureSize: 1024 });
  expect(warn).toHaveBeenCalledOnce();
});

test('with layers, tracks whatever the character', () => {
  const stick = createStick();
  const layers = [{ name: 'upper' }];
  const crowd = SkinnedInstancedMesh.from(stick.root, stick.clips, 1, { layers });
  expect(crowd.boneTexture.encoding).toBe('tracks');
});
