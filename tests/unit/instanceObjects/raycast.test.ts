import type { CrowdIntersection } from 'skinned-instanced-mesh';
import { Group, Matrix4, Mesh, type Object3D, PlaneGeometry, Raycaster, Scene, Vector3 } from 'three';
import { beforeEach, expect, test, vi } from 'vitest';
import type { SkinnedInstancedMesh } from '../../support/library.js';
import { createCrowd, type SkinnedInstance } from '../../support/objects.js';

let crowd: SkinnedInstancedMesh;
let scene: Scene;
/** At home, in a group before the crowd, in the scene after it, and at home with a child. One behind the other. */
let knights: SkinnedInstance[];
/** Id of an instance without an object, the nearest. */
let plain: number;

beforeEach(() => {
  crowd = createCrowd();
  crowd.position.set(0, 0, -1);
  const group = new Group();
  scene = new Scene().add(group, crowd);
  knights = [0, 1, 2, 3].map(() => crowd.createInstance());
  group.add(knights[1]);
  scene.add(knights[2]);
  knights.forEach((knight, i) => knight.position.set(0, 0, -3 * i - 2));
  knights[3].add(new Group());
  plain = crowd.addInstance();
  scene.updateMatrixWorld();
});

function cast(targets: Object3D[], set: (raycaster: Raycaster) => void = () => {}): CrowdIntersection[] {
  const raycaster = new Raycaster(new Vector3(0.2, 0.3, 5), new Vector3(0, 0, -1));
  set(raycaster);
  return raycaster.intersectObjects(targets);
}

const objects = (hits: readonly CrowdIntersection[]) => hits.map(({ object }) => object);

test('a ray at the crowd hits objects, and the crowd where there are none', () => {
  const hits = cast([crowd]);
  expect(objects(hits)).toEqual([crowd, ...knights]);
  expect(hits.map(({ instanceId }) => instanceId)).toEqual([plain, 0, 1, 2, 3]);
  expect(hits.map(({ mesh }) => mesh)).toEqual([undefined, crowd, crowd, crowd, crowd]);
});

test('a ray at one object hits it where the ray at the crowd does', () => {
  const ofCrowd = cast([crowd]);
  for (const knight of knights) {
    expect(cast([knight])).toEqual(ofCrowd.filter(({ object }) => object === knight));
  }
  expect(knights.map((knight) => cast([knight]).length)).toEqual([1, 1, 1, 1]);
});

test('nothing is in a list twice, in whatever order it is asked for', () => {
  const ofCrowd = cast([crowd]);
  expect(cast([scene])).toEqual(ofCrowd);
  expect(cast([...knights, crowd])).toEqual(ofCrowd);
  expect(cast([crowd, ...knights, scene, crowd]).filter(({ object }) => object !== crowd)).toEqual(
    ofCrowd.slice(1),
  );
});

test('the nearest is found where only that is asked for', () => {
  const first = (raycaster: Raycaster) => Object.assign(raycaster, { firstHitOnly: true });
  crowd.deleteInstance(plain);
  expect(cast([crowd], first)[0].object).toBe(knights[0]);
  // of what has children three.js asks these too
  expect(objects(cast([crowd], first))).toEqual([knights[0], knights[3]]);
  expect(objects(cast([knights[2]], first))).toEqual([knights[2]]);
});

test('attached things are hit with their object, and hidden ones are not', () => {
  const sword = crowd.attachToJoint('Base', new PlaneGeometry(8, 8), crowd.material);
  knights[1].visible = false;
  knights[2].parent?.remove(knights[2]);
  scene.updateMatrixWorld();
  const hits = cast([scene]);
  expect(hits.filter(({ object }) => object === knights[0]).map(({ mesh }) => mesh)).toEqual([crowd, sword]);
  expect(objects(hits)).not.toContain(knights[1]);
  expect(objects(hits)).not.toContain(knights[2]);
  expect(cast([knights[1], knights[2]])).toEqual([]);
  expect(cast([knights[0]])).toHaveLength(2);
  expect(cast([...knights, scene])).toHaveLength(hits.length);
});

test('what is added to an instance as an object is hit by rays too', () => {
  const plate = new Mesh(new PlaneGeometry(1, 1));
  knights[0].add(plate);
  scene.updateMatrixWorld();
  expect(objects(cast([scene]))).toContain(plate);
  expect(objects(cast([knights[0]]))).toEqual([knights[0], plate]);
});

test('an instance that is none any more is not hit', () => {
  knights[2].dispose();
  expect(cast([knights[2]])).toEqual([]);
  expect(cast([scene])).toHaveLength(4);
});

test('a ray at the scene looks closely at those objects only that it may meet', () => {
  for (let i = 0; i < 300; i++) {
    const aside = crowd.createInstance();
    aside.position.set(5 + (i % 20), 0, i / 20);
    scene.add(aside);
  }
  scene.updateMatrixWorld();
  const invert = vi.spyOn(Matrix4.prototype, 'invert');
  expect(objects(cast([scene]))).toEqual([crowd, ...knights]);
  // Into the space of the crowd, and of the five that are met, by the crowd and once more by those objects that are asked.
  const calls = invert.mock.calls.length;
  invert.mockRestore();
  expect(calls).toBeLessThan(12);
});
