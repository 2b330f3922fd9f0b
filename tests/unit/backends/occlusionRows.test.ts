import {
  Matrix4,
  OrthographicCamera,
  PerspectiveCamera,
  Vector3,
  type Vector4,
  WebGPUCoordinateSystem,
} from 'three';
import { expect, test } from 'vitest';
import { DRIFT } from '../../../lib/backends/webgpu/occlusion/hiddenSphere.js';
import { ScreenRows } from '../../../lib/backends/webgpu/occlusion/ScreenRows.js';
import { random } from '../../support/random.js';

const f = Math.fround;

/** A row times a place as shaders compute it. */
function at({ x, y, z, w }: Vector4, place: Vector3): number {
  let sum = f(f(x) * f(place.x));
  sum = f(sum + f(f(y) * f(place.y)));
  sum = f(sum + f(f(z) * f(place.z)));
  return f(sum + f(w));
}

/** Depth of the nearest point of a sphere, as `hiddenSphere` finds it for cameras whose depth goes by distance alone. */
function nearestOf({ z, w, base, slack }: ScreenRows, place: Vector3, radius: number): number {
  const reach = f(f(radius + f(slack.value)) + f(place.length() * DRIFT));
  const [along, away] = [at(z.value, place), at(w.value, place)];
  const length = Math.hypot(w.value.x, w.value.y, w.value.z);
  if (length === 0) return f(along - f(reach * Math.hypot(z.value.x, z.value.y, z.value.z)));
  return f(f(along / f(away - f(reach * length))) + f(base.value));
}

/** How far in front of the camera something of this depth is. */
function distanceOf(camera: PerspectiveCamera | OrthographicCamera, depth: number): number {
  return -new Vector3(0, 0, depth).applyMatrix4(camera.projectionMatrixInverse).z;
}

test.each([
  ['perspective', 0],
  ['perspective', 1_000],
  ['perspective', 10_000],
  ['orthographic', 10_000],
] as const)(
  'a sphere before a %s camera that is %d from the origin is known to some hundredths',
  (kind, far) => {
    const next = random(7);
    const rows = new ScreenRows();
    for (let i = 0; i < 300; i++) {
      // Depth must tell tenths at 30: one near plane for each kind of buffer.
      const isReversed = i % 2 === 1;
      const near = isReversed ? 0.01 : 0.5;
      const camera =
        kind === 'perspective'
          ? new PerspectiveCamera(50, 1.5, near, 200)
          : new OrthographicCamera(-9, 9, 6, -6, near, 200);
      camera.coordinateSystem = WebGPUCoordinateSystem;
      (camera as unknown as { _reversedDepth: boolean })._reversedDepth = isReversed;
      camera.updateProjectionMatrix();
      camera.position.set(next() - 0.5, next() - 0.5, next() - 0.5).setLength(far);
      camera.rotation.set(next() * 6, next() * 6, next() * 6);
      camera.updateMatrixWorld();
      const clip = new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
      rows.set(clip, isReversed ? -1 : 1, camera.matrixWorldInverse, new Matrix4());
      const distance = 5 + 25 * next();
      const place = new Vector3(next() - 0.5, next() - 0.5, -distance).applyMatrix4(camera.matrixWorld);
      // As the matrix of an instance has it.
      place.set(f(place.x), f(place.y), f(place.z));
      const exact = -place.clone().applyMatrix4(camera.matrixWorldInverse).z - 1;
      const depth = nearestOf(rows, place, 1) * (isReversed ? -1 : 1);
      const found = distanceOf(camera, depth);
      // Never farther away than it is, but for what depth itself cannot tell; and not much nearer.
      expect(found).toBeLessThan(exact + (isReversed ? 1e-3 : 5e-4));
      expect(found).toBeGreaterThan(exact - 1e-3 - 6e-6 * far);
    }
  },
);
