import { LoopOnce } from 'three';
import { expect, test } from 'vitest';
import { createCrowd } from '../../support/objects.js';

/** Two objects whose clip, of one second, begins anew, or ends. */
function playing() {
  const crowd = createCrowd();
  const [one, other] = [crowd.createInstance(), crowd.createInstance()];
  const heard: unknown[][] = [];
  return { crowd, one, other, heard };
}

test('what happens to an instance is dispatched on its object, and on no other', () => {
  const { crowd, one, other, heard } = playing();
  one.addEventListener('loop', ({ target, instanceId, clip }) => heard.push([target, instanceId, clip]));
  crowd.play(one.instanceId, 'Slide');
  crowd.play(other.instanceId, 'Slide', { time: 0.5 });
  crowd.update(0.7);
  expect(heard).toEqual([]);
  crowd.update(0.7);
  expect(heard).toEqual([[one, 0, 'Slide']]);
});

test('it follows its instance to another index', () => {
  const { crowd, one, other, heard } = playing();
  other.addEventListener('finished', ({ instanceId }) => heard.push([instanceId]));
  crowd.play(other.instanceId, 'Slide', { loop: LoopOnce });
  crowd.swapInstances(one.instanceId, other.instanceId);
  crowd.update(1.5);
  expect(heard).toEqual([[0]]);
});

test('a listener counts once, and nothing is looked for when all have gone', () => {
  const { crowd, one, other, heard } = playing();
  const listener = () => heard.push([]);
  one.addEventListener('loop', listener);
  one.addEventListener('loop', listener);
  other.addEventListener('loop', listener);
  one.addEventListener('added', listener);
  const wanted = Reflect.get(crowd.crowd.events, 'wanted') as Set<string>;
  expect([...wanted]).toEqual(['loop']);
  one.removeEventListener('loop', listener);
  one.removeEventListener('loop', listener);
  crowd.playAll('Slide');
  crowd.update(1.5);
  expect(heard).toHaveLength(1);
  other.dispose();
  expect([...wanted]).toEqual([]);
  other.removeEventListener('loop', listener);
  other.addEventListener('loop', listener);
  expect([...wanted]).toEqual([]);
});

test('thousands may listen', () => {
  const crowd = createCrowd();
  let count = 0;
  for (let i = 0; i < 5000; i++) crowd.createInstance().addEventListener('loop', () => count++);
  crowd.playAll('Slide');
  crowd.update(1.5);
  expect(count).toBe(5000);
});

test('a listener may dispose its object', () => {
  const { crowd, one, other, heard } = playing();
  for (const knight of [one, other]) {
    knight.addEventListener('finished', () => {
      heard.push([]);
      knight.dispose();
    });
  }
  crowd.playAll('Slide', { loop: LoopOnce });
  crowd.update(2);
  crowd.update(2);
  expect(heard).toHaveLength(2);
  expect(crowd.instanceCount).toBe(0);
});
