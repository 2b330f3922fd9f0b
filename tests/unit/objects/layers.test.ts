import { SkinnedInstance } from 'skinned-instanced-mesh';
import { PerspectiveCamera, Raycaster, Scene, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { createCrowd } from '../../support/objects.js';

function createLayered() {
  const crowd = createCrowd();
  const knights = [0, 1, 2, 3].map(() => new SkinnedInstance(crowd));
  const scene = new Scene().add(crowd);
  knights.forEach((knight, i) => knight.position.set(0, 0, -i));
  const camera = new PerspectiveCamera();
  camera.position.z = 5;
  camera.updateMatrixWorld();
  camera.matrixWorldInverse.copy(camera.matrixWorld).invert();
  let frame = 0;
  /** Ids of those that the camera lists, if it draws the crowd at all. */
  const drawn = () => {
    scene.updateMatrixWorld();
    if (!crowd.layers.test(camera.layers)) return [];
    const view = crowd.views.of(camera, crowd.matrixWorld, frame++).of();
    return Array.from({ length: view.count }, (_, i) => view.list.get(i));
  };
  const raycaster = new Raycaster(new Vector3(0.2, 0.3, 5), new Vector3(0, 0, -1));
  const hit = () => {
    raycaster.layers.mask = camera.layers.mask;
    return raycaster.intersectObject(scene).map(({ instanceId }) => instanceId);
  };
  return { crowd, knights, scene, camera, drawn, hit };
}

test('cameras draw, and rays hit, those whose layers they share', () => {
  const { crowd, knights, camera, drawn, hit } = createLayered();
  expect([drawn(), crowd.crowd.layers]).toEqual([[0, 1, 2, 3], null]);
  knights[1].layers.set(1);
  knights[2].layers.enable(2);
  const seen = () => {
    const ids = drawn();
    expect(hit()).toEqual(ids);
    return ids;
  };
  expect(seen()).toEqual([0, 2, 3]);
  camera.layers.enable(1);
  expect(seen()).toEqual([0, 1, 2, 3]);
  camera.layers.set(1);
  expect(seen()).toEqual([1]);
  camera.layers.set(2);
  expect(seen()).toEqual([2]);
  camera.layers.set(3);
  expect(seen()).toEqual([]);
  crowd.layers.set(3);
  expect(seen()).toEqual([0, 3]);
  knights[1].layers.set(0);
  knights[2].layers.set(0);
  expect(seen()).toEqual([0, 1, 2, 3]);
  knights[0].layers.disableAll();
  expect(seen()).toEqual([1, 2, 3]);
});

test('those elsewhere in the scene, and copies, have theirs', () => {
  const { scene, knights, camera, drawn, hit } = createLayered();
  scene.add(knights[0]);
  knights[0].layers.set(4);
  const clone = knights[0].clone();
  expect(clone.layers.mask).toBe(16);
  clone.position.z = -9;
  expect(drawn()).toEqual([1, 2, 3]);
  expect(hit()).toEqual([1, 2, 3]);
  camera.layers.set(4);
  expect(drawn()).toEqual([0, 4]);
  expect(hit()).toEqual([0, 4]);
});
