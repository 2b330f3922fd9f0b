import { SkinnedInstance } from 'skinned-instanced-mesh';
import { LoopOnce } from 'three';
import { expect, test } from 'vitest';
import { type EncodingName, encodingOf } from '../../support/library.js';
import { createCrowd } from '../../support/objects.js';

/** Two objects whose clip, of one second, begins anew, or ends. */
function playing(encoding: EncodingName = 'frames') {
  const crowd = createCrowd({ encoding: encodingOf(encoding) });
  const [one, other] = [new SkinnedInstance(crowd), new SkinnedInstance(crowd)];
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
