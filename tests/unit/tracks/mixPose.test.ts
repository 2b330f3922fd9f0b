import {
  AdditiveAnimationBlendMode,
  AnimationClip,
  AnimationMixer,
  AnimationUtils,
  InterpolateDiscrete,
  Matrix4,
  type Object3D,
  QuaternionKeyframeTrack,
  VectorKeyframeTrack,
} from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { describe, expect, test } from 'vitest';
import { AFFINE_SIZE } from '../../../lib/constants.js';
import { composeModel, type MixedAction, mixPose } from '../../../lib/tracks/mixPose.js';
import type { PoseTracks } from '../../../lib/tracks/PoseTracks.js';
import { affineToMatrix4 } from '../../../lib/utils/affine.js';
import { describeCharacters, loadCharacter } from '../../support/characters.js';
import { BoneTexture } from '../../support/library.js';
import { random, SEEDS } from '../../support/random.js';
import { characterHeight } from '../../support/reference.js';
import { createStick, REST_X } from '../../support/stick.js';

/** Share of the height: keys are float32. */
const EXACT = 2e-6;

interface Played {
  clip: number;
  time: number;
  weight: number;
}

/** Where three.js has each bone, relative to the root, when its mixer plays clips with weights. */
function expectedPlaces(root: Object3D, clips: readonly AnimationClip[], played: readonly Played[]) {
  const copy = SkeletonUtils.clone(root) as Object3D;
  const mixer = new AnimationMixer(copy);
  for (const { clip, time, weight } of played) {
    mixer.clipAction(clips[clip]).setEffectiveWeight(weight).play().time = time;
  }
  // An action that has not moved yet treats the ends of splines otherwise.
  mixer.update(1e-9);
  copy.updateMatrixWorld(true);
  const inverse = copy.matrixWorld.clone().invert();
  return (name: string) =>
    new Matrix4().multiplyMatrices(inverse, (copy.getObjectByName(name) as Object3D).matrixWorld);
}

/** The same by our own mixer. */
function mixedPlaces(texture: BoneTexture, played: readonly Played[]) {
  const tracks = texture.data.tracks as PoseTracks;
  const actions: MixedAction[] = played.map(({ clip, time, weight }) => ({
    clip,
    weight,
    frame: time * tracks.clips[clip].fps,
  }));
  const trs = new Float64Array(tracks.rest.length);
  const model = new Float64Array(tracks.parents.length * AFFINE_SIZE);
  mixPose(tracks, [{ actions, weight: 1, mask: null }], trs);
  composeModel(tracks, trs, model);
  return (joint: number) => affineToMatrix4(model, tracks.jointNodes[joint] * AFFINE_SIZE, new Matrix4());
}

/** The farthest that any joint is from where three.js has it, in scene units. */
function worstDistance(root: Object3D, clips: AnimationClip[], texture: BoneTexture, played: Played[]) {
  const expected = expectedPlaces(root, clips, played);
  const mixed = mixedPlaces(texture, played);
  let worst = 0;
  texture.jointNames.forEach((name, joint) => {
    // Names that several nodes have do not tell which one is meant.
    if (texture.jointNames.indexOf(name) !== joint) return;
    const a = expected(name).elements;
    const b = mixed(joint).elements;
    worst = Math.max(worst, Math.hypot(a[12] - b[12], a[13] - b[13], a[14] - b[14]));
  });
  return worst;
}

describeCharacters((name) => {
  test('three weighted clips at any time are mixed as AnimationMixer mixes them', async () => {
    const { root, clips } = await loadCharacter(name);
    const texture = BoneTexture.bake(root, clips, { encoding: 'tracks' });
    const height = characterHeight(root);
    const next = random(SEEDS[0]);
    for (let round = 0; round < 60; round++) {
      const played = Array.from({ length: 1 + Math.floor(next() * 3) }, () => {
        const clip = Math.floor(next() * clips.length);
        return { clip, time: next() * clips[clip].duration, weight: next() * 1.2 };
      }).filter((one, i, all) => all.findIndex(({ clip }) => clip === one.clip) === i);
      expect(worstDistance(root, clips, texture, played) / height).toBeLessThanOrEqual(EXACT);
    }
    const { keys, table } = texture.data.tracks as PoseTracks;
    console.log(`${name}: ${((keys.byteLength + table.byteLength) / 1e6).toFixed(2)} MB of keys and tables`);
  });
});

describe('the stick', () => {
  const tipX = (texture: BoneTexture, played: Played[]) => mixedPlaces(texture, played)(1).elements[12];

  test('what is left of the weights is the rest pose', () => {
    const { root, clips } = createStick();
    const texture = BoneTexture.bake(root, clips, { encoding: 'tracks' });
    const tip = tipX(texture, [{ clip: 0, time: 0.5, weight: 0.25 }]);
    expect(tip).toBeCloseTo(0.25 * 0.5 + 0.75 * REST_X, 6);
  });

  test('stepped keys jump on their frames, not before', () => {
    const { root } = createStick();
    const track = new VectorKeyframeTrack(
      'Tip.position',
      [0, 0.5, 1],
      [0, 0, 0, 3, 0, 0, 7, 0, 0],
      InterpolateDiscrete,
    );
    const texture = BoneTexture.bake(root, [new AnimationClip('Jump', 1, [track])], { encoding: 'tracks' });
    for (const [time, x] of [
      [0, 0],
      [0.49, 0],
      [0.5, 3],
      [0.99, 3],
      [1, 7],
    ]) {
      expect(tipX(texture, [{ clip: 0, time, weight: 1 }]), `${time} s`).toBe(x);
    }
  });

  test('additive clips come on top', () => {
    const { root } = createStick();
    const walk = new AnimationClip('Walk', 1, [
      new VectorKeyframeTrack('Tip.position', [0, 1], [0, 0, 0, 1, 0, 0]),
      new QuaternionKeyframeTrack('Base.quaternion', [0, 1], [0, 0, 0, 1, 0, 0, Math.SQRT1_2, Math.SQRT1_2]),
    ]);
    const lean = AnimationUtils.makeClipAdditive(
      new AnimationClip('Lean', 1, [
        new VectorKeyframeTrack('Tip.position', [0, 1], [0, 0, 0, 0, 2, 0]),
        new QuaternionKeyframeTrack(
          'Base.quaternion',
          [0, 1],
          [0, 0, 0, 1, Math.SQRT1_2, 0, 0, Math.SQRT1_2],
        ),
      ]),
    );
    expect(lean.blendMode).toBe(AdditiveAnimationBlendMode);
    const clips = [walk, lean];
    const texture = BoneTexture.bake(root, clips, { encoding: 'tracks' });
    for (const weight of [0.3, 1]) {
      const played = [
        { clip: 0, time: 0.4, weight: 1 },
        { clip: 1, time: 0.7, weight },
      ];
      expect(worstDistance(root, clips, texture, played)).toBeLessThanOrEqual(1e-6);
    }
  });

  test('splines are sampled until maxError holds', () => {
    const { root } = createStick();
    const times = Float32Array.from({ length: 9 }, (_, i) => i * 0.21);
    const values = Array.from(times, (time) => [
      Math.sin(4 * time) * 0.5,
      Math.cos(5 * time) * 0.3,
      0,
    ]).flat();
    const curved = new VectorKeyframeTrack('Tip.position', times, values);
    curved.setInterpolation(2302);
    const clip = new AnimationClip('Curved', -1, [curved]);
    for (const maxError of [1e-2, 1e-4]) {
      const texture = BoneTexture.bake(root, [clip], { encoding: 'tracks', maxError });
      expect(texture.data.tracks?.clips[0].error).toBeLessThanOrEqual(maxError);
      // In its first pass an action begins flat, and goes on round from its end in all later ones, which are what is baked.
      for (let time = 0.25; time < clip.duration - 0.25; time += 0.0137) {
        const off = worstDistance(root, [clip], texture, [{ clip: 0, time, weight: 1 }]);
        expect(off).toBeLessThanOrEqual(1.1 * maxError);
      }
    }
  });
});

test('tracks are data that a worker can carry', () => {
  const { root, clips } = createStick({ Slide: 1, Glide: 2 });
  const texture = BoneTexture.bake(root, clips, { encoding: 'tracks' });
  const other = new BoneTexture(structuredClone(texture.data));
  const played = [{ clip: 1, time: 1.3, weight: 1 }];
  expect(mixedPlaces(other, played)(1).elements).toEqual(mixedPlaces(texture, played)(1).elements);
  expect(() => new BoneTexture({ ...texture.data, tracks: null })).toThrow('data.tracks is null');
  expect(() => texture.readJoint(0, 0, 0, 0, [] as never)).toThrow('has no frames of matrices');
});
