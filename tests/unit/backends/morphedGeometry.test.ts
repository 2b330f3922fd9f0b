import { BufferGeometry, Float32BufferAttribute } from 'three';
import { beforeEach, expect, test } from 'vitest';
import { keepMorphTargets, morphedGeometry } from '../../../lib/backends/webgpu/morphedGeometry.js';

const target = () => new Float32BufferAttribute([0, 0, 0], 3);

/** Of each test its own: what geometries share of them is kept. */
let smile = target();
let frown = target();
beforeEach(() => {
  [smile, frown] = [target(), target()];
});

function morphing(...position: Float32BufferAttribute[]): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.morphAttributes.position = position;
  return geometry;
}

/** How many listen to an event of a geometry. */
const listeners = (geometry: BufferGeometry, event: string): number =>
  (geometry as unknown as { _listeners?: Record<string, unknown[]> })._listeners?.[event]?.length ?? 0;

test('geometries whose targets begin alike and then differ do not take turns', () => {
  const geometries = [morphing(smile), morphing(smile, frown), morphing(smile, frown)];
  const [short, long, same] = geometries.map(morphedGeometry);
  expect(short).not.toBe(long);
  expect(same).toBe(long);
  for (let frame = 0; frame < 3; frame++) {
    for (const geometry of geometries) keepMorphTargets(geometry);
  }
  expect(geometries.map(morphedGeometry)).toEqual([short, long, long]);
  expect(geometries.map((geometry) => listeners(geometry, 'dispose'))).toEqual([1, 1, 1]);
  let freed = 0;
  long.addEventListener('dispose', () => freed++);
  geometries[1].dispose();
  expect(freed).toBe(0);
  geometries[2].dispose();
  expect(freed).toBe(1);
});

test('a geometry that is given other targets shares those from then on', () => {
  const geometry = morphing(smile);
  const first = morphedGeometry(geometry);
  geometry.morphAttributes = { position: [smile, frown] };
  const second = morphedGeometry(geometry);
  expect(second).not.toBe(first);
  expect(morphedGeometry(morphing(smile))).toBe(first);
  expect(morphedGeometry(morphing(smile, frown))).toBe(second);
});
