import { AnimationMixer, Matrix4 } from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { expect, test, vi } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import {
  bakeCharacter,
  ClipBlend,
  getSkinningMatrix,
  SkinnedInstancedMesh,
  setBoneTexture,
} from '../../support/library.js';
import { random } from '../../support/random.js';
import { characterHeight, offFrom } from '../../support/reference.js';

const { root, clips } = createCharacter({ detail: 0.2 });
const character = bakeCharacter(root, clips);
const STOPS = [
  ['Idle', 0],
  ['Walk', 1.4],
  ['Run', 4],
] as const;

function createCrowd(count = 1) {
  const crowd = new SkinnedInstancedMesh(character, count);
  return { crowd, blend: new ClipBlend(crowd, STOPS) };
}

test('instances are posed as by a mixer whose actions have such weights and lengths', () => {
  const { crowd, blend } = createCrowd(2);
  blend.play(1, { phase: 0.25 });
  const clone = SkeletonUtils.clone(root);
  const mixer = new AnimationMixer(clone);
  const durations = STOPS.map(([name]) => clips.find((clip) => clip.name === name)!.duration);
  const actions = STOPS.map(([name], i) => {
    const action = mixer.clipAction(clips.find((clip) => clip.name === name)!).play();
    return Object.assign(action, { time: 0.25 * durations[i] });
  });
  const next = random(1);
  const height = characterHeight(root);
  for (let frame = 0; frame < 200; frame++) {
    const speed = frame % 7 === 0 ? 6 * next() - 0.5 : blend.getValueAt(1);
    blend.setValues([0, speed]);
    const stop = speed < 1.4 ? 0 : 1;
    const [from, to] = [STOPS[stop][1], STOPS[stop + 1][1]];
    const share = Math.min(Math.max((speed - from) / (to - from), 0), 1);
    const length = durations[stop] * (1 - share) + durations[stop + 1] * share;
    actions.forEach((action, i) => {
      action.setEffectiveWeight(i === stop ? 1 - share : i === stop + 1 ? share : 0);
      action.timeScale = (durations[i] / length) * Math.max(speed / 4, 1);
    });
    const delta = 0.05 * next();
    crowd.update(delta);
    mixer.update(delta);
    clone.updateMatrixWorld(true);
    expect(offFrom(clone, crowd, 1) / height, `frame ${frame}`).toBeLessThan(1e-5);
  }
});

test('what is played otherwise takes its place, and the blend comes back when it is played', () => {
  const { crowd, blend } = createCrowd();
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  blend.play(0).setValueAt(0, 4);
  expect(['Idle', 'Walk', 'Run'].map((clip) => crowd.getWeightAt(0, clip))).toEqual([0, 0, 1]);
  crowd.play(0, 'Wave', { fade: 0.2 });
  crowd.update(0.1);
  blend.setValueAt(0, 1.4);
  expect(blend.isPlayingAt(0)).toBe(false);
  expect(crowd.getWeightAt(0, 'Run')).toBeCloseTo(0.5);
  crowd.update(0.1);
  // Called in each frame, it goes on.
  for (let i = 0; i < 4; i++) {
    blend.play(0, { fade: 0.4 });
    crowd.update(0.05);
  }
  expect(crowd.getTimeAt(0, 0, 'Walk')).toBeCloseTo(0.2);
  expect(crowd.getWeightAt(0, 'Walk')).toBeCloseTo(0.5);
  expect(crowd.getWeightAt(0, 'Wave')).toBeCloseTo(0.5);
  crowd.update(0.2);
  expect([crowd.getWeightAt(0, 'Walk'), crowd.getWeightAt(0, 'Wave')]).toEqual(
    [1, 0].map((weight) => expect.closeTo(weight)),
  );
  expect(warn).not.toHaveBeenCalled();
});

test('values come along when instances are swapped, copied and given room', () => {
  const { crowd, blend } = createCrowd(3);
  blend.play(crowd.all).setValues([0.5, 1, 2]);
  crowd.swapInstances(0, 2);
  crowd.setCapacity(5);
  expect([0, 1, 2].map((i) => blend.getValueAt(i))).toEqual([2, 1, 0.5]);
  const copy = crowd.clone();
  const [other] = copy.features as [ClipBlend];
  expect(other.getValueAt(0)).toBe(2);
  other.setValueAt(0, 4);
  expect([copy, crowd].map((one) => one.getWeightAt(0, 'Run'))).toEqual([1, expect.closeTo(0.6 / 2.6)]);
  crowd.deleteInstance(1);
  expect(blend.getValueAt(crowd.addInstance())).toBe(0);
  expect(() => new ClipBlend(crowd, STOPS)).toThrow('ClipBlend already');
  expect(() => new ClipBlend(createCrowd().crowd, [['Idle', 1]])).toThrow('two or three that increase');
});

test('values below zero, and bone textures without one of the clips', () => {
  const crowd = new SkinnedInstancedMesh(character, 1);
  const blend = new ClipBlend(crowd, [
    ['Walk', -1.4],
    ['Idle', 0],
  ]);
  blend.play(0);
  crowd.update(0.1);
  expect(getSkinningMatrix(crowd, 0, 'Head', new Matrix4()).elements.every(Number.isFinite)).toBe(true);
  const other = bakeCharacter(root, clips.slice(0, 1)).boneTexture;
  const before = crowd.boneTexture;
  expect(() => {
    setBoneTexture(crowd, other);
  }).toThrow('There is no clip');
  expect(crowd.boneTexture).toBe(before);
});
