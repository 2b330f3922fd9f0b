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
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import {
  bakeCharacter,
  pickInstance,
  SkinnedInstance,
  SkinnedInstancedMesh,
  selectInstances,
} from '../../support/library.js';
import { random } from '../../support/random.js';

const { root, clips } = createCharacter({ detail: 0.2 });
const character = bakeCharacter(root, clips);
const HEIGHT = 720;

/** Instances anywhere in a field, of any size; some hidden, deleted, or on a layer of their own. */
function createCrowd(count: number, seed: number) {
  const next = random(seed);
  const crowd = new SkinnedInstancedMesh(character, count);
  const at = new Matrix4();
  const turn = new Quaternion();
  for (let i = 0; i < count; i++) {
    turn.setFromAxisAngle(new Vector3(0, 1, 0), 6.3 * next());
    const place = new Vector3(60 * next() - 30, 4 * next(), 60 * next() - 30);
    crowd.setMatrixAt(i, at.compose(place, turn, new Vector3().setScalar(0.3 + next())));
  }
  crowd.position.set(3, -1, 2);
  crowd.rotation.y = 0.7;
  crowd.scale.setScalar(1.3);
  crowd.updateMatrixWorld();
  crowd.playAll('Walk', { time: () => next() });
  for (let i = 0; i < count; i += 7) crowd.setVisibleAt(i, false);
  for (let i = 3; i < count; i += 50) crowd.deleteInstance(i);
  const objects = Array.from({ length: 20 }, (_, k) => {
    const object = new SkinnedInstance(crowd);
    object.position.set(2 * k - 20, 0, 0);
    if (k % 3 === 0) object.layers.set(2);
    crowd.add(object);
    object.updateMatrixWorld();
    return object;
  });
  crowd.updateMatrixWorld();
  return { crowd, objects };
}

function createCameras() {
  const wide = new PerspectiveCamera(60, 16 / 9, 0.5, 50);
  const tile = new PerspectiveCamera(40, 16 / 9, 0.5, 80);
  tile.setViewOffset(1280, 720, 500, 100, 700, 500);
  const flat = new OrthographicCamera(-16, 16, 9, -9, 1, 60);
  for (const camera of [wide, tile, flat]) {
    camera.position.set(4, 12, 24);
    camera.lookAt(0, 0, 0);
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
  }
  return [wide, tile, flat];
}

type AnyCamera = ReturnType<typeof createCameras>[number];

/** What the camera sees of every instance by itself, by three.js's projection: where its sphere is, in pixels. */
function everySphere(crowd: SkinnedInstancedMesh, camera: AnyCamera, isOff: (id: number) => boolean) {
  const around = crowd.crowd.boundsOfPoses(new Box3()).getBoundingSphere(new Sphere());
  const right = new Vector3().setFromMatrixColumn(camera.matrixWorld, 1);
  const matrix = new Matrix4();
  const found = [];
  for (let id = 0; id < crowd.count; id++) {
    if (crowd.crowd.visibility.isDeleted(id) || !crowd.getVisibleAt(id) || isOff(id)) continue;
    crowd.getMatrixAt(id, matrix);
    const { center, radius } = around.clone().applyMatrix4(matrix).applyMatrix4(crowd.matrixWorld);
    const ahead = -center.clone().applyMatrix4(camera.matrixWorldInverse).z;
    if (ahead <= camera.near || ahead - radius >= camera.far) continue;
    const edge = center.clone().addScaledVector(right, radius).project(camera);
    const { x, y } = center.project(camera);
    found.push({ id, x, y, size: ((edge.y - y) * HEIGHT) / 2 });
  }
  return found;
}

test.each([1, 2, 3])('clicks and boxes find whom brute force finds, in crowds of seed %d', (seed) => {
  const next = random(seed);
  const { crowd, objects } = createCrowd(500, seed);
  const found = { on: 0, beside: 0, within: 0 };
  for (const camera of createCameras()) {
    const { elements } = camera.projectionMatrix;
    const isOff = (id: number) =>
      objects.some((one) => one.instanceId === id && !one.layers.test(camera.layers));
    const spheres = everySphere(crowd, camera, isOff);
    for (let k = 0; k < 200; k++) {
      const corner = () => new Vector2(2.4 * next() - 1.2, 2.4 * next() - 1.2);
      const pointer = corner();
      const offs = spheres.map(({ id, x, y, size }) => {
        const across = ((x - pointer.x) * HEIGHT * elements[5]) / elements[0] / 2;
        const way = Math.hypot(across, ((y - pointer.y) * HEIGHT) / 2);
        return { id, off: way > size ? way - size : way / size - 1 };
      });
      const [best] = offs.sort((a, b) => a.off - b.off);
      const picked = pickInstance(crowd, camera, pointer, { height: HEIGHT });
      expect(picked?.instanceId ?? -1).toBe(best.off <= 22 ? best.id : -1);
      if (picked !== null) {
        found[picked.pixels > 0 ? 'beside' : 'on']++;
        expect(picked.pixels).toBeCloseTo(Math.max(best.off, 0), 1);
        expect(picked.object).toBe(objects.find(({ instanceId }) => instanceId === best.id) ?? crowd);
      }
      const rectangle = new Box2().setFromPoints([pointer, corner()]);
      const within = spheres.filter((one) => rectangle.containsPoint(one as unknown as Vector2));
      // Dragged to any side.
      const dragged = k % 2 === 0 ? rectangle : new Box2(rectangle.max, rectangle.min);
      const ids = selectInstances(crowd, camera, dragged).sort();
      expect([...ids]).toEqual(within.map(({ id }) => id));
      found.within = Math.max(found.within, ids.length);
    }
  }
  expect(Math.min(found.on, 10 * found.beside, found.within)).toBeGreaterThan(100);
});

test('with triangles, whom the pointer meets goes before whose sphere it is in', () => {
  const crowd = new SkinnedInstancedMesh(character, 2);
  crowd.setMatrixAt(0, new Matrix4().makeTranslation(0.7, 0, 0));
  crowd.setMatrixAt(1, new Matrix4().makeTranslation(0, 0, -0.5));
  const camera = new PerspectiveCamera(40, 1, 0.1, 100);
  camera.position.set(0, 1, 8);
  camera.updateMatrixWorld();
  const { x } = new Vector3(0.1, 1, -0.3).project(camera);
  const pick = (options: object) => pickInstance(crowd, camera, new Vector2(x, 0), options)?.instanceId;
  expect(pick({ height: HEIGHT, triangles: true })).toBe(1);
});
