import {
  MeshBasicMaterial,
  PerspectiveCamera,
  PlaneGeometry,
  Raycaster,
  Scene,
  Vector3,
  type WebGLRenderer,
} from 'three';
import { expect, test } from 'vitest';
import { drawnOf } from '../../../lib/backends/webgl/Drawn.js';
import { lookFor } from '../../../lib/backends/webgl/lookFor.js';
import { createCrowd } from '../../support/objects.js';

function createLayered() {
  const crowd = createCrowd();
  const knights = [0, 1, 2, 3].map(() => crowd.createInstance());
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
    const view = crowd.views.of(camera, crowd.matrixWorld, frame++).of(null);
    return Array.from({ length: view.count }, (_, i) => (view.isWhole ? i : view.list.get(i)));
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
  expect([drawn(), crowd.views.layers.isUsed]).toEqual([[0, 1, 2, 3], false]);
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

test('layers follow an instance to another index, and end with it', () => {
  const { crowd, knights, drawn } = createLayered();
  knights[1].layers.set(1);
  crowd.swapInstances(1, 3);
  expect(drawn()).toEqual([0, 1, 2]);
  crowd.setCapacity(20);
  expect(drawn()).toEqual([0, 1, 2]);
  expect(crowd.clone().crowd.layers.test(3, 1, 1)).toBe(false);
  knights[1].dispose();
  expect(crowd.createInstance().instanceId).toBe(3);
  expect(drawn()).toEqual([0, 1, 2, 3]);
  expect(crowd.views.layers.isUsed).toBe(false);
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

test('what is attached and put on layers of its own goes by these, whatever its instances are on', () => {
  const { crowd, knights, scene, camera } = createLayered();
  const sword = crowd.attachToJoint('Base', new PlaneGeometry(8, 8), new MeshBasicMaterial());
  let frame = 0;
  const swords = () => {
    scene.updateMatrixWorld();
    if (!sword.layers.test(camera.layers)) return [];
    const renderer = { info: { render: { frame: frame++ } } } as WebGLRenderer;
    drawnOf(sword).viewed = true;
    const view = lookFor(sword, { renderer, camera, viewer: camera, material: new MeshBasicMaterial() });
    return Array.from({ length: view?.count ?? 0 }, (_, i) => (view?.isWhole ? i : view?.list.get(i)));
  };
  const raycaster = new Raycaster(new Vector3(0.2, 0.3, 5), new Vector3(0, 0, -1));
  const hit = () => {
    raycaster.layers.mask = camera.layers.mask;
    const hits = raycaster.intersectObjects([sword, ...knights], false) as {
      mesh?: object;
      instanceId?: number;
    }[];
    return hits.filter(({ mesh }) => mesh === sword).map(({ instanceId }) => instanceId);
  };
  knights[1].layers.set(1);
  knights[2].layers.enable(1);
  expect([swords(), hit()], 'with their characters').toEqual([
    [0, 2, 3],
    [0, 2, 3],
  ]);
  sword.layers.set(5);
  expect([swords(), hit()]).toEqual([[], []]);
  camera.layers.set(1);
  expect([swords(), hit()], 'nor where single characters are').toEqual([[], []]);
  camera.layers.set(5);
  expect([swords(), hit()]).toEqual([
    [0, 1, 2, 3],
    [0, 1, 2, 3],
  ]);
});
