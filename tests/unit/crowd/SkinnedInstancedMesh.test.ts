import { Color, InstancedMesh, Matrix4, ObjectLoader } from 'three';
import { expect, test, vi } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { bakeCharacter, SkinnedInstancedMesh } from '../../support/library.js';
import { createStick, createStickCrowd } from '../../support/stick.js';

test('is an InstancedMesh, and says what it is', () => {
  const crowd = createStickCrowd(2);
  expect(crowd).toBeInstanceOf(InstancedMesh);
  expect(crowd).toMatchObject({
    isInstancedMesh: true,
    isSkinnedMesh: true,
    isSkinnedInstancedMesh: true,
    type: 'SkinnedInstancedMesh',
    count: 2,
    capacity: 2,
  });
  const color = new Color(0.25, 0.5, 0.75);
  const tint = new Color();
  crowd.setColorAt(1, color).getColorAt(1, tint);
  expect(tint).toEqual(color);
  const matrix = new Matrix4().makeTranslation(1, 2, 3);
  expect(crowd.setMatrixAt(1, matrix)).toBe(crowd);
  const read = new Matrix4();
  crowd.getMatrixAt(1, read);
  expect(read).toEqual(matrix);
});

test('from leaves the scene as it found it', () => {
  const { root, clips } = createCharacter();
  const describeScene = () => JSON.stringify({ ...root.toJSON(), metadata: null });
  const worlds: number[][] = [];
  root.traverse((node) => worlds.push(node.matrixWorld.toArray()));
  const before = describeScene();
  new SkinnedInstancedMesh(bakeCharacter(root, clips), 3);
  expect(describeScene()).toBe(before);
  const after: number[][] = [];
  root.traverse((node) => after.push(node.matrixWorld.toArray()));
  expect(after).toEqual(worlds);
});

test('toJSON writes an InstancedMesh that ObjectLoader reads, and says so once', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { root, clips } = createStick();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 2);
  crowd.setMatrixAt(1, new Matrix4().makeTranslation(4, 0, 0));
  const json = crowd.toJSON();
  crowd.toJSON();
  expect(warn).toHaveBeenCalledTimes(1);
  const loaded = new ObjectLoader().parse(JSON.parse(JSON.stringify(json))) as unknown as InstancedMesh;
  expect(loaded).toBeInstanceOf(InstancedMesh);
  expect(loaded.count).toBe(2);
  const matrix = new Matrix4();
  loaded.getMatrixAt(1, matrix);
  expect(matrix.elements[12]).toBe(4);

  crowd.setCapacity(3).setVisibleAt(0, false).deleteInstance(1).count = 3;
  const drawn = new ObjectLoader().parse(
    JSON.parse(JSON.stringify(crowd.toJSON())),
  ) as unknown as InstancedMesh;
  const sizes = [0, 1, 2].map((i) => drawn.instanceMatrix.array[i * 16]);
  expect(sizes, 'who is not drawn is scaled to nothing').toEqual([0, 0, 1]);
});
