import { SkinnedInstance } from 'skinned-instanced-mesh';
import { AnimationClip, AnimationMixer, AnimationUtils, LoopRepeat } from 'three';
import { describe, expect, test, vi } from 'vitest';
import {
  AnimationLayers,
  bakeCharacter,
  type LayerOptions,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { createStick, REST_X, tipOf } from '../../support/stick.js';

const DURATIONS = { A: 4, B: 8, C: 2, D: 3, E: 5, F: 1 };

function createCrowd(layers: LayerOptions[] = []) {
  const { root, clips } = createStick(DURATIONS);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 0);
  new AnimationLayers(crowd, layers);
  return { crowd, root, clips };
}

function createKnight(layers?: LayerOptions[]) {
  const { crowd, clips, root } = createCrowd(layers);
  const knight = new SkinnedInstance(crowd);
  return { crowd, clips, root, knight, tip: () => tipOf(crowd, knight.instanceId) };
}

describe('clipAction', () => {
  test('gives one action for each clip and layer, by name, index or AnimationClip', () => {
    const { knight, clips } = createKnight([{ name: 'upper' }]);
    const action = knight.clipAction(clips[1]);
    expect(knight.clipAction('B')).toBe(action);
    expect(knight.clipAction(1)).toBe(action);
    expect(knight.mixer.existingAction('B')).toBe(action);
    expect(knight.mixer.existingAction('A')).toBeNull();
    expect(knight.mixer.existingAction('none')).toBeNull();
    expect(knight.clipAction('B', { layer: 'upper' })).not.toBe(action);
    expect(action.getClip()).toBe(clips[1]);
    expect(knight.clipAction('A').getClip()).toMatchObject({ name: 'A', duration: 4 });
    expect(action.getMixer()).toBe(knight.mixer);
    expect(action.getRoot()).toBe(knight);
  });

  test('finds the very clip, and refuses one of the same name that was not baked', () => {
    const { root, clips } = createStick(DURATIONS);
    const [a, b] = clips;
    const same = a.clone();
    const twice = b.clone();
    twice.name = 'A';
    const knight = new SkinnedInstance(new SkinnedInstancedMesh(bakeCharacter(root, [a, twice]), 0));
    expect(knight.clipAction(twice).getClip().duration).toBe(8);
    expect(knight.clipAction(twice)).not.toBe(knight.clipAction('A'));
    // As where the file was loaded once more.
    expect(knight.clipAction(same)).toBe(knight.clipAction('A'));
    const upper = new AnimationClip('A', 4, [...a.tracks, ...a.tracks.map((track) => track.clone())]);
    expect(() => knight.clipAction(upper)).toThrow('pass it to bakeCharacter too');
    expect(() => knight.clipAction(AnimationUtils.subclip(a, 'A', 0, 30))).toThrow('from other tracks');
  });
});

test('four actions show on a layer, and the fifth as soon as there is room', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { crowd, knight, tip } = createKnight();
  for (const name of ['A', 'B', 'C', 'D'])
    knight.clipAction(name).setEffectiveWeight(0.25).setEffectiveTimeScale(0).play();
  expect(warn).not.toHaveBeenCalled();
  const fifth = knight.clipAction('F').setEffectiveWeight(0.2).play();
  const finished = vi.fn();
  fifth.setLoop(LoopRepeat, 1).clampWhenFinished = true;
  knight.addEventListener('finished', ({ action }) => finished(action === fifth));
  const update = vi.spyOn(AnimationMixer.prototype, 'update');
  crowd.update(0.25).update(0.25);
  expect(update, 'a mixer rests until something changes').toHaveBeenCalledTimes(1);
  expect(warn).toHaveBeenCalledWith(
    'SkinnedInstance: an instance shows 4 actions at most on a layer; "F", which weighs least, is left out. ' +
      'Others can play on a layer of their own: clipAction(clip, { layer }).',
  );
  expect(tip()).toBeCloseTo(0, 5);
  expect([fifth.time, fifth.getEffectiveWeight()]).toEqual([0.5, 0.2]);
  crowd.update(0.6);
  expect(finished.mock.calls).toEqual([[true]]);
  knight.clipAction('A').stop();
  crowd.update(0);
  // What the weights leave of 1 is the rest pose.
  expect(tip()).toBeCloseTo(0.2 * 1 + 0.05 * REST_X, 4);
});

test('what is done by index ends the actions, and goes on from what they show', () => {
  const { crowd, knight, tip } = createKnight();
  const action = knight.clipAction('A').play();
  crowd.update(1);
  crowd.play(knight.instanceId, 'B', { time: 3, timeScale: 0, fade: 1 });
  expect(action.isScheduled()).toBe(false);
  crowd.update(0.5);
  expect(tip()).toBeCloseTo(0.5 * 1.5 + 0.5 * 3, 4);
  action.time = 3;
  expect(tip()).toBeCloseTo(0.5 * 1.5 + 0.5 * 3, 4);
  action.play();
  crowd.update(0);
  expect(tip()).toBeCloseTo(3, 5);
  expect(action.isRunning()).toBe(true);
  crowd.stop(knight.instanceId);
  expect(tip()).toBeCloseTo(REST_X, 5);
  expect(action.isRunning()).toBe(false);
});
