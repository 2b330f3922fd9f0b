import {
  ArrayCamera,
  type Camera,
  Matrix4,
  OrthographicCamera,
  PerspectiveCamera,
  Quaternion,
  Vector3,
  Vector4,
  WebGLCoordinateSystem,
  WebGPUCoordinateSystem,
} from 'three';
import { expect, test } from 'vitest';
import { CrowdViews } from '../../../lib/views/CrowdViews.js';
import type { View } from '../../../lib/views/View.js';
import { random as createRandom, SEEDS } from '../../support/random.js';
import { ViewedCrowd } from '../../support/viewedCrowd.js';

const CAMERAS = 1000;
const COUNT = 2000;

function listOf({ count, list, isWhole }: View): Set<number> {
  return new Set(Array.from({ length: count }, (_, i) => (isWhole ? i : list.get(i))));
}

/** A camera of any kind: parallel, off its axis, with depths the other way round, or with WebGPU's. */
function randomCamera(random: () => number): Camera {
  const near = 0.01 + random();
  const far = near + 5 + random() * 200;
  const isOrthographic = random() < 0.3;
  const camera = isOrthographic
    ? new OrthographicCamera(
        -25 * random(),
        25 * random() + 0.1,
        20 * random() + 0.1,
        -20 * random(),
        near,
        far,
      )
    : new PerspectiveCamera(5 + random() * 120, 0.3 + random() * 3, near, far);
  camera.coordinateSystem = random() < 0.4 ? WebGPUCoordinateSystem : WebGLCoordinateSystem;
  (camera as { _reversedDepth?: boolean })._reversedDepth = random() < 0.3;
  if (random() < 0.3) camera.setViewOffset(400, 300, random() * 200, random() * 150, 100, 80);
  camera.zoom = 0.5 + random();
  camera.position.set(random() - 0.5, random() - 0.5, random() - 0.5).multiplyScalar(140);
  camera.quaternion.copy(randomTurn(random));
  camera.updateProjectionMatrix();
  camera.updateMatrixWorld();
  return camera;
}

const randomTurn = (random: () => number) =>
  new Quaternion(random() - 0.5, random() - 0.5, random() - 0.5, random() - 0.5).normalize();

/** Where a crowd may be: turned, scaled unequally, mirrored, sheared by what it hangs on. */
function randomPlace(random: () => number): Matrix4 {
  const scale = () => (0.3 + random()) * (random() < 0.3 ? -1 : 1);
  const place = (size: number) =>
    new Matrix4().compose(
      new Vector3(random() - 0.5, random() - 0.5, random() - 0.5).multiplyScalar(size),
      randomTurn(random),
      new Vector3(scale(), scale(), scale()),
    );
  return random() < 0.3 ? place(20).multiply(place(5)) : place(20);
}

/** Whether a point of the world is in the picture, by the camera's own arithmetic alone. */
function isInPicture(camera: Camera, point: Vector3, slack: number): boolean {
  const p = new Vector4(point.x, point.y, point.z, 1)
    .applyMatrix4(camera.matrixWorldInverse)
    .applyMatrix4(camera.projectionMatrix);
  const lowest = camera.coordinateSystem === WebGPUCoordinateSystem || camera.reversedDepth ? 0 : -p.w;
  const reach = p.w * (1 + slack);
  return (
    p.w > 0 && Math.abs(p.x) <= reach && Math.abs(p.y) <= reach && p.z >= lowest - slack * p.w && p.z <= reach
  );
}

/** Points all over the box of poses of an instance, in the world. */
function pointsOf(crowd: ViewedCrowd, id: number, place: Matrix4, random: () => number): Vector3[] {
  const { min, max } = crowd.poses;
  const matrix = crowd.matrix(id).premultiply(place);
  return Array.from({ length: 6 }, () =>
    new Vector3(random(), random(), random()).multiply(max.clone().sub(min)).add(min).applyMatrix4(matrix),
  );
}

test.each(SEEDS)(
  'seed %i: of thousands of cameras and instances, nobody who is in the picture is left out',
  (seed) => {
    const random = createRandom(seed);
    const crowd = new ViewedCrowd(COUNT, random, 90);
    const views = new CrowdViews(crowd);
    let checked = 0;
    let inPicture = 0;
    let seen = 0;
    for (let frame = 0; frame < CAMERAS; frame++) {
      const place = randomPlace(random);
      const isArray = random() < 0.1;
      const cameras = Array.from(
        { length: isArray ? 2 : 1 },
        () => randomCamera(random) as PerspectiveCamera,
      );
      const camera = isArray ? new ArrayCamera(cameras) : cameras[0];
      for (let change = 0; change < 3; change++) {
        const id = Math.floor(random() * COUNT);
        crowd.visibility.setVisible(id, random() < 0.8);
        crowd.move(id);
        crowd.places.attribute.needsUpdate = true;
      }
      const list = listOf(views.of(camera, place, frame).of(null));
      seen += list.size;
      for (let k = 0; k < 60; k++) {
        const id = Math.floor(random() * COUNT);
        if (!crowd.visibility.isDrawn(id)) {
          expect(list.has(id), `${id} is hidden`).toBe(false);
          continue;
        }
        checked++;
        const points = pointsOf(crowd, id, place, random);
        // What is within a hair of the edge may be either.
        if (!points.some((point) => cameras.some((one) => isInPicture(one, point, -1e-4)))) continue;
        inPicture++;
        expect(list.has(id), `frame ${frame}: ${id} is in the picture`).toBe(true);
      }
    }
    console.log(
      `seed ${seed}: ${checked} instances looked at, ${inPicture} in a picture; ${((100 * seen) / CAMERAS / COUNT).toFixed(1)} % seen`,
    );
    expect(inPicture).toBeGreaterThan(1000);
    // A share that says that cameras look into the crowd, but not at all of it.
    expect(seen / CAMERAS / COUNT).toBeLessThan(0.5);
  },
);

test.each(SEEDS)('seed %i: nobody is listed whose sphere lies outside of the picture', (seed) => {
  const random = createRandom(seed + 1);
  const crowd = new ViewedCrowd(500, random, 90);
  const views = new CrowdViews(crowd);
  let outside = 0;
  let worst = 0;
  for (let frame = 0; frame < CAMERAS; frame++) {
    const camera = randomCamera(random);
    const place = randomPlace(random);
    const list = listOf(views.of(camera, place, frame).of(null));
    const clip = new Matrix4()
      .multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse)
      .multiply(place);
    const rows = [0, 1, 2, 3].map((row) => [0, 4, 8, 12].map((column) => clip.elements[column + row]));
    // left, right, bottom and top, in the crowd's space: w ± x and w ± y are not below zero.
    const planes = [0, 1].flatMap((row) =>
      [1, -1].map((sign) => rows[3].map((w, i) => w + sign * rows[row][i])),
    );
    const { spheres } = views.groups;
    for (const id of list) {
      const [x, y, z, radius] = spheres.subarray(id * 4, id * 4 + 4);
      for (const [a, b, c, d] of planes) {
        const distance = (a * x + b * y + c * z + d) / Math.hypot(a, b, c);
        worst = Math.max(worst, (-distance - radius) / (radius + 1));
      }
    }
    outside += crowd.count - list.size;
  }
  // By what is rounded where a camera is far from the origin.
  expect(worst).toBeLessThan(1e-3);
  expect(outside).toBeGreaterThan(CAMERAS * 100);
});
