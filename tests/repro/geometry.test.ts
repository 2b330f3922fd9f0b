import {
  type Box3,
  BoxGeometry,
  Float32BufferAttribute,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Raycaster,
  type Sphere,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';
import { SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

/** A stick with things at its tip, each a part. */
function createDressed(...names: string[]) {
  const { root, mesh, bones, clips } = createStick();
  for (const name of names) {
    const thing = new Mesh(new BoxGeometry(), mesh.material);
    thing.name = name;
    bones[1].add(thing);
  }
  return { crowd: SkinnedInstancedMesh.from(root, clips, 600), mesh };
}

test('bounds are those of the geometry that was assigned', () => {
  const { crowd, mesh } = createDressed();
  crowd.computeBoundingBox();
  crowd.computeBoundingSphere();
  const { radius } = crowd.boundingSphere as Sphere;
  crowd.geometry = mesh.geometry.clone().scale(50, 50, 50);
  expect(crowd.boundingBox).toBe(null);
  expect(crowd.boundingSphere).toBe(null);
  crowd.updateMatrixWorld();
  const ray = new Raycaster(new Vector3(10, 10, 9), new Vector3(0, 0, -1));
  expect(ray.intersectObject(crowd).length).toBe(600);
  expect((crowd.boundingSphere as unknown as Sphere).radius).toBeGreaterThan(radius * 5);
  crowd.computeBoundingBox();
  const box = crowd.boundingBox as unknown as Box3;
  for (let vertex = 0; vertex < 3; vertex++) {
    expect(box.distanceToPoint(crowd.getVertexPositionAt(0, vertex, new Vector3()))).toBeLessThan(1e-4);
  }
});

test('the geometry in whose place another comes is freed, and what is attached not', () => {
  const { crowd, mesh } = createDressed();
  const hat = crowd.attachToJoint('Tip', new BoxGeometry(), new MeshBasicMaterial());
  const freed: string[] = [];
  const before = crowd.geometry;
  before.addEventListener('dispose', () => {
    freed.push(...Object.keys(before.attributes));
  });
  hat.geometry.addEventListener('dispose', () => freed.push('hat'));
  crowd.geometry = mesh.geometry.clone();
  expect(freed).toContain('position');
  expect(freed, 'the playback, which the hat shares').not.toContain('instanceClip');
  expect(freed).not.toContain('hat');
  expect(crowd.geometry.hasAttribute('instanceClip')).toBe(true);
});

test('one that cannot be drawn leaves all as it is', () => {
  const { crowd } = createDressed();
  const before = crowd.geometry;
  expect(() => {
    crowd.geometry = new BoxGeometry();
  }).toThrow('has no attribute "skinIndex"');
  expect(crowd.geometry).toBe(before);
  expect(before.hasAttribute('instanceClip')).toBe(true);
});

test('the parts are those of the geometry, and known ones keep their names and looks', () => {
  const { crowd } = createDressed('Sword');
  const two = crowd.geometry.clone();
  const four = crowd.geometry.clone();
  const partIndex = four.getAttribute('partIndex');
  for (let vertex = 6; vertex < 12; vertex++) partIndex.setX(vertex, vertex < 9 ? 2 : 3);
  const before = crowd.partNames;
  crowd.setPartVisibleAt(7, 'Sword', false).setPartVisibleAt(599, 'StickMesh', false);
  const sword = crowd.attachToJoint('Tip', new BoxGeometry(), new MeshBasicMaterial());
  crowd.setVisiblePartsAt(8, []);

  crowd.geometry = four;
  expect(crowd.partNames).toEqual([...before, '2', '3']);
  const shown = (index: number) => crowd.partNames.map((name) => crowd.getPartVisibleAt(index, name));
  const names = crowd.partNames;
  expect(shown(7)).toEqual(names.map((name) => name !== 'Sword'));
  expect(shown(599)).toEqual(names.map((name) => name !== 'StickMesh'));
  expect(shown(8)).toEqual([false, false, true, true]);
  expect(shown(9)).toEqual([true, true, true, true]);
  expect(sword.parts?.isDrawn(8, 0), 'there is something of the character again').toBe(true);
  const { texture } = crowd.parts as NonNullable<typeof crowd.parts>;
  expect(texture.data.length, 'four parts for each').toBeGreaterThanOrEqual(600 * 4 * 4);

  crowd.geometry = two;
  expect(crowd.partNames).toEqual(names);
  expect(crowd.getPartVisibleAt(7, 'Sword')).toBe(false);
});

test('a geometry that says nothing of parts is one part', () => {
  const { crowd, mesh } = createDressed('Sword', 'Shield');
  crowd.setPartVisibleAt(0, 0, false);
  crowd.geometry = mesh.geometry;
  expect(crowd.partNames).toEqual(['0']);
  expect(crowd.getPartVisibleAt(0, 0)).toBe(true);
  expect(() => crowd.setPartVisibleAt(0, 'Sword', false)).toThrow('no part "Sword"; the character has "0"');
  crowd.setPartVisibleAt(0, 0, false);
  crowd.geometry = mesh.geometry.clone();
  expect(crowd.getPartVisibleAt(0, 0), 'of one part, as before').toBe(false);
});

test('morph targets are those of the geometry', () => {
  const { crowd, mesh } = createDressed();
  const morphed = mesh.geometry.clone();
  const smile = new Float32BufferAttribute(new Array(9).fill(1), 3);
  smile.name = 'Smile';
  morphed.morphAttributes.position = [smile];
  morphed.morphTargetsRelative = true;
  crowd.geometry = morphed;
  expect(crowd.morphTargetInfluences).toEqual([0]);
  expect(crowd.morphTargetDictionary).toEqual({ Smile: 0 });
  crowd.setMorphAt(3, Object.assign(new Mesh(), { morphTargetInfluences: [1] }));
  const plain = crowd.getVertexPositionAt(2, 0, new Vector3());
  expect(crowd.getVertexPositionAt(3, 0, new Vector3()).sub(plain).toArray()).toEqual([1, 1, 1]);
  crowd.geometry = mesh.geometry;
  expect(crowd.morphTexture).toBe(null);
  expect(crowd.getVertexPositionAt(3, 0, new Vector3())).toEqual(plain);
});

test('rays meet instances where they stand, drawn since or not', () => {
  const { crowd } = createDressed();
  crowd.count = 1;
  crowd.updateMatrixWorld();
  const ray = new Raycaster(new Vector3(500.2, 0.2, 9), new Vector3(0, 0, -1));
  expect(ray.intersectObject(crowd)).toEqual([]);
  crowd.setMatrixAt(0, new Matrix4().makeTranslation(500, 0, 0));
  crowd.instanceMatrix.needsUpdate = true;
  expect(ray.intersectObject(crowd).length).toBe(1);
});
