import { SkinnedInstance } from 'skinned-instanced-mesh';
import { expect, test } from 'vitest';
import { createCrowd } from '../../support/objects.js';

test('an instance is made by its crowd, or from it', () => {
  const crowd = createCrowd();
  const one = new SkinnedInstance(crowd);
  const other = new SkinnedInstance(crowd);
  expect(one).toBeInstanceOf(SkinnedInstance);
  expect([one.instanceId, other.instanceId, crowd.instanceCount]).toEqual([0, 1, 2]);
  expect(one.crowd).toBe(crowd);
});
