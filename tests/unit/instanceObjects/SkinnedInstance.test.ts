import { SkinnedInstance } from 'skinned-instanced-mesh/objects';
import { Matrix4, Scene } from 'three';
import { expect, test } from 'vitest';
import { createCrowd } from '../../support/objects.js';

test('an instance is made by its crowd, or from it', () => {
  const crowd = createCrowd();
  const one = crowd.createInstance();
  const other = new SkinnedInstance(crowd);
  expect(one).toBeInstanceOf(SkinnedInstance);
  expect([one.instanceId, other.instanceId, crowd.instanceCount]).toEqual([0, 1, 2]);
  expect(one.crowd).toBe(crowd);
});

test('it stands in the crowd where it is placed, whatever its parent', () => {
  const crowd = createCrowd();
  const scene = new Scene().add(crowd);
  crowd.position.set(1, 2, 3);
  const knight = crowd.createInstance();
  knight.position.set(3, 0, 1);
  scene.updateMatrixWorld();
  const matrix = new Matrix4();
  expect(crowd.getMatrixAt(knight.instanceId, matrix)).toEqual(new Matrix4().makeTranslation(3, 0, 1));
  scene.add(knight);
  scene.updateMatrixWorld();
  expect(crowd.getMatrixAt(knight.instanceId, matrix)).toEqual(new Matrix4().makeTranslation(2, -2, -2));
});

test('it is no instance any more once it was disposed, or deleted by its id', () => {
  const crowd = createCrowd();
  const [one, other] = [crowd.createInstance(), crowd.createInstance()];
  one.dispose();
  crowd.deleteInstance(other.instanceId);
  expect([one.instanceId, other.instanceId, crowd.instanceCount]).toEqual([-1, -1, 0]);
  expect(crowd.createInstance().instanceId).toBe(0);
  expect(one.instanceId).toBe(-1);
});

test('it follows its instance when that gets another id', () => {
  const crowd = createCrowd();
  const [one, other] = [crowd.createInstance(), crowd.createInstance()];
  crowd.swapInstances(0, 1);
  expect([one.instanceId, other.instanceId]).toEqual([1, 0]);
});
