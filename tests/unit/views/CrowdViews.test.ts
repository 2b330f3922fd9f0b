import {
  ArrayCamera,
  type Camera,
  Frustum,
  Matrix4,
  OrthographicCamera,
  PerspectiveCamera,
  Sphere,
  Vector3,
  WebGPUCoordinateSystem,
} from 'three';
import { expect, test } from 'vitest';
import { CrowdViews } from '../../../lib/views/CrowdViews.js';
import type { View } from '../../../lib/views/View.js';
import { random as createRandom } from '../../support/random.js';
import { ViewedCrowd } from '../../support/viewedCrowd.js';

const listOf = ({ count, list, isWhole }: View) =>
  Array.from({ length: count }, (_, i) => (isWhole ? i : list.get(i)));

/** The instances that a camera sees by three.js's own test, asked of each by itself. */
function expectedOf(views: CrowdViews, crowd: ViewedCrowd, camera: Camera, place = new Matrix4()): number[] {
  const cameras = camera instanceof ArrayCamera ? camera.cameras : [camera];
  const ids: number[] = [];
  for (let id = 0; id < crowd.count; id++) {
    const sphere = new Sphere(
      new Vector3().fromArray(views.groups.spheres, id * 4),
      views.groups.spheres[id * 4 + 3],
    );
    const isSeen = cameras.some((one) => {
      const matrix = new Matrix4().multiplyMatrices(one.projectionMatrix, one.matrixWorldInverse);
      const frustum = new Frustum();
      frustum.setFromProjectionMatrix(matrix.multiply(place), one.coordinateSystem, one.reversedDepth);
      return frustum.intersectsSphere(sphere);
    });
    if (isSeen && crowd.visibility.isDrawn(id)) ids.push(id);
  }
  return ids;
}

function randomCamera(random: () => number): Camera {
  const wide = random() < 0.3;
  const camera = wide
    ? new OrthographicCamera(-20 * random(), 20 * random(), 15, -15, 0.1, 200 * random() + 1)
    : new PerspectiveCamera(10 + random() * 100, 0.5 + random() * 2, 0.1, 5 + random() * 200);
  if (random() < 0.3) camera.coordinateSystem = WebGPUCoordinateSystem;
  camera.position.set(random() - 0.5, random() - 0.5, random() - 0.5).multiplyScalar(120);
  camera.lookAt((random() - 0.5) * 40, 0, (random() - 0.5) * 40);
  camera.updateProjectionMatrix();
  camera.updateMatrixWorld();
  return camera;
}

test.each([1, 2])(
  'views list what each camera sees in ascending order, as instances change, seed %i',
  (seed) => {
    const random = createRandom(seed);
    const crowd = new ViewedCrowd(1500, random);
    const views = new CrowdViews(crowd);
    const place = new Matrix4()
      .makeRotationX(random())
      .scale(new Vector3(2, 1, 0.5))
      .setPosition(3, 1, -5);
    let partly = 0;
    for (let frame = 0; frame < 300; frame++) {
      const id = Math.floor(random() * 1000);
      crowd.visibility.setVisible(id, random() < 0.5);
      if (frame % 10 === 0) {
        crowd.move(id);
        crowd.places.attribute.needsUpdate = true;
        crowd.visibility.setCount(1000 + Math.floor(random() * 500));
      }
      const camera = randomCamera(random);
      const list = listOf(views.of(camera, place, frame).of(null));
      const expected = expectedOf(views, crowd, camera, place);
      expect(list).toEqual(expected);
      if (expected.length > 0 && expected.length < 900) partly++;
    }
    expect(partly, 'cameras that see a part').toBeGreaterThan(100);
  },
);

/** A camera in the middle that looks along x. */
function createCamera(turn = 0): PerspectiveCamera {
  const camera = new PerspectiveCamera(50, 1, 0.1, 200);
  look(camera, turn);
  return camera;
}

function look(camera: Camera, turn: number): void {
  camera.rotation.y = turn;
  camera.updateMatrixWorld();
}

const world = new Matrix4();

test('a list is neither made nor sent again as long as camera and crowd stay', () => {
  const crowd = new ViewedCrowd(1000, createRandom(3));
  const views = new CrowdViews(crowd);
  const camera = createCamera();
  const view = views.of(camera, world, 0).of(null);
  const { plain } = view.list.texture;
  const { version } = plain;
  expect(view.count).toBeGreaterThan(50);
  expect(view.isWhole).toBe(false);
  for (let frame = 1; frame < 5; frame++) expect(views.of(camera, world, frame).of(null)).toBe(view);
  expect(plain.version).toBe(version);
  // Seen from a little further on most of the list is the same: only what is not is sent.
  look(camera, 1e-9);
  views.of(camera, world, 6);
  expect(plain.version).toBe(version);
  look(camera, 0.5);
  views.of(camera, world, 7);
  expect(plain.version).toBeGreaterThan(version);
});

test('a camera that looks several ways in a frame has a list for each, and the same ones in the next frame', () => {
  const crowd = new ViewedCrowd(1000, createRandom(4));
  const views = new CrowdViews(crowd);
  const camera = createCamera();
  const round = (frame: number, from: number) =>
    [0, 1, 2, 3, 4, 5].map((turn) => {
      look(camera, from + turn);
      return views.of(camera, world, frame);
    });
  const first = round(0, 0);
  expect(new Set(first).size).toBe(6);
  const versions = first.map((view) => view.of(null).list.texture.plain.version);
  expect(round(1, 0)).toEqual(first);
  expect(first.map((view) => view.of(null).list.texture.plain.version)).toEqual(versions);
  // It has moved: the six are filled anew, and there are no more of them.
  const moved = round(2, 0.1);
  expect(new Set(moved)).toEqual(new Set(first));
  look(camera, 5.1);
  expect(listOf(moved[5].of(null))).toEqual(expectedOf(views, crowd, camera));
});

test('if all are seen the list is left alone; it is needed again once one is hidden', () => {
  const crowd = new ViewedCrowd(100, createRandom(5), 2);
  const views = new CrowdViews(crowd);
  const camera = createCamera();
  camera.position.set(0, 0, 20);
  camera.updateMatrixWorld();
  const view = views.of(camera, world, 0).of(null);
  expect(view).toMatchObject({ count: 100, isWhole: true });
  crowd.visibility.setVisible(7, false);
  views.of(camera, world, 1);
  expect(view).toMatchObject({ count: 99, isWhole: false });
  expect(listOf(view)).not.toContain(7);
});

test('an array of cameras sees what any of them sees', () => {
  const crowd = new ViewedCrowd(500, createRandom(6));
  const views = new CrowdViews(crowd);
  const camera = new ArrayCamera([createCamera(0), createCamera(2)]);
  const { count } = views.of(camera, world, 0).of(null);
  expect(listOf(views.of(camera, world, 0).of(null))).toEqual(expectedOf(views, crowd, camera));
  look(camera.cameras[1], 0);
  expect(views.of(camera, world, 1).of(null).count).toBeLessThan(count);
});

test('bounds that do not hold, and perObjectFrustumCulled = false, let everything be seen', () => {
  const crowd = new ViewedCrowd(500, createRandom(7));
  const views = new CrowdViews(crowd);
  const camera = createCamera();
  expect(views.isUsed).toBe(true);
  expect(views.of(camera, world, 0).of(null).count).toBeLessThan(400);
  crowd.frustumCulled = false;
  expect(views.isUsed).toBe(false);
  expect(views.of(camera, world, 1).of(null)).toMatchObject({ count: 500, isWhole: true });
  crowd.frustumCulled = true;
  views.perObjectFrustumCulled = false;
  expect(views.isUsed).toBe(false);
  // Hidden instances take lists too. Their shaders are kept when it is shown again.
  crowd.visibility.setVisible(3, false);
  expect(views.isUsed).toBe(true);
  expect(views.of(camera, world, 2).of(null)).toMatchObject({ count: 499, isWhole: false });
  crowd.visibility.setVisible(3, true);
  expect(views.isUsed).toBe(true);
});

test('views that nobody asks for any more, and those of another capacity, are let go', () => {
  const crowd = new ViewedCrowd(100, createRandom(8));
  const views = new CrowdViews(crowd);
  const [once, always] = [createCamera(0), createCamera(1)];
  let disposed = 0;
  const watch = (camera: Camera) =>
    views
      .of(camera, world, 0)
      .of(null)
      .list.texture.plain.addEventListener('dispose', () => disposed++);
  watch(once);
  watch(always);
  for (let frame = 1; frame < 400; frame++) views.of(always, world, frame);
  expect(disposed).toBe(1);
  crowd.resize(200);
  crowd.visibility.setCount(200);
  expect(listOf(views.of(always, world, 400).of(null))).toEqual(expectedOf(views, crowd, always));
  expect(disposed).toBe(2);
  views.dispose();
});

test('cameras that are there for a frame only take over the lists of those before', () => {
  const crowd = new ViewedCrowd(500, createRandom(9));
  const views = new CrowdViews(crowd);
  const lists = new Set<View['list']>();
  const always = createCamera(0);
  for (let frame = 0; frame < 200; frame++) {
    const camera = createCamera(frame % 3);
    camera.position.y = frame / 50;
    camera.updateMatrixWorld();
    const view = views.of(camera, world, frame).of(null);
    lists.add(view.list);
    expect(listOf(view)).toEqual(expectedOf(views, crowd, camera));
    expect(listOf(views.of(always, world, frame).of(null))).toEqual(expectedOf(views, crowd, always));
  }
  expect(lists.size).toBeLessThan(40);
});
