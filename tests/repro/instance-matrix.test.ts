import { BoxGeometry, InstancedBufferAttribute, Matrix4, MeshBasicMaterial } from 'three';
import { expect, test } from 'vitest';
import { SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

function createCrowd() {
  const { root, clips } = createStick();
  return SkinnedInstancedMesh.from(root, clips, 2);
}

const matrices = (count: number) => new InstancedBufferAttribute(new Float32Array(count * 16).fill(1), 16);

test('instanceMatrix may be assigned, which goes for attachments and bounds too', () => {
  const crowd = createCrowd();
  const hat = crowd.attachToJoint('Tip', new BoxGeometry(), new MeshBasicMaterial());
  crowd.computeBoundingSphere();
  const attribute = matrices(2);
  new Matrix4().makeTranslation(100, 0, 0).toArray(attribute.array, 0);
  new Matrix4().makeTranslation(100, 0, 0).toArray(attribute.array, 16);
  crowd.instanceMatrix = attribute;
  crowd.updateMatrixWorld();
  expect(hat.instanceMatrix).toBe(attribute);
  expect(crowd.boundingSphere).toBeNull();
  crowd.setCapacity(4);
  expect(crowd.instanceMatrix.array[12]).toBe(100);
});

test('one for another number of instances is an error', () => {
  const crowd = createCrowd();
  const before = crowd.instanceMatrix;
  for (const count of [1, 3]) {
    expect(() => {
      crowd.instanceMatrix = matrices(count);
    }).toThrow(
      `instanceMatrix: it is for ${count} instances, the crowd has room for 2; call setCapacity(n) first`,
    );
  }
  expect(crowd.instanceMatrix).toBe(before);
});
