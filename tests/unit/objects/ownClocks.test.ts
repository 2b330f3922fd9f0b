import { SkinnedInstance } from 'skinned-instanced-mesh';
import { AnimationMixer, LoopOnce, LoopRepeat, type Object3D, Scene } from 'three';
import * as SkeletonUtils from 'three/addons/utils/SkeletonUtils.js';
import { expect, test, vi } from 'vitest';
import { bakeCharacter, SkinnedInstancedMesh } from '../../support/library.js';
import { createStick, tipOf } from '../../support/stick.js';

const COUNT = 5;

function createTwins() {
  const { root, clips } = createStick({ A: 4, B: 8, C: 2 });
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 0);
  const scene = new Scene().add(crowd);
  const twins = Array.from({ length: COUNT }, (_, i) => {
    const knight = new SkinnedInstance(crowd);
    const clone = SkeletonUtils.clone(root);
    const mixer = new AnimationMixer(clone);
    for (const one of [knight.mixer, mixer]) {
      one.clipAction(clips[i % 3]).play().time = i * 0.3;
      one.update(0);
    }
    return { knight, clone, mixer };
  });
  const version = () => crowd.playback.version;
  const expectSame = (what: string) => {
    for (const { knight, clone } of twins) {
      const { x } = tipBone(clone).position;
      expect(tipOf(crowd, knight.instanceId), what).toBeCloseTo(x, 4);
      // as shaders do, which know of the crowd's clock alone
      const { time } = crowd.playback;
      expect(time.timeOf(knight.instanceId), what).toBeCloseTo(time.elapsed, 6);
    }
  };
  return { crowd, scene, clips, twins, version, expectSame };
}

const tipBone = (clone: Object3D) => clone.getObjectByName('Tip') as Object3D;

test('events that a listener of a mixer hears have the mixer as target, as those of three.js', () => {
  const { twins, clips } = createTwins();
  const [{ knight, mixer }] = twins;
  const log: unknown[] = [];
  const told = (of: object, who: string) =>
    function (this: unknown, { type, target }: { type: string; target: unknown }) {
      log.push([who, type, target === of, this === of]);
    };
  const [theirs, ours, its] = [told(mixer, 'mixer'), told(knight.mixer, 'mixer'), told(knight, 'knight')];
  knight.addEventListener('finished', its);
  for (const type of ['finished', 'loop'] as const) {
    mixer.addEventListener(type, theirs);
    for (let twice = 0; twice < 2; twice++) knight.mixer.addEventListener(type, ours);
  }
  expect(knight.mixer.hasEventListener('loop', ours)).toBe(true);
  expect(knight.hasEventListener('loop', ours as never)).toBe(false);
  for (const one of [mixer, knight.mixer]) {
    one.stopAllAction();
    one.clipAction(clips[0]).reset().setLoop(LoopRepeat, 2).play();
  }
  const seconds = clips[0].duration * 1.25;
  for (let i = 0; i < 2; i++) mixer.update(seconds);
  expect(log).toEqual([
    ['mixer', 'loop', true, true],
    ['mixer', 'finished', true, true],
  ]);
  const expected = [log[0], ['knight', 'finished', true, true], log[1]];
  log.length = 0;
  for (let i = 0; i < 2; i++) knight.mixer.update(seconds);
  expect(log).toEqual(expected);
  for (const type of ['finished', 'loop'] as const) knight.mixer.removeEventListener(type, ours);
  expect(knight.mixer.hasEventListener('loop', ours)).toBe(false);
});

test('a crowd whose mixers are all updated goes with them, and nothing is written until something changes', () => {
  const { crowd, scene, twins, version, expectSame, clips } = createTwins();
  crowd.boneTexture.addMarker('A', 1, 'step');
  const steps = vi.fn();
  crowd.addEventListener('marker', steps);
  const finished = vi.fn();
  twins[1].knight.mixer.addEventListener('finished', finished);
  const frame = (delta = 0.125) => {
    for (const { knight, mixer } of twins) {
      knight.mixer.update(delta);
      mixer.update(delta);
    }
    scene.updateMatrixWorld();
  };
  frame();
  const before = version();
  for (let i = 0; i < 40; i++) frame();
  expectSame('alike');
  expect([version(), crowd.elapsed]).toEqual([before, 41 * 0.125]);
  expect(steps.mock.calls.map(([{ instanceId }]) => instanceId)).toEqual([0, 3, 0]);

  for (const one of [twins[1].knight.mixer, twins[1].mixer])
    one.clipAction(clips[2]).setLoop(LoopOnce, 1).reset().fadeIn(0.5).play();
  for (let i = 0; i < 15; i++) frame();
  expectSame('fading');
  expect(finished).not.toHaveBeenCalled();
  for (let i = 0; i < 5; i++) frame();
  expect(finished).toHaveBeenCalledTimes(1);
  expectSame('faded');
});

test('paused, swapped, deleted and made again, clocks stay with their instances', () => {
  const { crowd, scene, twins, expectSame } = createTwins();
  const frame = (but = -1) => {
    twins.forEach(({ knight, mixer }, i) => {
      knight.mixer.update(0.2);
      if (i !== but) mixer.update(0.2);
    });
    scene.updateMatrixWorld();
  };
  frame();
  crowd.pause(2);
  frame(2);
  crowd.resume(2);
  expectSame('resumed');
  frame();
  crowd.swapInstances(0, 4).setCapacity(9);
  frame();
  expectSame('swapped');
  const { knight } = twins.pop()!;
  const { instanceId } = knight;
  knight.dispose();
  knight.mixer.update(1);
  const fresh = new SkinnedInstance(crowd);
  expect(fresh.instanceId).toBe(instanceId);
  fresh.clipAction('A').play();
  frame();
  crowd.update(0.3);
  scene.updateMatrixWorld();
  expectSame('deleted');
  expect(fresh.clipAction('A').time).toBeCloseTo(0.3, 6);
});
