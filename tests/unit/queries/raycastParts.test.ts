import { Matrix4, Raycaster, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { partsOf } from '../../support/features.js';
import { createKnight } from '../../support/knight.js';
import { bakeCharacter, getVertexPosition, SkinnedInstancedMesh } from '../../support/library.js';

test('a ray hits what is shown, and says which part', () => {
  const { root, clips } = createKnight();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 2);
  crowd.setMatrixAt(1, new Matrix4().makeTranslation(3, 0, 0));
  crowd.playAll('Idle').update(0.4);
  crowd.updateMatrixWorld();
  const sword = partsOf(crowd).names.indexOf('Sword');
  const { geometry } = crowd;
  const partIndex = geometry.getAttribute('partIndex');
  const center = new Vector3();
  const vertex = new Vector3();
  let vertices = 0;
  for (let i = 0; i < partIndex.count; i++) {
    if (partIndex.getX(i) !== sword) continue;
    center.add(getVertexPosition(crowd, 1, i, vertex));
    vertices++;
  }
  center.divideScalar(vertices);
  const ray = new Raycaster(center.clone().add(new Vector3(0, 0, 5)), new Vector3(0, 0, -1));
  const hitParts = () => ray.intersectObject(crowd).map((hit) => (hit as { part?: string }).part);
  expect(hitParts()).toContain('Sword');
  const [hit] = ray.intersectObject(crowd);
  expect(hit.instanceId).toBe(1);
  expect(hit.normal?.length()).toBeCloseTo(1, 5);
  expect(hit.normal?.dot(ray.ray.direction)).toBeLessThan(0);
  expect(hit.uv === undefined).toBe(!geometry.hasAttribute('uv'));

  partsOf(crowd).setVisibleAt(1, 'Sword', false);
  expect(hitParts()).not.toContain('Sword');
  partsOf(crowd).setVisibleAt(1, 'Sword', true).setVisibleAt(0, 'Sword', false);
  expect(hitParts()).toContain('Sword');

  const hitFaces = () => ray.intersectObject(crowd).map(({ faceIndex }) => faceIndex as number);
  const [face] = hitFaces();
  geometry.setDrawRange((face + 1) * 3, Infinity);
  expect(hitFaces(), 'what is drawn is hit').not.toContain(face);
  geometry.setDrawRange(0, face * 3);
  expect(hitFaces()).not.toContain(face);
  geometry.setDrawRange(face * 3, 3);
  expect(hitFaces()).toEqual([face]);
});
