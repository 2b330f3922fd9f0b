import {
  BoxGeometry,
  LoopOnce,
  LoopPingPong,
  LoopRepeat,
  MeshBasicMaterial,
  Raycaster,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';
import 'skinned-instanced-mesh/objects';
import { BoneTexture, SkinnedInstancedMesh } from '../support/library.js';
import { ReferenceMixer } from '../support/ReferenceMixer.js';
import { createStick, tipOf } from '../support/stick.js';

function createCrowd(durations?: Record<string, number>) {
  const { root, clips } = createStick(durations);
  return SkinnedInstancedMesh.from(root, clips, 0, { encoding: 'tracks' });
}

test('an action that was made before the bone texture was replaced plays its clip', () => {
  const crowd = createCrowd({ Slide: 1, Two: 2 });
  const two = crowd.createInstance().clipAction('Two');
  const { root, clips } = createStick({ Other: 3, Two: 2, Slide: 1 });
  crowd.boneTexture = BoneTexture.bake(root, clips, { encoding: 'tracks' });
  two.play();
  crowd.update(0.1);
  expect(crowd.getClipAt(0)).toBe('Two');
});

test('listeners may dispose objects whose actions are due too', () => {
  const crowd = createCrowd();
  const [one, other] = [crowd.createInstance(), crowd.createInstance()];
  for (const knight of [one, other]) {
    knight.clipAction('Slide').setLoop(LoopOnce, 1).play();
    knight.addEventListener('finished', () => knight.dispose());
  }
  one.addEventListener('finished', () => other.dispose());
  crowd.update(2);
  expect([one.instanceId, other.instanceId]).toEqual([-1, -1]);
  expect(crowd.instanceCount).toBe(0);
});

test('a listener that throws silences nobody else', () => {
  const crowd = createCrowd();
  const heard: number[] = [];
  for (let i = 0; i < 3; i++) {
    const knight = crowd.createInstance();
    knight.clipAction('Slide').setLoop(LoopOnce, 1).play();
    knight.addEventListener('finished', () => {
      heard.push(i);
      if (i === 0) throw new Error('of the user');
    });
  }
  expect(() => crowd.update(1.5)).toThrow('of the user');
  for (let i = 0; i < 3; i++) crowd.update(0.5);
  expect(heard).toEqual([0, 1, 2]);
});

test('what happened to one that is gone is not told to who has its id now', () => {
  const crowd = createCrowd();
  const knight = crowd.createInstance();
  const heard: string[] = [];
  knight.clipAction('Slide').setLoop(LoopOnce, 1).play();
  knight.addEventListener('finished', () => heard.push('old'));
  crowd.addEventListener('finished', () => {
    knight.dispose();
    const next = crowd.createInstance();
    next.addEventListener('finished', () => heard.push('new'));
  });
  crowd.update(2);
  expect(heard).not.toContain('new');
});

test('a crowd that is disposed has no instances of objects left', () => {
  const crowd = createCrowd();
  for (let i = 0; i < 2; i++) crowd.createInstance().clipAction('Slide').play();
  crowd.dispose();
  expect(crowd.instanceCount).toBe(0);
});

test('places are written to JSON as plain vectors', () => {
  const knight = createCrowd().createInstance();
  knight.position.set(1, 2, 3);
  expect(JSON.stringify(knight.position)).toBe('{"x":1,"y":2,"z":3}');
});

test('rays go by the layers of an attachment where no instance has layers', () => {
  const crowd = createCrowd();
  crowd.createInstance();
  const sword = crowd.attachToJoint('Tip', new BoxGeometry(), new MeshBasicMaterial());
  sword.layers.set(2);
  crowd.updateMatrixWorld(true);
  const from = crowd.getSocketMatrixAt(0, 'Tip', sword.matrix.clone());
  const place = new Vector3().setFromMatrixPosition(from);
  const ray = new Raycaster(place.clone().add(new Vector3(0, 0, 5)), new Vector3(0, 0, -1));
  ray.layers.set(2);
  expect(ray.intersectObject(sword).length).toBeGreaterThan(0);
});

test('a weight that is refused leaves the actions as they are', () => {
  const crowd = createCrowd({ Slide: 1, Two: 2 });
  const knight = crowd.createInstance();
  const slide = knight.clipAction('Slide').play();
  crowd.update(0.25);
  expect(() => crowd.setWeightAt(knight.instanceId, 'Two', 0.5)).toThrow(/does not play "Two"/);
  expect(slide.isRunning()).toBe(true);
});

test.each([LoopRepeat, LoopOnce, LoopPingPong])(
  'an update that turns back the clock runs actions back (loop %i)',
  (loop) => {
    const { root, clips } = createStick();
    const crowd = SkinnedInstancedMesh.from(root, clips, 0, { encoding: 'tracks' });
    const knight = crowd.createInstance();
    const slide = knight.clipAction('Slide').setLoop(loop, Infinity).play();
    const mixer = new ReferenceMixer(root);
    const expected = mixer.clipAction(clips[0]).setLoop(loop, Infinity).play();
    const [ours, theirs] = [[] as number[], [] as number[]];
    knight.addEventListener('loop', ({ loopDelta }) => ours.push(loopDelta));
    knight.addEventListener('finished', ({ direction }) => ours.push(direction));
    mixer.addEventListener('loop', ({ loopDelta }) => theirs.push(loopDelta));
    mixer.addEventListener('finished', ({ direction }) => theirs.push(direction));
    for (const delta of [0.3, -0.5, 0.125, -2, 0.25, 3]) {
      crowd.update(delta);
      mixer.update(delta);
      // Before anything is asked of the action: that brings it up to date.
      expect(ours).toEqual(theirs);
      expect(tipOf(crowd, 0)).toBeCloseTo(root.getObjectByName('Tip')?.position.x ?? 0, 5);
      expect(slide.time).toBeCloseTo(expected.time, 9);
    }
  },
);

test('what a count has left out, or was disposed, is not cloned', () => {
  const crowd = createCrowd();
  const [, knight] = [crowd.createInstance(), crowd.createInstance()];
  crowd.count = 1;
  expect(() => knight.clone()).toThrow(/SkinnedInstance.clone: .* instance 1, .* count of 1 .* raise count/);
  expect([knight.instanceId, crowd.count]).toEqual([1, 1]);
  crowd.count = 2;
  expect(knight.clone().instanceId).toBe(2);
  knight.dispose();
  expect(() => knight.clone()).toThrow('was disposed');
  // No instance was added before it threw.
  expect(crowd.instanceCount).toBe(2);
});
