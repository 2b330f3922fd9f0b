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

test('with layers, tracks whatever the character', () => {
  const stick = createStick();
  const layers = [{ name: 'upper' }];
  const crowd = SkinnedInstancedMesh.from(stick.root, stick.clips, 1, { layers });
  expect(crowd.boneTexture.encoding).toBe('tracks');
});
