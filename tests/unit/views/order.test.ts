import { type Camera, Matrix4, OrthographicCamera, PerspectiveCamera, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { CrowdViews } from '../../../lib/views/CrowdViews.js';
import type { View } from '../../../lib/views/View.js';
import { random as createRandom, SEEDS } from '../../support/random.js';
import { ViewedCrowd } from '../../support/viewedCrowd.js';

const listOf = ({ count, list, isWhole }: View) =>
  Array.from({ length: count }, (_, i) => (isWhole ? i : list.get(i)));

function createCamera(random: () => number): Camera {
  const camera =
    random() < 0.3
      ? new OrthographicCamera(-30, 30, 20, -20, 0.1, 150)
      : new PerspectiveCamera(30 + random() * 60, 1.5, 0.1, 150);
  camera.position.set(random() - 0.5, random() * 0.2, random() - 0.5).multiplyScalar(80);
  camera.lookAt((random() - 0.5) * 40, 0, (random() - 0.5) * 40);
  camera.updateMatrixWorld();
  return camera;
}

/** Middle of an instance's sphere in the world. */
const middleOf = (views: CrowdViews, id: number, place: Matrix4) =>
  new Vector3().fromArray(views.groups.spheres, id * 4).applyMatrix4(place);

test.each(SEEDS)('seed %i: near ones come first, and in transparent materials far ones', (seed) => {
  const random = createRandom(seed);
  const crowd = new ViewedCrowd(700, random);
  const views = new CrowdViews(crowd);
  const place = new Matrix4()
    .makeRotationY(1)
    .scale(new Vector3(1, 2, 0.5))
    .setPosition(3, 1, 2);
  for (let frame = 0; frame < 40; frame++) {
    const camera = createCamera(random);
    const depth = (id: number) => -middleOf(views, id, place).applyMatrix4(camera.matrixWorldInverse).z;
    views.order.sortObjects = false;
    const seen = views.of(camera, place, frame);
    const plain = listOf(seen.of(null));
    expect(seen.inOrder(null, false, place, views)).toBe(seen.of(null));
    views.order.sortObjects = true;
    const near = listOf(seen.inOrder(null, false, place, views));
    const far = listOf(seen.inOrder(null, true, place, views));
    for (const sorted of [near, far]) expect([...sorted].sort((a, b) => a - b)).toEqual(plain);
    // Depths are sorted by 24 bits of what a float has.
    const slack = 1e-4;
    near.forEach((id, i) => {
      if (i > 0) expect(depth(id)).toBeGreaterThan(depth(near[i - 1]) - slack);
    });
    far.forEach((id, i) => {
      if (i > 0) expect(depth(id)).toBeLessThan(depth(far[i - 1]) + slack);
    });
    crowd.visibility.setVisible(Math.floor(random() * 700), random() < 0.5);
  }
});

test('what is equally far stays in the order of its ids, and nothing is sorted twice', () => {
  const crowd = new ViewedCrowd(50, createRandom(1));
  const at = new Matrix4().makeTranslation(0, 0, -10);
  for (let id = 0; id < 50; id++) crowd.setMatrix(id, at);
  const views = new CrowdViews(crowd);
  views.order.sortObjects = true;
  const camera = new PerspectiveCamera();
  camera.updateMatrixWorld();
  const world = new Matrix4();
  for (const farFirst of [false, true]) {
    const view = views.of(camera, world, 0).inOrder(null, farFirst, world, views);
    expect(listOf(view)).toEqual(Array.from({ length: 50 }, (_, i) => i));
    const { version } = view.list.texture.plain;
    expect(views.of(camera, world, 1).inOrder(null, farFirst, world, views)).toBe(view);
    expect(view.list.texture.plain.version).toBe(version);
  }
});

test('a function may sort in place of that, and another one takes over at once', () => {
  const crowd = new ViewedCrowd(60, createRandom(2), 4);
  const views = new CrowdViews(crowd);
  const camera = new PerspectiveCamera();
  camera.position.z = 30;
  camera.updateMatrixWorld();
  const world = new Matrix4();
  views.order.sortObjects = true;
  let calls = 0;
  views.order.customSort = (list, by) => {
    calls++;
    expect(by).toBe(camera);
    for (const { index, z } of list) {
      expect(z).toBeCloseTo(30 - middleOf(views, index, world).z, 4);
    }
    list.sort((a, b) => b.index - a.index);
  };
  const seen = () => listOf(views.of(camera, world, 0).inOrder(null, false, world, views));
  expect(seen()).toEqual(Array.from({ length: 60 }, (_, i) => 59 - i));
  seen();
  expect(calls).toBe(1);
  // What it goes by may be another thing in each frame.
  views.of(camera, world, 1).inOrder(null, false, world, views);
  expect(calls).toBe(2);
  views.order.customSort = (list) => list.sort((a, b) => a.index - b.index);
  expect(seen()).toEqual(Array.from({ length: 60 }, (_, i) => i));
  views.order.customSort = null;
  expect(seen()[0]).not.toBe(0);
});

test.each(SEEDS)('seed %i: of those that are seen, the nearest are kept', (seed) => {
  const random = createRandom(seed);
  const crowd = new ViewedCrowd(900, random);
  const views = new CrowdViews(crowd);
  const place = new Matrix4()
    .makeRotationY(1)
    .scale(new Vector3(1, 2, 0.5))
    .setPosition(3, 1, 2);
  let limited = 0;
  for (let frame = 0; frame < 60; frame++) {
    const camera = createCamera(random);
    const viewer = random() < 0.5 ? camera : createCamera(random);
    views.order.maxVisible = Infinity;
    const all = listOf(views.of(camera, place, frame, viewer).of(null));
    const max = [0, 1, 50, 899, 2000][Math.floor(random() * 5)];
    views.order.maxVisible = max;
    const some = listOf(views.of(camera, place, frame, viewer).of(null));
    expect(some.length).toBe(Math.min(max, all.length));
    expect([...some].sort((a, b) => a - b)).toEqual(some);
    const eye = new Vector3().setFromMatrixPosition(viewer.matrixWorld);
    const far = (id: number) => middleOf(views, id, place).distanceTo(eye);
    const byDistance = all.map(far).sort((a, b) => a - b);
    for (const id of some) {
      expect(all).toContain(id);
      expect(far(id)).toBeLessThanOrEqual(byDistance[some.length - 1] + 1e-4);
    }
    if (some.length < all.length) limited++;
  }
  expect(limited).toBeGreaterThan(10);
});

test('who is kept does not change as the camera trembles, but does when it moves on', () => {
  const crowd = new ViewedCrowd(900, createRandom(5), 40);
  const views = new CrowdViews(crowd);
  views.order.maxVisible = 100;
  // So that only distances count.
  views.perObjectFrustumCulled = false;
  const camera = new PerspectiveCamera();
  const world = new Matrix4();
  const seenFrom = (x: number, frame: number) => {
    camera.position.set(x, 5, 40);
    camera.updateMatrixWorld();
    return listOf(views.of(camera, world, frame).of(null));
  };
  const first = seenFrom(0, 0);
  expect(first).toHaveLength(100);
  for (let frame = 1; frame < 40; frame++) expect(seenFrom(0.3 * (frame % 2), frame)).toEqual(first);
  const others = seenFrom(15, 50);
  expect(others.filter((id) => first.includes(id)).length).toBeLessThan(90);
  // Who is hidden makes room for another one.
  crowd.visibility.setVisible(others[0], false);
  const after = seenFrom(15, 51);
  expect(after).toHaveLength(100);
  expect(after).not.toContain(others[0]);
});
