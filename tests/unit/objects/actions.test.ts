import {
  type InstanceAction,
  type InstanceMixer,
  loadPlayback,
  resumeActions,
  SkinnedInstance,
  savePlayback,
} from 'skinned-instanced-mesh';
import {
  AdditiveAnimationBlendMode,
  AnimationClip,
  AnimationUtils,
  LoopOnce,
  LoopPingPong,
  LoopRepeat,
  NormalAnimationBlendMode,
} from 'three';
import { describe, expect, test, vi } from 'vitest';
import {
  AnimationLayers,
  bakeCharacter,
  frames,
  type LayerOptions,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { createStick, createStickCrowd, REST_X, tipOf } from '../../support/stick.js';

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

  test('takes a root and a blend mode as a mixer does, if they are those of the instance and the clip', () => {
    const { root, clips } = createStick(DURATIONS);
    AnimationUtils.makeClipAdditive(clips[1]);
    const knight = new SkinnedInstance(new SkinnedInstancedMesh(bakeCharacter(root, clips), 0));
    expect(knight.clipAction('A', knight)).toBe(knight.clipAction('A', undefined, NormalAnimationBlendMode));
    expect(knight.clipAction('B', null, AdditiveAnimationBlendMode)).toBe(knight.clipAction('B'));
    expect(() => knight.clipAction('A', knight, AdditiveAnimationBlendMode)).toThrow(
      'was not baked as an additive one',
    );
    expect(() => knight.clipAction('B', knight, NormalAnimationBlendMode)).toThrow(
      'was baked as an additive one',
    );
    expect(() => knight.clipAction('A', knight.bones[0])).toThrow('for a part of it pass { layer }');
    // As programs that are typed have them, by the names of three.js.
    const mixer: InstanceMixer = knight.mixer;
    const action: InstanceAction = mixer.clipAction('A');
    expect([mixer.getRoot(), action.getMixer()]).toEqual([knight, mixer]);
    knight.mixer.uncacheRoot(knight);
    expect(knight.mixer.existingAction('A')).toBe(null);
  });

  test('needs tracks', () => {
    const crowd = createStickCrowd(0, undefined, { encoding: frames });
    expect(() => new SkinnedInstance(crowd).clipAction(0)).toThrow(
      'An action needs poses that are mixed before they are drawn; bake with encoding "tracks"',
    );
  });
});

test('the mixer of an instance can be updated alone, and put to a time', () => {
  const { crowd, knight, tip } = createKnight();
  const action = knight.clipAction('A').play();
  crowd.update(0.25);
  knight.mixer.update(0.5);
  expect(action.time).toBeCloseTo(0.75, 9);
  expect(tip()).toBeCloseTo(0.75, 5);
  knight.mixer.setTime(1.5);
  expect([knight.mixer.time, action.time]).toEqual([1.5, 1.5]);
  // From then on its time is its own.
  crowd.update(0.25);
  knight.mixer.update(0.125);
  expect(action.time).toBeCloseTo(1.625, 9);
  expect(tip()).toBeCloseTo(1.625, 5);
});

test('four actions show on a layer, and the fifth as soon as there is room', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { crowd, knight, tip } = createKnight();
  const names = ['A', 'B', 'C', 'D'] as const;
  for (const name of names) knight.clipAction(name).setEffectiveWeight(0.25).setEffectiveTimeScale(0).play();
  expect(warn).not.toHaveBeenCalled();
  const fifth = knight.clipAction('F').setEffectiveWeight(0.2).play();
  let finished = 0;
  fifth.setLoop(LoopRepeat, 1).clampWhenFinished = true;
  knight.addEventListener('finished', ({ action }) => {
    expect(action).toBe(fifth);
    finished++;
  });
  crowd.update(0.5);
  expect(warn).toHaveBeenCalledWith(
    'SkinnedInstance: an instance shows 4 actions at most on a layer; "F", which weighs least, is left out. ' +
      'Others can play on a layer of their own: clipAction(clip, { layer }).',
  );
  warn.mockRestore();
  expect(tip()).toBeCloseTo(0, 5);
  expect([fifth.time, fifth.getEffectiveWeight()]).toEqual([0.5, 0.2]);
  crowd.update(0.6);
  expect(finished).toBe(1);
  knight.clipAction('A').stop();
  // What the weights leave of 1 is the rest pose.
  expect(tip()).toBeCloseTo(0.2 * 1 + 0.05 * REST_X, 4);
});

describe('what is done by index', () => {
  test('ends the actions, and goes on from what they show', () => {
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
    expect(tip()).toBeCloseTo(3, 5);
    expect(action.isRunning()).toBe(true);
    crowd.stop(knight.instanceId);
    expect(tip()).toBeCloseTo(REST_X, 5);
    expect(action.isRunning()).toBe(false);
  });

  test('pauses them, with their fades and their time', () => {
    const { crowd, knight, tip } = createKnight();
    const action = knight.clipAction('A').setLoop(LoopOnce).play();
    knight.clipAction('B').play().fadeOut(2);
    const finished = vi.fn();
    knight.addEventListener('finished', finished);
    crowd.update(1);
    crowd.pause(knight.instanceId);
    crowd.update(10);
    expect([knight.mixer.time, action.time]).toEqual([1, 1]);
    action.setEffectiveWeight(0.5);
    expect(tip()).toBeCloseTo(1, 4);
    crowd.resume(knight.instanceId);
    crowd.update(0.5);
    expect(action.time).toBeCloseTo(1.5, 9);
    expect(knight.clipAction('B').getEffectiveWeight()).toBeCloseTo(0.25, 9);
    expect(finished).not.toHaveBeenCalled();
    crowd.update(2.6);
    expect(finished).toHaveBeenCalledTimes(1);
  });
});

test('they end with their instance, and whoever gets its id has none of them', () => {
  const { crowd, knight } = createKnight();
  const action = knight.clipAction('F').setLoop(LoopOnce).play();
  const finished = vi.fn();
  crowd.addEventListener('finished', finished);
  crowd.update(0.5);
  knight.dispose();
  const next = new SkinnedInstance(crowd);
  expect(next.instanceId).toBe(0);
  crowd.update(5);
  action.fadeIn(1).play();
  expect(finished).not.toHaveBeenCalled();
  expect(tipOf(crowd, 0)).toBeCloseTo(REST_X, 5);
  next.clipAction('A').play();
  crowd.update(1);
  expect(tipOf(crowd, 0)).toBeCloseTo(1, 5);
});

test('a saved blend goes on in the actions of new objects, in the middle of fades and warps', () => {
  const { crowd, knight, root, clips } = createKnight([{ name: 'upper' }]);
  knight.clipAction('A').setEffectiveWeight(0.3).play().time = 1;
  knight.clipAction('B').setEffectiveWeight(0.7).setEffectiveTimeScale(1.5).play();
  knight.clipAction('C').setLoop(LoopPingPong, 5).fadeIn(1).warp(1, 3, 2).play();
  knight.clipAction('D', { layer: 'upper' }).fadeTo(0.25, 1).play();
  crowd.update(0.7);
  const saved = JSON.parse(JSON.stringify(savePlayback(crowd)));

  const other = new SkinnedInstancedMesh(bakeCharacter(root, clips), 0);
  new AnimationLayers(other, [{ name: 'upper' }]);
  other.update(5);
  loadPlayback(other, saved);
  expect(other.count).toBe(1);
  const ann = resumeActions(new SkinnedInstance(other, 0));
  const numbers = (one: SkinnedInstance) =>
    ['A', 'B', 'C', 'D'].flatMap((name) => {
      const action = one.clipAction(name, { layer: name === 'D' ? 'upper' : 0 }).play();
      return [action.time, action.getEffectiveWeight(), action.getEffectiveTimeScale(), action.isRunning()];
    });
  for (const delta of [0.1, 0.15, 0.5, 2, 7]) {
    crowd.update(delta);
    other.update(delta);
    const expected = numbers(knight);
    numbers(ann).forEach((number, i) =>
      expect(Number(number), `${delta}: ${i}`).toBeCloseTo(Number(expected[i]), 6),
    );
    expect(tipOf(other, 0)).toBeCloseTo(tipOf(crowd, 0), 5);
  }
});

test('saved actions that wait, are paused or go by a clock of their own resume as they were', () => {
  const { crowd, knight, root, clips } = createKnight();
  knight.clipAction('A').setLoop(LoopOnce, 1).setEffectiveWeight(0.2).startAt(2).play();
  const paused = knight
    .clipAction('B')
    .setLoop(LoopPingPong, 9)
    .setEffectiveWeight(0.3)
    .setEffectiveTimeScale(-1.5);
  paused.play().time = 1;
  const own = new SkinnedInstance(crowd);
  own.clipAction('C').setEffectiveTimeScale(2).play();
  crowd.update(1.5);
  own.mixer.update(0.25);
  paused.paused = true;
  const saved = JSON.parse(JSON.stringify(savePlayback(crowd)));

  const other = new SkinnedInstancedMesh(bakeCharacter(root, clips), 0);
  other.update(5);
  loadPlayback(other, saved);
  const [ann, bob] = [0, 1].map((id) => resumeActions(new SkinnedInstance(other, id)));
  bob.mixer.update(0);
  const numbers = (one: SkinnedInstance, its: SkinnedInstance) =>
    [one.clipAction('A'), one.clipAction('B'), its.clipAction('C')].map((action) => {
      const { time, timeScale, paused, loop, repetitions } = action;
      return [time, timeScale, paused, loop, repetitions, action.isRunning()].map(Number);
    });
  for (const delta of [0, 0.25, 0.5, 2]) {
    for (const one of [crowd, other]) one.update(delta);
    for (const one of [own, bob]) one.mixer.update(delta / 2);
    for (const one of [knight, ann]) one.clipAction('B').paused = delta < 0.5;
    const expected = numbers(knight, own);
    numbers(ann, bob).forEach((row, i) =>
      row.forEach((number, k) => expect(number, `${delta}: ${i}, ${k}`).toBeCloseTo(expected[i][k], 6)),
    );
    for (const id of [0, 1]) expect(tipOf(other, id)).toBeCloseTo(tipOf(crowd, id), 5);
  }

  const third = loadPlayback(new SkinnedInstancedMesh(bakeCharacter(root, clips), 0), saved);
  const last = third.setTimeScaleAt(0, 1).getClipAt(0) as string;
  const action = resumeActions(new SkinnedInstance(third, 0)).clipAction(last);
  expect([last, action.paused, action.isRunning()]).toEqual(['B', false, true]);
});

test('time that runs back to before a warp from a stop is at its start, and in no pass before it', () => {
  const { crowd, knight } = createKnight();
  const heard = vi.fn();
  knight.addEventListener('loop', heard);
  const { mixer } = knight;
  for (let i = 1; i <= 20; i++) {
    const action = knight.clipAction('A').reset().setEffectiveTimeScale(1).play().warp(0, 2, 1);
    for (const delta of [0.01 * i, 0.3 / i, 0.2]) mixer.update(delta);
    expect(action.time).toBeGreaterThan(0.04);
    mixer.timeScale = -1;
    for (const delta of [0.2, 0.1, 0.007 * i, 0.5]) mixer.update(delta);
    expect(action.time).toBeCloseTo(0, 9);
    mixer.timeScale = 1;
  }
  crowd.update(0);
  expect(heard).not.toHaveBeenCalled();
});
