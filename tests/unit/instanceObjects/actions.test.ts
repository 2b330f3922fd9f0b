import 'skinned-instanced-mesh/objects';
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
import type { LayerOptions } from '../../../lib/playback/LayerTable.js';
import { BoneTexture, SkinnedInstancedMesh } from '../../support/library.js';
import { createStick, REST_X, tipOf } from '../../support/stick.js';

const DURATIONS = { A: 4, B: 8, C: 2, D: 3, E: 5, F: 1 };

function createCrowd(layers: LayerOptions[] = []) {
  const { root, clips } = createStick(DURATIONS);
  const crowd = SkinnedInstancedMesh.from(root, clips, 0, { encoding: 'tracks', layers });
  return { crowd, root, clips };
}

function createKnight(layers?: LayerOptions[]) {
  const { crowd, clips, root } = createCrowd(layers);
  const knight = crowd.createInstance();
  return { crowd, clips, root, knight, tip: () => tipOf(crowd, knight.instanceId) };
}

describe('clipAction', () => {
  test('gives one action for each clip and layer, by name, index or AnimationClip', () => {
    const { knight, clips } = createKnight([{ name: 'upper' }]);
    const action = knight.clipAction(clips[1]);
    expect(knight.clipAction('B')).toBe(action);
    expect(knight.clipAction(1)).toBe(action);
    expect(knight.existingAction('B')).toBe(action);
    expect(knight.existingAction('A')).toBeNull();
    expect(knight.existingAction('none')).toBeNull();
    expect(knight.clipAction('B', { layer: 'upper' })).not.toBe(action);
    expect(action.getClip()).toBe(clips[1]);
    expect(knight.clipAction('A').getClip()).toMatchObject({ name: 'A', duration: 4 });
    expect(action.getMixer()).toBe(knight);
    expect(action.getRoot()).toBe(knight);
  });

  test('names the clips there are', () => {
    const { knight } = createKnight();
    const other = new AnimationClip('Fly', 1, []);
    expect(() => knight.clipAction(other)).toThrow(
      'SkinnedInstance.clipAction: no clip named "Fly"; the bone texture has "A", "B", "C", "D", "E", "F".',
    );
    expect(() => knight.clipAction('A', { layer: 'legs' })).toThrow('no layer "legs"');
  });

  test('needs tracks', () => {
    const { root, clips } = createStick();
    const crowd = SkinnedInstancedMesh.from(root, clips, 0, { encoding: 'matrix' });
    expect(() => crowd.createInstance().clipAction(0)).toThrow(
      'SkinnedInstance.clipAction: an action needs poses that are mixed before they are drawn; bake with encoding "tracks": from(root, clips, count, { encoding: \'tracks\' })',
    );
  });

  test('knows additive clips', () => {
    const { root, clips } = createStick(DURATIONS);
    AnimationUtils.makeClipAdditive(clips[2]);
    const crowd = SkinnedInstancedMesh.from(root, clips, 0, { encoding: 'tracks' });
    const knight = crowd.createInstance();
    expect(knight.clipAction('A').blendMode).toBe(NormalAnimationBlendMode);
    expect(knight.clipAction('C').blendMode).toBe(AdditiveAnimationBlendMode);
    knight.clipAction('A').play();
    knight.clipAction('C').play();
    crowd.update(0.5);
    expect(tipOf(crowd, knight.instanceId)).toBeCloseTo(0.5 + 0.5, 5);
  });

  test('refuses numbers that are none', () => {
    const action = createKnight().knight.clipAction('A');
    expect(() => action.setEffectiveWeight(Number.NaN)).toThrow(
      'InstanceAction.setEffectiveWeight: weight is NaN',
    );
    expect(() => action.fadeIn(-1)).toThrow('InstanceAction.fadeIn: fade is -1');
    expect(() => action.setDuration(0)).toThrow('InstanceAction.setDuration: duration is 0');
    expect(() => {
      action.timeScale = Infinity;
    }).toThrow('InstanceAction.timeScale: timeScale is Infinity');
    expect(() => {
      action.time = Number.NaN;
    }).toThrow('InstanceAction.time: time is NaN');
  });
});

test('while actions run, an update touches nothing of theirs', () => {
  const { crowd, knight } = createKnight();
  knight.clipAction('A').play();
  knight.clipAction('B').setEffectiveTimeScale(1.3).fadeIn(5).play();
  knight.clipAction('C').setLoop(LoopPingPong, Infinity).warp(1, 2, 6).play();
  crowd.update(0.1);
  const { version } = crowd.playback;
  for (let i = 0; i < 40; i++) crowd.update(0.1);
  expect(crowd.playback.version).toBe(version);
  crowd.update(1);
  expect(crowd.playback.version).toBeGreaterThan(version);
});

describe('the time scale of an instance', () => {
  test('runs fades and warps too', () => {
    const { crowd, knight, tip } = createKnight();
    knight.timeScale = 0.5;
    knight.clipAction('A').play();
    const action = knight.clipAction('B').fadeIn(1).play();
    crowd.update(1);
    expect(knight.time).toBeCloseTo(0.5, 9);
    expect(action.getEffectiveWeight()).toBeCloseTo(0.5, 9);
    expect(action.time).toBeCloseTo(0.5, 9);
    expect(tip()).toBeCloseTo(0.5, 5);
    knight.timeScale = 0;
    crowd.update(5);
    expect(action.getEffectiveWeight()).toBeCloseTo(0.5, 9);
    knight.timeScale = -1;
    crowd.update(0.25);
    expect(action.getEffectiveWeight()).toBeCloseTo(0.25, 9);
    expect(action.time).toBeCloseTo(0.25, 9);
    expect(tip()).toBeCloseTo(0.25, 5);
  });

  test('is its own, while another goes on', () => {
    const { crowd, knight } = createKnight();
    const other = crowd.createInstance();
    for (const one of [knight, other]) one.clipAction('A').play();
    knight.timeScale = 2;
    crowd.update(0.5);
    expect(knight.clipAction('A').time).toBeCloseTo(1, 9);
    expect(other.clipAction('A').time).toBeCloseTo(0.5, 9);
  });
});

test('the mixer of an instance can be updated alone, and put to a time', () => {
  const { crowd, knight, tip } = createKnight();
  const action = knight.clipAction('A').play();
  crowd.update(0.25);
  knight.mixer.update(0.5);
  expect(action.time).toBeCloseTo(0.75, 9);
  expect(tip()).toBeCloseTo(0.75, 5);
  knight.setTime(1.5);
  expect([knight.time, action.time]).toEqual([1.5, 1.5]);
  crowd.update(0.25);
  expect(action.time).toBeCloseTo(1.75, 9);
  expect(tip()).toBeCloseTo(1.75, 5);
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

test('layers have actions of their own', () => {
  const { crowd, knight, tip } = createKnight([{ name: 'upper', mask: ['Tip'] }]);
  const [walk, wave] = [knight.clipAction('A'), knight.clipAction('C', { layer: 'upper' })];
  walk.play();
  wave.setLoop(LoopOnce).setEffectiveTimeScale(2).play();
  const told: unknown[] = [];
  knight.addEventListener('finished', ({ layer, clip, action }) => told.push([layer, clip, action]));
  crowd.update(0.5);
  expect(tip()).toBeCloseTo(1, 5);
  crowd.update(0.6);
  expect(told).toEqual([['upper', 'C', wave]]);
  expect(tip()).toBeCloseTo(1.1, 5);
  expect(walk.isRunning()).toBe(true);
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

  test('leaves the actions of other layers alone', () => {
    const { crowd, knight } = createKnight([{ name: 'upper' }]);
    const [walk, wave] = [knight.clipAction('A').play(), knight.clipAction('B', { layer: 'upper' }).play()];
    crowd.setTimeAt(knight.instanceId, 1);
    expect([walk.isScheduled(), wave.isScheduled()]).toEqual([false, true]);
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
    expect([knight.time, action.time]).toEqual([1, 1]);
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

  test('hears of actions as of all else', () => {
    const { crowd, knight } = createKnight();
    const told: unknown[] = [];
    crowd.addEventListener('loop', ({ instanceId, clip, layer, loopDelta }) =>
      told.push([instanceId, clip, layer, loopDelta]),
    );
    crowd.addInstance();
    crowd.play(1, 'C');
    knight.clipAction('F').setEffectiveTimeScale(2).play();
    crowd.update(1.1);
    crowd.update(1);
    expect(told).toEqual([
      [0, 'F', 'base', 2],
      [1, 'C', 'base', 1],
      [0, 'F', 'base', 2],
    ]);
  });

  test('weightless actions finish too, on the object and on the crowd', () => {
    const { crowd, knight } = createKnight();
    const told = vi.fn();
    crowd.addEventListener('finished', told);
    knight.addEventListener('finished', told);
    knight.clipAction('F').setLoop(LoopOnce).setEffectiveWeight(0).play();
    crowd.update(1.1);
    expect(told).toHaveBeenCalledTimes(2);
  });
});

test('actions follow their instance when it is exchanged, and when there is more room', () => {
  const { crowd, knight, tip } = createKnight();
  const other = crowd.createInstance();
  const action = knight.clipAction('F').setLoop(LoopOnce).play();
  action.clampWhenFinished = true;
  const finished = vi.fn();
  knight.addEventListener('finished', finished);
  crowd.update(0.5);
  crowd.swapInstances(knight.instanceId, other.instanceId);
  crowd.setCapacity(50);
  crowd.update(0.25);
  expect(tip()).toBeCloseTo(0.75, 5);
  expect(tipOf(crowd, other.instanceId)).toBeCloseTo(REST_X, 5);
  crowd.update(0.5);
  expect(finished).toHaveBeenCalledTimes(1);
  expect(tip()).toBeCloseTo(1, 5);
  action.reset().fadeIn(1);
  crowd.update(0.5);
  expect(tip()).toBeCloseTo(0.5 * 0.5 + 0.5 * REST_X, 5);
});

test('they end with their instance, and whoever gets its id has none of them', () => {
  const { crowd, knight } = createKnight();
  const action = knight.clipAction('F').setLoop(LoopOnce).play();
  const finished = vi.fn();
  crowd.addEventListener('finished', finished);
  crowd.update(0.5);
  knight.dispose();
  const next = crowd.createInstance();
  expect(next.instanceId).toBe(0);
  crowd.update(5);
  action.fadeIn(1).play();
  expect(finished).not.toHaveBeenCalled();
  expect(tipOf(crowd, 0)).toBeCloseTo(REST_X, 5);
  next.clipAction('A').play();
  crowd.update(1);
  expect(tipOf(crowd, 0)).toBeCloseTo(1, 5);
});

test('another bone texture has them go on in the clips of the same names', () => {
  const { crowd, knight, root, clips, tip } = createKnight();
  const [a, b] = [knight.clipAction('A').play(), knight.clipAction('B').play()];
  crowd.update(1);
  const others = [clips[2], clips[0]];
  crowd.boneTexture = BoneTexture.bake(root, others, { encoding: 'tracks' });
  expect([a.isRunning(), b.isScheduled(), knight.existingAction('B')]).toEqual([true, false, null]);
  crowd.update(0.5);
  expect(a.time).toBeCloseTo(1.5, 9);
  expect(tip()).toBeCloseTo(1.5, 5);
});

test('a copy of the crowd goes on from what they show', () => {
  const { crowd, knight } = createKnight();
  knight.clipAction('A').play();
  crowd.update(1);
  const copy = crowd.clone();
  const loops = vi.fn();
  copy.addEventListener('loop', loops);
  copy.update(0.5);
  expect(tipOf(copy, knight.instanceId)).toBeCloseTo(1.5, 5);
  copy.update(3);
  expect(loops).toHaveBeenCalledTimes(1);
});

test('what plays is saved and loaded; then the instance is played by index', () => {
  const { crowd, knight, tip } = createKnight();
  const action = knight.clipAction('A').play();
  crowd.update(1);
  const json = JSON.parse(JSON.stringify(crowd.playbackToJSON()));
  crowd.update(1);
  crowd.playbackFromJSON(json);
  expect(tip()).toBeCloseTo(1, 5);
  expect(action.isScheduled()).toBe(false);
  crowd.update(0.5);
  expect(tip()).toBeCloseTo(1.5, 5);
});

test('markers are told of, with their action', () => {
  const { crowd, knight } = createKnight();
  crowd.boneTexture.addMarker('A', 0.5, 'step');
  const action = knight.clipAction('A').play();
  const told: unknown[] = [];
  knight.addEventListener('marker', ({ name, action }) => told.push([name, action]));
  for (let i = 0; i < 10; i++) {
    crowd.update(0.2);
    action.weight = 1 - i * 0.01;
  }
  expect(told).toEqual([['step', action]]);
});

test('an action that was uncached can be played, and clipAction makes another one', () => {
  const { crowd, knight, tip } = createKnight();
  const action = knight.clipAction('A').play();
  crowd.update(1);
  knight.uncacheAction('A');
  expect(action.isScheduled()).toBe(false);
  expect(tip()).toBeCloseTo(REST_X, 5);
  expect(knight.clipAction('A')).not.toBe(action);
  knight.clipAction('B', {}).play();
  knight.uncacheClip('B');
  expect(knight.existingAction('B')).toBeNull();
});

test('who begins to listen to passes is told of none before', () => {
  const { crowd, knight } = createKnight();
  const action = knight.clipAction('F').play();
  crowd.update(3.5);
  const told: number[] = [];
  const hear = ({ loopDelta }: { loopDelta: number }) => told.push(loopDelta);
  knight.addEventListener('loop', hear);
  crowd.update(0.2);
  expect(told).toEqual([]);
  crowd.update(0.4);
  crowd.update(2);
  expect(told).toEqual([1, 2]);
  knight.removeEventListener('loop', hear);
  crowd.update(4);
  expect(told).toEqual([1, 2]);
  expect(action.time).toBeCloseTo(0.1, 9);
});
