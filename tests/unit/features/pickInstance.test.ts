import {
  Box2,
  Box3,
  Matrix4,
  OrthographicCamera,
  PerspectiveCamera,
  Quaternion,
  Sphere,
  Vector2,
  Vector3,
} from 'three';
import { expect, test, vi } from 'vitest';
import {
  pickInstance,
  SkinnedInstance,
  type SkinnedInstancedMesh,
  selectInstances,
} from '../../support/library.js';
import { createCrowd } from '../../support/pace.js';
import { random } from '../../support/random.js';

const HEIGHT = 720;

/** Instances anywhere in a field, of any size; some hidden, deleted, or on a layer of their own. */
function createField(count: number, next: () => number) {
  const crowd = createCrowd(count);
  for (let i = 0; i < count; i++) {
    const turn = new Quaternion().setFromAxisAngle(new Vector3(0, 1, 0), 6.3 * next());
    const place = new Vector3(60 * next() - 30, 4 * next(), 60 * next() - 30);
    crowd.setMatrixAt(i, new Matrix4().compose(place, turn, new Vector3().setScalar(0.3 + next())));
  }
  crowd.position.set(3, -1, 2);
  crowd.rotation.y = 0.7;
  crowd.scale.setScalar(1.3);
  crowd.playAll('Walk', { time: () => next() });
  for (let i = 0; i < count; i += 7) crowd.setVisibleAt(i, false);
  for (let i = 3; i < count; i += 50) crowd.deleteInstance(i);
  const objects = Array.from({ length: 20 }, (_, k) => {
    const object = new SkinnedInstance(crowd);
    object.position.set(2 * k - 20, 0, 0);
    if (k % 3 === 0) object.layers.set(2);
    return object;
  });
  crowd.updateMatrixWorld();
  return { crowd, objects };
}

function createCameras() {
  const tile = new PerspectiveCamera(40, 16 / 9, 0.5, 80);
  tile.setViewOffset(1280, 720, 500, 100, 700, 500);
  const cameras = [
    new PerspectiveCamera(60, 16 / 9, 0.5, 50),
    tile,
    new OrthographicCamera(-16, 16, 9, -9, 1, 60),
  ];
  for (const camera of cameras) {
    camera.position.set(4, 12, 24);
    camera.lookAt(0, 0, 0);
    camera.updateMatrixWorld();
  }
  return cameras;
}

/** What the camera sees of every instance by itself, by three.js's projection: where its sphere is, in pixels. */
function everySphere(
  crowd: SkinnedInstancedMesh,
  objects: readonly SkinnedInstance[],
  camera: ReturnType<typeof createCameras>[number],
) {
  const around = crowd.crowd.boundsOfPoses(new Box3()).getBoundingSphere(new Sphere());
  const right = new Vector3().setFromMatrixColumn(camera.matrixWorld, 1);
  const found = [];
  for (let id = 0; id < crowd.count; id++) {
    const object = objects.find(({ instanceId }) => instanceId === id);
    if (!crowd.visibility.isDrawn(id) || object?.layers.test(camera.layers) === false) continue;
    const matrix = crowd.getMatrixAt(id, new Matrix4());
    const { center, radius } = around.clone().applyMatrix4(matrix).applyMatrix4(crowd.matrixWorld);
    const ahead = -center.clone().applyMatrix4(camera.matrixWorldInverse).z;
    if (ahead <= camera.near || ahead - radius >= camera.far) continue;
    const edge = center.clone().addScaledVector(right, radius).project(camera);
    const { x, y } = center.project(camera);
    found.push({ id, x, y, size: ((edge.y - y) * HEIGHT) / 2, object: object ?? crowd });
  }
  return found;
}

test.each([1, 2, 3])('clicks and boxes find whom brute force finds, in crowds of seed %d', (seed) => {
  const next = random(seed);
  const { crowd, objects } = createField(500, next);
  const somewhere = (size: number) => new Vector2(size * (next() - 0.5), size * (next() - 0.5));
  let [hits, beside, most] = [0, 0, 0];
  for (const camera of createCameras()) {
    const { elements } = camera.projectionMatrix;
    const spheres = everySphere(crowd, objects, camera);
    for (let k = 0; k < 200; k++) {
      const pointer = somewhere(2.4);
      const offs = spheres.map(({ x, y, size, ...one }) => {
        const across = ((x - pointer.x) * HEIGHT * elements[5]) / elements[0] / 2;
        const way = Math.hypot(across, ((y - pointer.y) * HEIGHT) / 2);
        return { ...one, off: way > size ? way - size : way / size - 1 };
      });
      const [best] = offs.sort((a, b) => a.off - b.off);
      const picked = pickInstance(crowd, camera, pointer, { height: HEIGHT });
      expect(picked?.instanceId ?? -1).toBe(best.off <= 22 ? best.id : -1);
      if (picked === null) continue;
      hits++;
      if (picked.pixels > 0) beside++;
      expect(picked.pixels).toBeCloseTo(Math.max(best.off, 0), 1);
      expect(picked.object).toBe(best.object);
    }
    for (let k = 0; k < 100; k++) {
      const rectangle = new Box2().setFromPoints([somewhere(3), somewhere(3)]);
      const within = spheres.filter(({ x, y }) => rectangle.containsPoint(new Vector2(x, y)));
      const ids = selectInstances(crowd, camera, rectangle).sort();
      expect([...ids]).toEqual(within.map(({ id }) => id));
      most = Math.max(most, ids.length);
    }
  }
  expect(hits).toBeGreaterThan(100);
  expect(beside).toBeGreaterThan(10);
  expect(most).toBeGreaterThan(100);
});

test('with triangles, whom the pointer meets goes before whose sphere it is in', () => {
  const crowd = createCrowd(2);
  crowd.setMatrixAt(0, new Matrix4().makeTranslation(0.7, 0, 0));
  crowd.setMatrixAt(1, new Matrix4().makeTranslation(0, 0, -0.5));
  const camera = new PerspectiveCamera(40, 1, 0.1, 100);
  camera.position.set(0, 1, 8);
  camera.updateMatrixWorld();
  const pick = (x: number, y: number, triangles: boolean) =>
    pickInstance(crowd, camera, new Vector2(x, y), { height: HEIGHT, triangles });
  const at = (x: number) => new Vector3(x, 1, -0.3).project(camera).x;
  expect(pick(at(0.1), 0, true)?.instanceId).toBe(1);
  expect(pick(at(0.38), 0, true)).toMatchObject(pick(at(0.38), 0, false) as object);
  expect(pick(0.99, 0.99, true)).toBe(null);
});

test('of 100,000 it looks at few', () => {
  const { crowd } = createField(100_000, random(7));
  const look = vi.spyOn(crowd.visibility, 'isDrawn');
  pickInstance(crowd, createCameras()[0], new Vector2(0.1, -0.2), { height: HEIGHT });
  expect(look.mock.calls.length).toBeGreaterThan(0);
  expect(look.mock.calls.length).toBeLessThan(15_000);
});
