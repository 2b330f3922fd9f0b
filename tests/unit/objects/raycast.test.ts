import type { CrowdIntersection } from 'skinned-instanced-mesh';
import { SkinnedInstance } from 'skinned-instanced-mesh';
import { Group, Mesh, type Object3D, PlaneGeometry, Raycaster, Scene, Vector3 } from 'three';
import { beforeEach, expect, test } from 'vitest';
import type { SkinnedInstancedMesh } from '../../support/library.js';
import { JointAttachment } from '../../support/library.js';
import { createCrowd } from '../../support/objects.js';

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
  knights = [0, 1, 2, 3].map(() => new SkinnedInstance(crowd));
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

test('attached things are hit with their object, and hidden ones are not', () => {
  const sword = new JointAttachment(crowd, 'Base', new PlaneGeometry(8, 8), crowd.material);
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
