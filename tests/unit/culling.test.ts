import {
  ArrayCamera,
  Box3,
  BoxGeometry,
  type Camera,
  Frustum,
  LOD,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Object3D,
  OrthographicCamera,
  PerspectiveCamera,
  Quaternion,
  Vector3,
  Vector4,
  WebGLCoordinateSystem,
  WebGPUCoordinateSystem,
} from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { ALL_PIXELS, drawnFor, levelsFor, pixelsFor, sortedFor, sphereOf } from '../support/drawnFor.js';
import { orderOf } from '../support/features.js';
import { addLevel, levelsOf } from '../support/levels.js';
import { bakeCharacter, createLevel, getViewInfo, SkinnedInstancedMesh } from '../support/library.js';
import { random as createRandom, SEEDS } from '../support/random.js';
import { createStick } from '../support/stick.js';

type Random = () => number;

/** A box on the ground, of so many triangles and the stick's one. */
function createBox(segments = 1): Object3D {
  const { root, bones } = createStick();
  bones[0].add(
    new Mesh(
      new BoxGeometry(1, 2, 1, segments, segments, segments).translate(0, 1, 0),
      new MeshBasicMaterial(),
    ),
  );
  return root;
}

const trianglesOf = (segments: number) => 12 * segments ** 2 + 1;

const turn = (random: Random) =>
  new Quaternion(random() - 0.5, random() - 0.5, random() - 0.5, random() - 0.5).normalize();

const place = (random: Random, size: number) =>
  new Matrix4().compose(
    new Vector3(random() - 0.5, (random() - 0.5) / 10, random() - 0.5).multiplyScalar(size),
    turn(random),
    new Vector3(0.5 + random(), 0.5 + random(), 0.5 + random()),
  );

function createCrowd(random: Random, count: number, size: number, segments = 1): SkinnedInstancedMesh {
  const crowd = new SkinnedInstancedMesh(bakeCharacter(createBox(segments), []), count);
  for (let id = 0; id < count; id++) crowd.setMatrixAt(id, place(random, size));
  return crowd;
}

/** Puts a crowd somewhere: turned, scaled unequally, mirrored, sheared by what it hangs on. */
function placeAnywhere(crowd: Object3D, random: Random): void {
  const scale = () => (0.3 + random()) * (random() < 0.3 ? -1 : 1);
  const somewhere = (size: number) =>
    new Matrix4().compose(
      new Vector3(random() - 0.5, random() - 0.5, random() - 0.5).multiplyScalar(size),
      turn(random),
      new Vector3(scale(), scale(), scale()),
    );
  crowd.matrixAutoUpdate = false;
  crowd.matrix.copy(random() < 0.3 ? somewhere(20).multiply(somewhere(5)) : somewhere(20));
  crowd.matrixWorldNeedsUpdate = true;
}

/** A camera of any kind: parallel, off its axis, with depths the other way round, or with WebGPU's. */
function anyCamera(random: Random): PerspectiveCamera {
  const near = 0.01 + random();
  const far = near + 5 + random() * 200;
  const camera = (
    random() < 0.3
      ? new OrthographicCamera(
          -25 * random(),
          25 * random() + 0.1,
          20 * random() + 0.1,
          -20 * random(),
          near,
          far,
        )
      : new PerspectiveCamera(5 + random() * 120, 0.3 + random() * 3, near, far)
  ) as PerspectiveCamera;
  camera.coordinateSystem = random() < 0.4 ? WebGPUCoordinateSystem : WebGLCoordinateSystem;
  (camera as { _reversedDepth?: boolean })._reversedDepth = random() < 0.3;
  if (random() < 0.3) camera.setViewOffset(400, 300, random() * 200, random() * 150, 100, 80);
  camera.zoom = 0.5 + random();
  camera.position.set(random() - 0.5, random() - 0.5, random() - 0.5).multiplyScalar(140);
  camera.quaternion.copy(turn(random));
  camera.updateProjectionMatrix();
  camera.updateMatrixWorld();
  return camera;
}

/** A camera that looks at the middle from somewhere. */
function createCamera(random: Random, size = 80): PerspectiveCamera {
  return look(new PerspectiveCamera(60, 1.5, 0.1, 1000), (random() - 0.5) * size, 3, (random() - 0.5) * size);
}

function look<T extends Camera>(camera: T, x: number, y: number, z: number): T {
  camera.position.set(x, y, z);
  camera.lookAt(0, 0, 0);
  camera.updateMatrixWorld();
  return camera;
}

/** Whether a point of the world is in the picture, by the camera's own arithmetic alone. */
function isInPicture(camera: Camera, point: Vector3, slack: number): boolean {
  const p = new Vector4(point.x, point.y, point.z, 1)
    .applyMatrix4(camera.matrixWorldInverse)
    .applyMatrix4(camera.projectionMatrix);
  const lowest = camera.coordinateSystem === WebGPUCoordinateSystem || camera.reversedDepth ? 0 : -p.w;
  const edge = p.w * (1 + slack);
  return (
    p.w > 0 && Math.abs(p.x) <= edge && Math.abs(p.y) <= edge && p.z >= lowest - slack * p.w && p.z <= edge
  );
}

const matrixOf = (crowd: SkinnedInstancedMesh, id: number) => {
  const matrix = new Matrix4();
  crowd.getMatrixAt(id, matrix);
  return matrix.premultiply(crowd.matrixWorld);
};

const distanceOf = (crowd: SkinnedInstancedMesh, id: number, camera: Camera) =>
  sphereOf(crowd, id).center.distanceTo(camera.position);

test.each(SEEDS)('seed %i: of thousands of cameras and instances nobody in a picture is left out', (seed) => {
  const random = createRandom(seed);
  const crowd = createCrowd(random, 1500, 90);
  let inPicture = 0;
  let seen = 0;
  for (let frame = 0; frame < 300; frame++) {
    placeAnywhere(crowd, random);
    const cameras = Array.from({ length: random() < 0.1 ? 2 : 1 }, () => anyCamera(random));
    const changed = Array.from({ length: 3 }, () => Math.floor(random() * crowd.count));
    // Without ranges all may have changed.
    crowd.instanceMatrix.clearUpdateRanges();
    for (const id of changed) {
      crowd.setVisibleAt(id, random() < 0.8).setMatrixAt(id, place(random, 90));
      if (frame % 2 === 0) crowd.instanceMatrix.addUpdateRange(id * 16, 16);
    }
    crowd.instanceMatrix.needsUpdate = true;
    if (frame % 10 === 0) crowd.count = 1000 + Math.floor(random() * 500);
    const list = drawnFor(crowd, cameras.length > 1 ? new ArrayCamera(cameras) : cameras[0]);
    const ids = new Set(list);
    seen += ids.size;
    expect(
      [...ids].sort((a, b) => a - b),
      'each once, in their order',
    ).toEqual(list);
    for (let k = 0; k < 60; k++) {
      const id = k < 3 && changed[k] < crowd.count ? changed[k] : Math.floor(random() * crowd.count);
      if (!crowd.getVisibleAt(id)) {
        expect(ids.has(id), `${id} is hidden`).toBe(false);
        continue;
      }
      const matrix = matrixOf(crowd, id);
      const points = Array.from({ length: 6 }, () =>
        new Vector3(random() - 0.5, 2 * random(), random() - 0.5).applyMatrix4(matrix),
      );
      // What is within a hair of the edge may be either.
      if (!points.some((point) => cameras.some((one) => isInPicture(one, point, -1e-4)))) continue;
      inPicture++;
      expect(ids.has(id), `frame ${frame}: ${id} is in the picture`).toBe(true);
    }
    for (const id of list) expect(id).toBeLessThan(crowd.count);
  }
  expect(inPicture).toBeGreaterThan(200);
  // A share that says that cameras look into the crowd, but not at all of it.
  expect(seen / 300 / 1500).toBeLessThan(0.5);
});

test('who is seen is who has a sphere in the frustum, as three.js tells it', () => {
  const random = createRandom(2);
  const crowd = createCrowd(random, 800, 100);
  crowd.position.set(3, 1, -5);
  crowd.scale.setScalar(2);
  let partly = 0;
  for (let frame = 0; frame < 100; frame++) {
    const camera = anyCamera(random);
    crowd.setMatrixAt(frame, place(random, 100));
    crowd.instanceMatrix.needsUpdate = true;
    const list = drawnFor(crowd, camera);
    const frustum = new Frustum().setFromProjectionMatrix(
      new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse),
      camera.coordinateSystem,
      camera.reversedDepth,
    );
    const expected = Array.from({ length: 800 }, (_, id) => id).filter((id) =>
      frustum.intersectsSphere(sphereOf(crowd, id)),
    );
    const differ = [...expected, ...list].filter((id) => !expected.includes(id) || !list.includes(id));
    // At the very border, where rounding decides.
    expect(differ.length).toBeLessThan(2);
    if (list.length > 0 && list.length < 600) partly++;
  }
  expect(partly).toBeGreaterThan(30);
  const camera = createCamera(random);
  crowd.frustumCulled = false;
  expect(drawnFor(crowd, camera)).toHaveLength(800);
  crowd.frustumCulled = true;
  crowd.perObjectFrustumCulled = false;
  crowd.setVisibleAt(3, false);
  expect(drawnFor(crowd, camera)).toHaveLength(799);
});

test.each(SEEDS)('seed %i: levels are those of LOD, with hysteresis and zoom', (seed) => {
  const random = createRandom(seed);
  const crowd = createCrowd(random, 20, 40);
  crowd.perObjectFrustumCulled = false;
  crowd.scale.setScalar(1.5);
  const lods = Array.from({ length: crowd.count }, () => new LOD());
  for (const start of [0, 4, 9, 9.5, 30]) {
    const hysteresis = 0.5 * random();
    if (start > 0) addLevel(crowd, createLevel(crowd, createBox()), start, hysteresis);
    for (const lod of lods) lod.addLevel(new Object3D(), start, hysteresis);
  }
  drawnFor(crowd, new PerspectiveCamera());
  lods.forEach((lod, id) => {
    lod.position.copy(sphereOf(crowd, id).center);
    lod.updateMatrixWorld(true);
    // three.js begins with all levels visible, and so with the farthest that hysteresis allows.
    for (const one of lod.levels) one.object.visible = false;
  });
  const camera = new PerspectiveCamera();
  const seen = new Set<number>();
  for (let frame = 0; frame < 200; frame++) {
    camera.zoom = 0.5 + 2 * random();
    camera.updateProjectionMatrix();
    look(camera, 30 * random(), 30 * random(), 30 * random());
    const levels = levelsFor(crowd, camera);
    lods.forEach((lod, id) => {
      lod.update(camera);
      expect(levels.findIndex((ids) => ids.includes(id))).toBe(lod.getCurrentLevel());
      seen.add(lod.getCurrentLevel());
    });
  }
  expect(seen.size).toBe(5);
});

test.each([
  ['a perspective camera', new PerspectiveCamera(50, 2)],
  ['an orthographic camera', new OrthographicCamera(-8, 8, 4, -4)],
])('levels by size go by how high the character stands in the picture of %s', (_, camera) => {
  const { root, clips } = createCharacter();
  const { min, max } = new Box3().setFromObject(root, true);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 200);
  crowd.perObjectFrustumCulled = false;
  for (const screenShare of [0.2, 0.05])
    addLevel(crowd, crowd.geometry, { screenShare }).frustumCulled = false;
  crowd.scale.setScalar(2);
  crowd.updateMatrixWorld();
  camera.zoom = 1.5;
  camera.updateProjectionMatrix();
  camera.updateMatrixWorld();
  for (let id = 0; id < 200; id++) {
    const size = [0.03, 0.1, 0.3, 1, 3][id % 5];
    crowd.setMatrixAt(id, new Matrix4().makeScale(size, size, size).setPosition(0, 0, -5 - id / 8));
  }
  const levels = levelsFor(crowd, camera);
  levels.forEach((ids, level) => {
    expect(ids.length).toBeGreaterThan(5);
    for (const id of ids) {
      const { center } = sphereOf(crowd, id);
      center.applyMatrix4(camera.matrixWorldInverse);
      const half = (max.y - min.y) * [0.03, 0.1, 0.3, 1, 3][id % 5];
      const top = center
        .clone()
        .setY(center.y + half)
        .applyMatrix4(camera.projectionMatrix).y;
      const share = top - center.applyMatrix4(camera.projectionMatrix).y;
      expect(share > 0.2 ? 0 : share > 0.05 ? 1 : 2).toBe(level);
    }
  });
});

test.each(SEEDS)('seed %i: sorted crowds have near ones first, or far ones, or go by a function', (seed) => {
  const random = createRandom(seed);
  const crowd = createCrowd(random, 700, 100);
  crowd.position.set(3, 1, 2);
  for (let frame = 0; frame < 40; frame++) {
    const camera = createCamera(random);
    orderOf(crowd).sortObjects = false;
    const plain = drawnFor(crowd, camera);
    orderOf(crowd).sortObjects = true;
    for (const farFirst of [false, true]) {
      const sorted = sortedFor(crowd, camera, farFirst);
      expect([...sorted].sort((a, b) => a - b)).toEqual(plain);
      const depths = sorted.map(
        (id) => sphereOf(crowd, id).center.applyMatrix4(camera.matrixWorldInverse).z * (farFirst ? 1 : -1),
      );
      // Depths are sorted by 24 bits of what a float has.
      for (let i = 1; i < depths.length; i++) expect(depths[i]).toBeGreaterThan(depths[i - 1] - 1e-4);
    }
    crowd.setVisibleAt(Math.floor(random() * 700), random() < 0.5);
  }
  const camera = createCamera(random);
  const ids = drawnFor(crowd, camera);
  orderOf(crowd).customSort = (list, by) => {
    expect(by).toBe(camera);
    list.sort((a, b) => b.index - a.index);
  };
  expect(sortedFor(crowd, camera)).toEqual([...ids].reverse());
  orderOf(crowd).customSort = (list) => list.sort((a, b) => a.index - b.index);
  expect(sortedFor(crowd, camera)).toEqual(ids);
});

test.each(SEEDS)('seed %i: of those that are seen, the nearest are kept, and by triangles too', (seed) => {
  const random = createRandom(seed);
  const crowd = createCrowd(random, 600, 100);
  let limited = 0;
  for (let frame = 0; frame < 60; frame++) {
    const camera = createCamera(random);
    const viewer = random() < 0.5 ? camera : createCamera(random);
    Object.assign(orderOf(crowd), { maxVisible: Infinity, maxTriangles: Infinity });
    const all = drawnFor(crowd, camera, viewer);
    const max = [0, 1, 50, 899, 2000][Math.floor(random() * 5)];
    if (frame % 2 === 0) orderOf(crowd).maxVisible = max;
    else orderOf(crowd).maxTriangles = max * trianglesOf(1) + 5;
    const some = drawnFor(crowd, camera, viewer);
    expect(some.length).toBe(Math.min(max, all.length));
    const byDistance = all.map((id) => distanceOf(crowd, id, viewer)).sort((a, b) => a - b);
    for (const id of some) {
      expect(all).toContain(id);
      expect(distanceOf(crowd, id, viewer)).toBeLessThanOrEqual(byDistance[some.length - 1] + 1e-4);
    }
    if (some.length < all.length) limited++;
  }
  expect(limited).toBeGreaterThan(10);
});

test('of instances that are equally far no more are kept than may be', () => {
  const crowd = createCrowd(createRandom(1), 10, 0);
  for (let id = 0; id < 10; id++) crowd.setMatrixAt(id, new Matrix4());
  orderOf(crowd).maxVisible = 4;
  expect(drawnFor(crowd, look(new PerspectiveCamera(), 0, 5, 40))).toEqual([0, 1, 2, 3]);
});

test('who is kept does not change as the camera trembles, but does when it moves on', () => {
  const crowd = createCrowd(createRandom(5), 900, 40);
  crowd.perObjectFrustumCulled = false;
  orderOf(crowd).maxVisible = 100;
  const camera = new PerspectiveCamera();
  const seenFrom = (x: number) => drawnFor(crowd, look(camera, x, 5, 40));
  const first = seenFrom(0);
  for (let frame = 1; frame < 40; frame++) expect(seenFrom(0.3 * (frame % 2))).toEqual(first);
  const others = seenFrom(15);
  expect(others.filter((id) => first.includes(id)).length).toBeLessThan(90);
  crowd.setVisibleAt(others[0], false);
  const after = seenFrom(15);
  expect([after.length, after.includes(others[0])]).toEqual([100, false]);
});

const STARTS = [15, 30, 50];
const SEGMENTS = [6, 4, 2, 1];

function createLevels(random: Random, count = 400, size = 100): SkinnedInstancedMesh {
  const crowd = createCrowd(random, count, size, SEGMENTS[0]);
  STARTS.forEach((start, i) => addLevel(crowd, createLevel(crowd, createBox(SEGMENTS[i + 1])), start));
  return crowd;
}

test.each(SEEDS)('seed %i: levels begin sooner by the least step that keeps within maxTriangles', (seed) => {
  const random = createRandom(seed);
  const costs = SEGMENTS.map(trianglesOf);
  const levelAt = (distance: number) => STARTS.filter((start) => distance >= start).length;
  let coarser = 0;
  for (let frame = 0; frame < 30; frame++) {
    const crowd = createLevels(random);
    const camera = createCamera(random, 100);
    const max = Math.round(10 ** (3 + 2 * random()));
    orderOf(crowd).maxTriangles = max;
    const levels = levelsFor(crowd, camera);
    const drawn = levels.flat().sort((a, b) => a - b);
    const cost = levels.reduce((sum, ids, level) => sum + ids.length * costs[level], 0);
    expect(cost).toBeLessThanOrEqual(max);
    // The stick and the box have a material each.
    const drawCalls = 2 * levels.filter(({ length }) => length > 0).length;
    expect(getViewInfo(crowd, camera)).toMatchObject({ triangles: cost, drawCalls });
    orderOf(crowd).maxTriangles = Infinity;
    const wanted = drawnFor(crowd, camera);
    const distances = wanted.map((id) => distanceOf(crowd, id, camera));
    const costBy = (factor: number) => distances.reduce((sum, far) => sum + costs[levelAt(far * factor)], 0);
    let step = 0;
    while (step < 100 && costBy(1.1 ** step) > max) step++;
    if (step > 0 && step < 100) coarser++;
    if (step < 100) expect(drawn).toEqual(wanted);
    else expect(cost).toBeGreaterThan(max - costs[3]);
    levels.forEach((ids, level) => {
      for (const id of ids) {
        const distance = distanceOf(crowd, id, camera) * 1.1 ** step;
        if (STARTS.every((start) => Math.abs(distance - start) > 1e-3)) expect(levelAt(distance)).toBe(level);
      }
    });
  }
  expect(coarser).toBeGreaterThan(0);
});

test('levels do not go to and fro as the camera trembles, and come back when there is room', () => {
  const random = createRandom(5);
  const crowd = createLevels(random);
  const camera = createCamera(random);
  const triangles = () => {
    drawnFor(crowd, camera);
    return getViewInfo(crowd, camera)?.triangles as number;
  };
  const free = triangles();
  orderOf(crowd).maxTriangles = Math.round(free / 3);
  const { x, y, z } = camera.position;
  const changes = new Set<string>();
  for (let frame = 0; frame < 50; frame++) {
    const by = (random() - 0.5) * 1e-4;
    look(camera, x + by, y + by, z + by);
    expect(triangles()).toBeLessThanOrEqual(free / 3);
    changes.add(JSON.stringify(getViewInfo(crowd, camera)?.levels));
  }
  expect(changes.size).toBeLessThanOrEqual(2);
  orderOf(crowd).maxTriangles = free * 1.2;
  expect(triangles()).toBe(free);
});

const shareOf = (pixels: bigint): number => pixels.toString(2).replaceAll('0', '').length / 64;

/** The level of an instance at a distance, and the share of its pixels that is drawn at the next one. */
function fadeAt(distance: number, fade: number): { level: number; share: number } {
  const level = STARTS.filter((start) => distance >= start).length;
  const next = STARTS[level];
  if (next === undefined) return { level, share: 0 };
  const from = Math.max(next * (1 - fade), STARTS[level - 1] ?? 0);
  return { level, share: Math.max(0, (distance - from) / (next - from)) };
}

test.each(SEEDS)('seed %i: fading levels share pixels of an instance by distance, shadows do not', (seed) => {
  const random = createRandom(seed);
  const crowd = createLevels(random, 300, 60);
  const camera = new PerspectiveCamera(60, 1.5, 0.1, 1000);
  const light = look(new PerspectiveCamera(90, 1, 0.1, 1000), 0, 60, 1);
  let fading = 0;
  for (let frame = 0; frame < 15; frame++) {
    levelsOf(crowd).dissolve = random() < 0.3 ? 1 : random() * 0.6;
    look(camera, (random() - 0.5) * 60, 3, (random() - 0.5) * 60);
    const levels = pixelsFor(crowd, camera);
    for (let id = 0; id < crowd.count; id++) {
      const at = levels.map((pixels) => pixels.get(id) ?? 0n);
      const shares = at.map(shareOf);
      const sum = at.reduce((one, other) => one | other);
      if (sum === 0n) continue;
      expect([sum, shares.reduce((one, other) => one + other)], 'each pixel once').toEqual([ALL_PIXELS, 1]);
      const { level, share } = fadeAt(distanceOf(crowd, id, camera), levelsOf(crowd).dissolve);
      expect(Math.abs(shares[level] - (1 - share)), `level ${level}`).toBeLessThan(1.01 / 64);
      if (share > 1 / 64 && share < 1) fading++;
    }
    levelsOf(crowd).shadowLevel = frame % 2;
    pixelsFor(crowd, light, camera).forEach((shadows, level) => {
      for (const [id, pixels] of shadows) {
        const { level: own, share } = fadeAt(distanceOf(crowd, id, camera), levelsOf(crowd).dissolve);
        const shown = own + (Math.floor(share * 64) >= 32 ? 1 : 0) + levelsOf(crowd).shadowLevel;
        expect([pixels, level]).toEqual([ALL_PIXELS, Math.min(3, shown)]);
      }
    });
  }
  expect(fading).toBeGreaterThan(20);
});
