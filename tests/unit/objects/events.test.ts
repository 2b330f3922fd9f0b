import { loadPlayback, SkinnedInstance, savePlayback } from 'skinned-instanced-mesh';
import { LoopOnce } from 'three';
import { expect, test } from 'vitest';
import { bakeBoneTexture, setBoneTexture } from '../../support/library.js';
import { createCrowd } from '../../support/objects.js';
import { createStick, createStickCrowd } from '../../support/stick.js';

test('what happens to an instance is dispatched on its object, and on no other', () => {
  const crowd = createCrowd();
  const [one, other] = [new SkinnedInstance(crowd), new SkinnedInstance(crowd)];
  const heard: unknown[][] = [];
  one.addEventListener('loop', ({ target, instanceId, clip }) => heard.push([target, instanceId, clip]));
  crowd.play(one.instanceId, 'Slide');
  crowd.play(other.instanceId, 'Slide', { time: 0.5 });
  crowd.update(0.7);
  expect(heard).toEqual([]);
  crowd.update(0.7);
  expect(heard).toEqual([[one, 0, 'Slide']]);
});

test.each(['assigns a bone texture', 'loads a saved state'])('due events arrive if a listener %s', (what) => {
  for (const byObject of [false, true]) {
    const { root, clips } = createStick();
    const crowd = createCrowd();
    const knights = [0, 1, 2, 3].map(() => new SkinnedInstance(crowd));
    const other = bakeBoneTexture(root, clips);
    if (byObject) for (const knight of knights) knight.clipAction('Slide').setLoop(LoopOnce, 1).play();
    else crowd.playAll('Slide', { loop: LoopOnce });
    crowd.update(0.5);
    const saved = savePlayback(crowd);
    const heard: number[] = [];
    crowd.addEventListener('finished', ({ instanceId }) => {
      heard.push(instanceId);
      if (heard.length > 1) return;
      knights[3].dispose();
      if (what === 'loads a saved state') loadPlayback(crowd, saved);
      else setBoneTexture(crowd, other);
    });
    crowd.update(0.7);
    expect(heard).toEqual([0, 1, 2]);
  }
});

test('what a listener sets by index, of an object whose turn it was not yet, holds for what plays by then', () => {
  const crowd = createStickCrowd(0, { A: 1, B: 2, C: 4 });
  const [one, two] = [new SkinnedInstance(crowd), new SkinnedInstance(crowd)];
  one.clipAction('A').setLoop(LoopOnce, 1).play();
  two.clipAction('B').play().fadeOut(0.9);
  two.clipAction('C').play();
  one.addEventListener('finished', () => crowd.setTimeScaleAt(two.instanceId, 3));
  crowd.update(0.5).update(0.6).update(0.1);
  expect(crowd.getTimeAt(two.instanceId)).toBeCloseTo(1.4);
});
