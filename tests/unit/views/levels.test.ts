import { type Camera, LOD, Matrix4, Object3D, OrthographicCamera, PerspectiveCamera, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { CameraLevels } from '../../../lib/views/CameraLevels.js';
import { LevelTable } from '../../../lib/views/LevelTable.js';
import { random } from '../../support/random.js';

const level = (distance: number, hysteresis = 0, screenShare: number | null = null, drawn = true) => {
  return {
    object: drawn ? new Object3D() : null,
    distance,
    screenShare,
    hysteresis,
    poseRate: 0,
    attachments: true,
  };
};

function update(camera: Camera): void {
  camera.updateMatrixWorld();
  (camera as PerspectiveCamera).updateProjectionMatrix();
}

test.each([1, 2, 3])('levels are those of LOD, with hysteresis and zoom, seed %i', (seed) => {
  const next = random(seed);
  const table = new LevelTable();
  const lods = Array.from({ length: 20 }, () => new LOD());
  const starts = [0, 4, 9, 9.5, 30].map((start) => ({ start, hysteresis: 0.5 * next() }));
  for (const { start, hysteresis } of starts) {
    if (start > 0) table.add(level(start, hysteresis));
    for (const lod of lods) lod.addLevel(new Object3D(), start, hysteresis);
  }
  const crowd = new Matrix4()
    .makeRotationY(next())
    .scale(new Vector3(1.5, 1.5, 1.5))
    .setPosition(1, 2, 3);
  const spheres = new Float32Array(lods.length * 4);
  lods.forEach((lod, id) => {
    const center = new Vector3(next(), next(), next()).subScalar(0.5).multiplyScalar(40);
    spheres.set([...center.toArray(), 1], id * 4);
    lod.position.copy(center.fromArray(spheres, id * 4).applyMatrix4(crowd));
    lod.updateMatrixWorld(true);
    // three.js begins with all levels visible, and so with the farthest that hysteresis allows.
    for (const one of lod.levels) one.object.visible = false;
  });
  const camera = new PerspectiveCamera();
  const levels = new CameraLevels();
  const seen = new Set<number>();
  for (let frame = 0; frame < 200; frame++) {
    camera.position.set(next(), next(), next()).multiplyScalar(30);
    camera.zoom = 0.5 + 2 * next();
    update(camera);
    levels.update(table, camera, crowd, lods.length);
    lods.forEach((lod, id) => {
      lod.update(camera);
      expect(levels.choose(id, spheres)).toBe(lod.getCurrentLevel());
      seen.add(lod.getCurrentLevel());
    });
  }
  expect(seen.size).toBe(5);
});

test.each([
  ['a perspective camera', new PerspectiveCamera(50, 2)],
  ['an orthographic camera', new OrthographicCamera(-8, 8, 4, -4)],
])('levels by size go by the share of the height of the picture of %s', (_, camera) => {
  const table = new LevelTable();
  table.add(level(0, 0, 0.05));
  table.add(level(0, 0, 0.2));
  const crowd = new Matrix4().makeScale(2, 2, 2);
  const levels = new CameraLevels();
  camera.zoom = 1.5;
  const share = (z: number, radius: number) => {
    const center = new Vector3(0, 0, z * 2).applyMatrix4(camera.matrixWorldInverse);
    const top = center.clone().add(new Vector3(0, radius * 2, 0));
    return top.applyMatrix4(camera.projectionMatrix).y - center.applyMatrix4(camera.projectionMatrix).y;
  };
  const seen = new Set<number>();
  for (let z = -1; z > -60; z -= 1.3) {
    for (const radius of [0.03, 0.1, 0.3, 1, 3]) {
      update(camera);
      levels.update(table, camera, crowd, 1);
      const chosen = levels.choose(0, Float32Array.of(0, 0, z, radius));
      const part = share(z, radius);
      expect(chosen).toBe(part > 0.2 ? 0 : part > 0.05 ? 1 : 2);
      seen.add(chosen);
    }
  }
  expect(seen.size).toBe(3);
});

test('shadows are coarser by shadowLevel, but there as long as what casts them', () => {
  const table = new LevelTable();
  table.add(level(5));
  table.add(level(20));
  table.add(level(90, 0, null, false));
  const shadows = () => [0, 1, 2, 3].map((seen) => table.inShadow(seen));
  expect(shadows()).toEqual([0, 1, 2, 3]);
  table.shadowLevel = 1;
  expect(shadows()).toEqual([1, 2, 2, 3]);
  table.shadowLevel = 9;
  expect(shadows()).toEqual([2, 2, 2, 3]);
});

test('what an instance was is kept when there is room for more', () => {
  const table = new LevelTable();
  table.add(level(10, 0.5));
  const camera = new PerspectiveCamera();
  const levels = new CameraLevels();
  const at = (x: number, capacity: number) => {
    levels.update(table, camera, new Matrix4(), capacity);
    return levels.choose(1, Float32Array.of(0, 0, 0, 1, x, 0, 0, 1));
  };
  update(camera);
  expect([at(9, 2), at(10, 2), at(6, 2), at(6, 5), at(4, 5), at(6, 5)]).toEqual([0, 1, 1, 1, 0, 0]);
  table.levels[1].distance = 5;
  expect(at(6, 5)).toBe(1);
});
