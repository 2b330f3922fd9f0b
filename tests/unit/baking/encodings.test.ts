import {
  AnimationClip,
  BoxGeometry,
  Group,
  InterpolateBezier,
  InterpolateSmooth,
  Mesh,
  NumberKeyframeTrack,
  type Object3D,
  QuaternionKeyframeTrack,
  VectorKeyframeTrack,
} from 'three';
import { expect, test, vi } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { throughFile } from '../../support/bakedFiles.js';
import { bitsOf } from '../../support/bitsOf.js';
import {
  assembleCharacter,
  BoneTexture,
  bakeBoneTexture,
  bakeCharacter,
  type Character,
  frames,
  LoopOnceOptions,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { createOddClip, createSparseClip } from '../../support/oddClip.js';
import { random } from '../../support/random.js';
import { characterHeight, offFrom, Reference } from '../../support/reference.js';
import { createStick } from '../../support/stick.js';

const { root, clips } = createCharacter();

/** Expects three.js's poses of a character's only clip at some times, but for less than a share of its height. */
function expectShown(
  shown: Object3D,
  character: Character,
  clip: AnimationClip,
  times: readonly number[],
  bound: number,
): void {
  const crowd = new SkinnedInstancedMesh(character, 1);
  const reference = new Reference(shown);
  for (const time of times) {
    crowd.play(0, 0, { ...LoopOnceOptions, time, restart: true });
    const off = offFrom(reference.pose(clip, time).root, crowd) / characterHeight(shown);
    expect(off, `${time} s`).toBeLessThan(bound);
  }
}

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

test('clips whose keys lie at odd times say what they cost', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const root = new Group();
  const names = Array.from({ length: 24 }, (_, i) => `part${i}`);
  for (const name of names) root.add(Object.assign(new Mesh(new BoxGeometry()), { name }));
  const next = random(1);
  const tracksOf = (times: number[]) =>
    names.map((name) => new NumberKeyframeTrack(`${name}.position[x]`, times, times.map(next)));
  const even = Array.from({ length: 105 }, (_, i) => i / 20);
  const odd = even.map((time, i) => time + (i > 0 && i < 104 ? 0.03 * (next() - 0.5) : 0));
  bakeBoneTexture(root, [new AnimationClip('Even', 5.2, tracksOf(even))]);
  expect(warn).not.toHaveBeenCalled();
  bakeBoneTexture(root, [new AnimationClip('Odd', 5.2, tracksOf(odd))]);
  expect(warn.mock.calls.map(([text]) => text)).toContainEqual(
    expect.stringMatching(
      /^Clip "Odd" takes \d+\.\d MB, \d+ times as much as its keys; allow a larger maxError/,
    ),
  );
});

test('tracks that cannot be as exact as was asked for say so', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const times = [0, 0.1234, 0.31415, 1];
  const values = times.map((time) => Math.sin(time * 50));
  const track = new NumberKeyframeTrack('Hips.position[y]', times, values);
  const shaken = new AnimationClip('Shaken', 1, [track]);
  bakeBoneTexture(root, [shaken], { maxError: 1e-9 });
  expect(warn.mock.calls).toEqual([
    [expect.stringMatching(/^Clip "Shaken" is off by up to .* more than maxError \(1e-9\)/)],
  ]);
});

test('clips of FBX files, whose keys lie at odd times where angles turn far, take little more than their keys', () => {
  const { clip, bytes } = createOddClip(root);
  const next = random(5);
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const start = performance.now();
  const character = bakeCharacter(root, [clip]);
  console.log(`baked in ${(performance.now() - start).toFixed(0)} ms`);
  expect(warn).not.toHaveBeenCalled();
  const tracks = character.boneTexture.data.tracks!;
  expect(tracks.clips[0].error).toBeLessThan(1e-4);
  expect(tracks.keys.byteLength).toBeLessThan(1.5 * bytes);
  const shown = Array.from({ length: 40 }, () => next() * clip.duration);
  expectShown(root, character, clip, shown, 1e-4);
});

/** A time as files hold it that keep so many bits of it behind the first. */
const roundedTo = (bits: number, time: number): number => {
  const step = 2 ** (Math.floor(Math.log2(time || 1)) - bits);
  return Math.round(time / step) * step;
};

test.each([
  ['of five minutes', 30, 300, 0, 23],
  ['of ten minutes', 60 / 1.001, 600, 0, 23],
  ['whose keys begin after a hundred seconds', 30, 40, 100, 23],
  ['of times of 12 bits', 30, 40, 0, 12],
  ['of times of 12 bits that begin late', 24, 300, 60, 12],
  ['that begin between frames', 24, 300, 10.01, 23],
  ['of milliseconds', 60, 300, 10.01, 'ms'],
])('clips %s take little more than their keys', (_, fps, seconds, start, bits) => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const next = random(3);
  const times = Array.from({ length: Math.round(seconds * fps) + 1 }, (_, i) =>
    typeof bits === 'number' ? roundedTo(bits, start + i / fps) : Math.round((start + i / fps) * 1000) / 1000,
  );
  const tracks = ['Hips', 'Tip', 'Base'].map(
    (name) =>
      new VectorKeyframeTrack(
        `${name}.scale`,
        times,
        times.flatMap((time) => [1 + 0.3 * Math.sin(7 * time), 1 + 0.3 * Math.cos(5 * time), 1]),
      ),
  );
  const { root: stick } = createStick();
  stick.children[0].add(Object.assign(new Group(), { name: 'Hips' }));
  const clip = new AnimationClip('Long', -1, tracks);
  const character = bakeCharacter(stick, [clip]);
  const { frames, slots } = character.boneTexture.data.tracks!.clips[0];
  expect(frames * 48 + 4 * (slots?.length ?? 0)).toBeLessThan(1.5 * 48 * times.length);
  expect(warn).not.toHaveBeenCalled();
  if (bits === 12) return;
  const shown = Array.from({ length: 40 }, () => start + next() * seconds);
  // float32 holds frames of ten minutes to a thousandth.
  expectShown(stick, character, clip, shown, 3e-4);
});

test('quaternion keys of other lengths than 1 show what they show in three.js, and are refused in 16 bits', () => {
  const { root: stick } = createStick();
  const values = [0, 0, 0.1, 0.8, 0, 0.2, 0.3, 0.9];
  const clip = new AnimationClip('Odd', 1, [new QuaternionKeyframeTrack('Tip.quaternion', [0, 1], values)]);
  expectShown(stick, bakeCharacter(stick, [clip]), clip, [0, 0.3, 0.7], 1e-6);
  expect(() => bakeCharacter(stick, [clip], { precision: 'half' })).toThrow('normalise its keys');
});

test('errors of curves that ease in and out are found, which are none half-way', () => {
  const { root: stick } = createStick();
  const ease = new NumberKeyframeTrack('Tip.position[x]', [0, 0.25], [0, 0.1]);
  ease.setInterpolation(InterpolateBezier);
  // Flat at both ends, as Blender's are.
  Object.assign(ease, { settings: { outTangents: [0.25 / 3, 0, 0, 0], inTangents: [0, 0, 0.5 / 3, 0.1] } });
  const clip = new AnimationClip('Dash', 0.25, [ease]);
  const times = Array.from({ length: 250 }, (_, i) => i / 1000);
  expectShown(stick, bakeCharacter(stick, [clip]), clip, times, 1e-4);
});

test('frames between keys that are far apart take nothing, in files neither, and clips play as their keys say', async () => {
  const { clip, bytes } = createSparseClip(root);
  const next = random(6);
  const boneTexture = bakeBoneTexture(root, [clip]);
  const { tracks } = boneTexture.data;
  expect(tracks!.clips[0]).toMatchObject({ frames: 8, error: 0 });
  expect(tracks!.keys.byteLength).toBeLessThan(1.5 * bytes);
  const read = await throughFile(assembleCharacter(root, boneTexture));
  expect(bitsOf(read.boneTexture.data)).toEqual(bitsOf(boneTexture.data));
  for (const one of [boneTexture, bakeBoneTexture(root, [clip], { precision: 'half' })]) {
    const times = Array.from({ length: 40 }, () => next() * clip.duration);
    expectShown(root, assembleCharacter(root, one), clip, times, one === boneTexture ? 3e-6 : 3e-4);
  }
});

test('curves whose keys are seconds apart are sampled finely enough, far as they go', () => {
  const { root: stick } = createStick();
  const far = new VectorKeyframeTrack('Tip.position', [0, 10, 20], [0, 0, 0, 300, 0, 0, 0, 50, 0]);
  far.setInterpolation(InterpolateSmooth);
  const clip = new AnimationClip('Far', 20, [far]);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(stick, [clip]), 1);
  // As it repeats: a curve that runs once has other ends.
  const reference = new Reference(stick);
  reference.mixer.clipAction(clip).play();
  for (const time of [0.3, 4.9, 5, 12.34, 19.9]) {
    crowd.play(0, 0, { ...LoopOnceOptions, time });
    reference.mixer.setTime(time);
    reference.root.updateMatrixWorld(true);
    expect(offFrom(reference.root, crowd) / characterHeight(stick), `${time} s`).toBeLessThan(2e-4);
  }
});
