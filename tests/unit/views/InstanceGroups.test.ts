import { Matrix4, Sphere, Vector3 } from 'three';
import { expect, test, vi } from 'vitest';
import { InstanceGroups } from '../../../lib/views/InstanceGroups.js';
import { random as createRandom } from '../../support/random.js';
import { ViewedCrowd } from '../../support/viewedCrowd.js';

const sphereOf = (spheres: Float32Array, index: number) =>
  new Sphere(new Vector3().fromArray(spheres, index * 4), spheres[index * 4 + 3]);

/** Every corner of every instance is in the instance's sphere, that in its group's, and all in the sphere of the crowd. */
function expectAround(groups: InstanceGroups, crowd: ViewedCrowd): void {
  const { min, max } = crowd.poses;
  const corner = new Vector3();
  const whole = groups.boundingSphere(new Sphere());
  const seen = new Set<number>();
  for (let group = 0; group < groups.groupCount; group++) {
    const around = sphereOf(groups.groupSpheres, group);
    const members = groups.order.subarray(group * 64, Math.min(group * 64 + 64, crowd.count));
    for (const id of members) {
      seen.add(id);
      const sphere = sphereOf(groups.spheres, id);
      const matrix = crowd.matrix(id);
      for (let i = 0; i < 8; i++) {
        corner.set(i & 1 ? min.x : max.x, i & 2 ? min.y : max.y, i & 4 ? min.z : max.z).applyMatrix4(matrix);
        if (!sphere.containsPoint(corner)) expect.fail(`corner ${i} of instance ${id} is outside`);
      }
      const reach = sphere.center.distanceTo(around.center) + sphere.radius;
      if (reach > around.radius) expect.fail(`instance ${id} is not within group ${group}`);
      if (sphere.center.distanceTo(whole.center) + sphere.radius > whole.radius * (1 + 1e-12))
        expect.fail(`instance ${id} is not within the crowd`);
    }
  }
  expect(seen.size, 'each instance is in one group').toBe(crowd.count);
}

/** Sum of the radii of groups. */
const sizeOf = ({ groupSpheres, groupCount }: InstanceGroups) =>
  Array.from({ length: groupCount }, (_, group) => groupSpheres[group * 4 + 3]).reduce((a, b) => a + b, 0);

test.each([1, 2, 3])('spheres go around instances and groups as these move, come and go, seed %i', (seed) => {
  const random = createRandom(seed);
  const crowd = new ViewedCrowd(1000, random);
  const groups = new InstanceGroups(crowd);
  groups.update();
  expectAround(groups, crowd);

  const { attribute } = crowd.places;
  for (let round = 0; round < 40; round++) {
    const id = Math.floor(random() * crowd.count);
    crowd.move(id);
    attribute.clearUpdateRanges();
    if (round % 2 === 0) attribute.addUpdateRange(id * 16, 16);
    attribute.needsUpdate = true;
    if (round % 5 === 0) crowd.visibility.setCount(500 + Math.floor(random() * 500));
    groups.update();
  }
  expectAround(groups, crowd);
  crowd.resize(1500);
  crowd.visibility.setCount(1400);
  groups.update();
  expectAround(groups, crowd);
});

test('a matrix that shears and mirrors has a sphere around all that it places', () => {
  const crowd = new ViewedCrowd(2, createRandom(4));
  crowd.setMatrix(0, new Matrix4().makeShear(2, 0, 0.5, 0, -1, 0).scale(new Vector3(1, -3, 1)));
  const groups = new InstanceGroups(crowd);
  groups.update();
  expectAround(groups, crowd);
});

test('groups are of neighbours: each is about as large as its share of the ground', () => {
  const crowd = new ViewedCrowd(6400, createRandom(5));
  const groups = new InstanceGroups(crowd);
  groups.update();
  // Each has a field of 10 by 10 by 10: a corner of that is 9 from its middle, and characters stick out by 2 or 3.
  const mean = sizeOf(groups) / groups.groupCount;
  expect(mean).toBeGreaterThan(9);
  expect(mean).toBeLessThan(16);
});

test('groups are sorted anew once their members have wandered away, and when it is asked for', () => {
  const crowd = new ViewedCrowd(6400, createRandom(6));
  const groups = new InstanceGroups(crowd);
  groups.update();
  const size = sizeOf(groups);
  for (let id = 0; id < crowd.count; id++) crowd.move(id);
  for (let round = 0; round < 31; round++) {
    crowd.places.attribute.needsUpdate = true;
    groups.update();
  }
  expect(sizeOf(groups)).toBeLessThan(size * 1.1);
  for (let id = 0; id < 100; id++) crowd.move(id * 60);
  crowd.places.attribute.needsUpdate = true;
  groups.update();
  expect(sizeOf(groups)).toBeGreaterThan(size * 1.5);
  groups.sort();
  groups.update();
  expect(sizeOf(groups)).toBeLessThan(size * 1.1);
  expectAround(groups, crowd);
});

test('nothing is done when nothing has changed, and all of it when poses reach further', () => {
  const crowd = new ViewedCrowd(100, createRandom(7));
  const groups = new InstanceGroups(crowd);
  groups.update();
  const { version } = groups;
  groups.update();
  expect(groups.version).toBe(version);
  crowd.poses.max.y = 5;
  groups.update();
  expect(groups.version).toBeGreaterThan(version);
  expectAround(groups, crowd);
});

test('without instances or poses there is nothing', () => {
  const none = new InstanceGroups(new ViewedCrowd(0, createRandom(8)));
  none.update();
  expect(none.groupCount).toBe(0);
  expect(none.boundingSphere(new Sphere()).isEmpty()).toBe(true);
  const crowd = new ViewedCrowd(3, createRandom(8));
  crowd.poses.makeEmpty();
  const groups = new InstanceGroups(crowd);
  groups.update();
  expect(groups.boundingSphere(new Sphere()).isEmpty()).toBe(true);
});

test('the sphere around all is found once for all meshes that ask, and anew when someone is hidden', () => {
  const crowd = new ViewedCrowd(500, createRandom(3));
  const groups = new InstanceGroups(crowd);
  groups.update();
  crowd.visibility.setVisible(7, false);
  const asked = vi.spyOn(crowd.visibility, 'isDrawn');
  const [first, second] = [new Sphere(), new Sphere()];
  groups.boundingSphere(first);
  expect(asked).toHaveBeenCalled();
  asked.mockClear();
  expect(groups.boundingSphere(second).equals(first)).toBe(true);
  expect(asked).not.toHaveBeenCalled();
  for (let id = 0; id < 400; id++) crowd.visibility.setVisible(id, false);
  expect(groups.boundingSphere(second).equals(first)).toBe(false);
  for (let id = 400; id < 500; id++) {
    const { spheres } = groups;
    const distance = second.center.distanceTo(new Vector3().fromArray(spheres, id * 4));
    expect(distance + spheres[id * 4 + 3]).toBeLessThanOrEqual(second.radius * (1 + 1e-6));
  }
});
