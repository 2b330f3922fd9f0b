import { LoopOnce } from 'three';
import { expect, test, vi } from 'vitest';
import { InstanceMixer } from '../../../lib/instanceObjects/InstanceMixer.js';
import { PlaybackEvents } from '../../../lib/playback/PlaybackEvents.js';
import { createCrowd } from '../../support/objects.js';

/** Two objects whose clip, of one second, begins anew, or ends. */
function playing(encoding: 'auto' | 'tracks' = 'auto') {
  const crowd = createCrowd({ encoding });
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

test('a listener counts once, and nothing is looked for once all have been gone for a while', () => {
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
  for (let i = 0; i <= 600; i++) crowd.update(0);
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

test('who listens now and then has nobody looked at but the one', () => {
  const { crowd, one, other, heard } = playing('tracks');
  const restart = vi.spyOn(PlaybackEvents.prototype, 'restart');
  const bringBefore = vi.spyOn(InstanceMixer.prototype, 'bringBefore');
  for (const knight of [one, other]) knight.clipAction('Slide').play();
  for (const type of ['loop', 'finished'] as const) {
    const listener = () => heard.push([type]);
    one.addEventListener(type, listener);
    crowd.update(0.1);
    one.removeEventListener(type, listener);
    crowd.update(0.1);
    restart.mockClear();
    bringBefore.mockClear();
    for (let i = 0; i < 5; i++) {
      crowd.update(1);
      one.addEventListener(type, listener);
      one.removeEventListener(type, listener);
    }
    expect(restart).not.toHaveBeenCalled();
    expect(bringBefore).not.toHaveBeenCalled();
  }
  expect(heard, 'what happened meanwhile is not told').toEqual([]);
  one.addEventListener('loop', () => heard.push(['loop']));
  crowd.update(1);
  expect(heard).toEqual([['loop']]);
  vi.restoreAllMocks();
});
