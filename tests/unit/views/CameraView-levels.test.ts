import { Matrix4, type Object3D, PerspectiveCamera, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { CrowdViews } from '../../../lib/views/CrowdViews.js';
import type { LevelTable } from '../../../lib/views/LevelTable.js';
import type { View } from '../../../lib/views/View.js';
import { random } from '../../support/random.js';
import { ViewedCrowd } from '../../support/viewedCrowd.js';

const add = (levels: LevelTable, distance: number, hysteresis = 0, drawn = true) => {
  const object = drawn ? ({} as Object3D) : null;
  levels.add({ object, distance, screenShare: null, hysteresis, poseRate: 0, attachments: true });
};

const idsOf = ({ count, list, isWhole }: View) =>
  Array.from({ length: count }, (_, i) => (isWhole === true ? i : list.get(i)));

function look(camera: PerspectiveCamera, x: number, y: number, z: number): PerspectiveCamera {
  camera.position.set(x, y, z);
  camera.lookAt(0, 0, 0);
  camera.updateMatrixWorld();
  return camera;
}

const distanceOf = (views: CrowdViews, id: number, camera: PerspectiveCamera, world: Matrix4) =>
  new Vector3()
    .fromArray(views.groups.spheres, id * 4)
    .applyMatrix4(world)
    .distanceTo(camera.position);

test.each([1, 2, 3, 4])(
  'lists of levels are those of brute force, ascending and each instance in one, seed %i',
  (seed) => {
    const next = random(seed);
    const crowd = new ViewedCrowd(300, next, 60);
    const views = new CrowdViews(crowd);
    const starts = [10, 25, 40];
    add(crowd.levels, 10);
    add(crowd.levels, 25);
    add(crowd.levels, 40, 0, seed % 2 === 0);
    const world = new Matrix4().makeRotationY(next()).setPosition(next() * 5, 0, 0);
    const camera = new PerspectiveCamera(60, 1.5, 0.1, 1000);
    const light = new PerspectiveCamera(90, 1, 0.1, 1000);
    for (let frame = 0; frame < 60; frame++) {
      if (next() < 0.3) {
        crowd.move(Math.floor(next() * 300));
        crowd.places.attribute.needsUpdate = true;
      }
      if (next() < 0.3) crowd.visibility.setVisible(Math.floor(next() * 300), next() < 0.5);
      crowd.levels.shadowLevel = frame % 3;
      if (next() < 0.2) views.perObjectFrustumCulled = !views.perObjectFrustumCulled;
      look(camera, (next() - 0.5) * 60, 3, (next() - 0.5) * 60);
      look(light, 30, 50 * next() + 1, 0);
      for (const [from, viewer] of [
        [light, camera],
        [camera, camera],
      ]) {
        const view = views.of(from, world, frame, viewer);
        const undrawn = seed % 2 === 1;
        const single = (undrawn ? [0, 1, 2] : [0, 1, 2, 3]).map((level) => idsOf(view.of(level)));
        const all = idsOf(view.of(null));
        expect(all).toEqual(single.flat().sort((a, b) => a - b));
        single.forEach((ids, level) => {
          expect(ids).toEqual([...ids].sort((a, b) => a - b));
          for (const id of ids) {
            const distance = distanceOf(views, id, viewer, world);
            const own = starts.filter((start) => distance >= start).length;
            const shadow = Math.min(own + crowd.levels.shadowLevel, undrawn ? 2 : 3);
            const expected = from === camera || (undrawn && own === 3) ? own : shadow;
            expect(level).toBe(expected);
            expect(crowd.visibility.isDrawn(id)).toBe(true);
          }
        });
        if (!views.perObjectFrustumCulled) {
          const ids = Array.from({ length: 300 }, (_, id) => id);
          const far = (id: number) => undrawn && distanceOf(views, id, viewer, world) >= 40;
          expect(all).toEqual(ids.filter((id) => crowd.visibility.isDrawn(id) && !far(id)));
        }
      }
    }
  },
);

test('shadows change when what casts them does, whoever asks first', () => {
  const crowd = new ViewedCrowd(50, random(7), 40);
  const views = new CrowdViews(crowd);
  add(crowd.levels, 15, 0.4);
  const world = new Matrix4();
  const camera = new PerspectiveCamera(120, 1, 0.1, 1000);
  const light = look(new PerspectiveCamera(120, 1, 0.1, 1000), 0, 80, 1);
  let both = 0;
  for (let frame = 0; frame < 100; frame++) {
    look(camera, 20 * Math.sin(frame / 5), 5, 30 * Math.cos(frame / 5));
    const seen = views.of(camera, world, frame);
    const lists = [0, 1].map((level) => idsOf(seen.of(level)));
    const shadow = views.of(light, world, frame, camera);
    const shadows = [0, 1].map((level) => new Set(idsOf(shadow.of(level))));
    for (const level of [0, 1]) {
      for (const id of lists[level]) {
        expect(shadows[1 - level].has(id)).toBe(false);
        if (shadows[level].has(id)) both++;
      }
    }
  }
  expect(both).toBeGreaterThan(500);
});

test('a view is not made anew while nothing changes, and is when a level does', () => {
  const crowd = new ViewedCrowd(100, random(3), 40);
  const views = new CrowdViews(crowd);
  add(crowd.levels, 20);
  const camera = look(new PerspectiveCamera(60, 1, 0.1, 1000), 0, 5, 30);
  const world = new Matrix4();
  let copies = 0;
  const view = views.of(camera, world, 0);
  const { list } = view.of(1);
  const assign = list.assign.bind(list);
  list.assign = (ids, count) => {
    copies++;
    assign(ids, count);
  };
  for (let frame = 1; frame < 5; frame++) expect(views.of(camera, world, frame)).toBe(view);
  expect(copies).toBe(0);
  crowd.levels.levels[1].distance = 10;
  views.of(camera, world, 5);
  expect(copies).toBe(1);
  crowd.levels.shadowLevel = 1;
  views.of(camera, world, 6);
  expect(copies).toBe(2);
  camera.zoom = 2;
  camera.updateProjectionMatrix();
  views.of(camera, world, 7);
  expect(copies).toBe(3);
});

test('while all instances are at one level and seen, its list is not needed', () => {
  const crowd = new ViewedCrowd(20, random(5), 4);
  const views = new CrowdViews(crowd);
  add(crowd.levels, 50);
  const camera = look(new PerspectiveCamera(90, 1, 0.1, 1000), 0, 5, 20);
  const states = (frame: number) => {
    const view = views.of(camera, new Matrix4(), frame);
    return [0, 1, null].map((level) => {
      const { isWhole, count } = view.of(level);
      return [isWhole, count];
    });
  };
  expect(states(0)).toEqual([
    [true, 20],
    [false, 0],
    [true, 20],
  ]);
  look(camera, 0, 5, 60);
  expect(states(1)).toEqual([
    [false, 0],
    [true, 20],
    [true, 20],
  ]);
});
