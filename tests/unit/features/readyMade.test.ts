import type { Motion } from 'skinned-instanced-mesh';
import {
  BoxGeometry,
  type BufferGeometry,
  Float32BufferAttribute,
  Group,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Vector3,
} from 'three';
import { describe, expect, test } from 'vitest';
import { breathing } from '../../../demos/lib/motions/breathing.js';
import { flutter } from '../../../demos/lib/motions/flutter.js';
import { wind } from '../../../demos/lib/motions/wind.js';
import { bakeCharacter, getVertexPosition, SkinnedInstancedMesh } from '../../support/library.js';
import { moveBy } from '../../support/moveBy.js';

/** Red of each vertex, and alpha if the geometry shall have one. */
function paint<T extends BufferGeometry>(geometry: T, red: (y: number) => number, itemSize = 3): T {
  const position = geometry.getAttribute('position');
  const colors = new Float32Array(position.count * itemSize);
  for (let i = 0; i < position.count; i++) colors[i * itemSize] = red(position.getY(i));
  geometry.setAttribute('color', new Float32BufferAttribute(colors, itemSize));
  return geometry;
}

function crowdOf(mesh: Mesh | BufferGeometry, ...motions: Motion[]): SkinnedInstancedMesh {
  const drawn = 'isMesh' in mesh ? mesh : new Mesh(mesh, new MeshBasicMaterial());
  const crowd = new SkinnedInstancedMesh(bakeCharacter(new Group().add(drawn), []), 1);
  crowd.setMatrixAt(0, new Matrix4());
  moveBy(crowd, ...motions);
  return crowd;
}

/** How far each vertex is moved at most in some seconds. */
function ways(mesh: Mesh | BufferGeometry, motion: Motion): number[] {
  const [crowd, still] = [crowdOf(mesh, motion), crowdOf(mesh)];
  const [vertex, rest] = [new Vector3(), new Vector3()];
  const most = Array<number>(crowd.geometry.getAttribute('position').count).fill(0);
  for (let step = 0; step < 60; step++) {
    crowd.update(0.05);
    for (let i = 0; i < most.length; i++) {
      getVertexPosition(crowd, 0, i, vertex);
      most[i] = Math.max(most[i], vertex.distanceTo(getVertexPosition(still, 0, i, rest)));
    }
  }
  return most;
}

describe.each([
  ['flutter', () => flutter({ strength: 0.5, speed: 2 })],
  ['wind', () => wind({ strength: 0.5, channel: 'r' })],
  ['breathing', () => breathing({ depth: 0.5, speed: 1, channel: 'r' })],
])('%s by vertex colours', (_name, make) => {
  test.each([3, 4])('goes by the paint, of %i numbers a vertex', (itemSize) => {
    const moved = (red: number) =>
      Math.max(
        ...ways(
          paint(new BoxGeometry(), () => red, itemSize),
          make(),
        ),
      );
    expect(moved(0)).toBe(0);
    expect(moved(1)).toBeGreaterThan(0.2);
  });
});

describe('wind', () => {
  const tower = (height: number) =>
    new BoxGeometry(height / 8, height, height / 8).translate(0, height / 2, 0);

  test('goes by how high an instance is, however it was modelled', () => {
    const plain = new Mesh(tower(8));
    const inCentimetres = new Mesh(tower(800));
    inCentimetres.scale.setScalar(0.01);
    const lying = new Mesh(tower(8).rotateX(Math.PI / 2));
    lying.rotation.x = -Math.PI / 2;
    const expected = ways(plain, wind());
    expect(Math.max(...expected)).toBeGreaterThan(0.2);
    expect(Math.min(...expected)).toBe(0);
    for (const other of [inCentimetres, lying]) {
      const moved = ways(other, wind());
      moved.forEach((way, i) => expect(way).toBeCloseTo(expected[i], 4));
    }
  });
});
