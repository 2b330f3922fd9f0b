import { type AnyMotion, breathing, flutter, wind } from 'skinned-instanced-mesh/motion';
import {
  BoxGeometry,
  type BufferGeometry,
  Float32BufferAttribute,
  Group,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  PlaneGeometry,
  Vector3,
} from 'three';
import { describe, expect, test, vi } from 'vitest';
import { SkinnedInstancedMesh } from '../../support/library.js';

/** Red of each vertex, and alpha if the geometry shall have one. */
function paint<T extends BufferGeometry>(geometry: T, red: (y: number) => number, itemSize = 3): T {
  const position = geometry.getAttribute('position');
  const colors = new Float32Array(position.count * itemSize);
  for (let i = 0; i < position.count; i++) colors[i * itemSize] = red(position.getY(i));
  geometry.setAttribute('color', new Float32BufferAttribute(colors, itemSize));
  return geometry;
}

function crowdOf(mesh: Mesh | BufferGeometry, motion: AnyMotion | null = null): SkinnedInstancedMesh {
  const drawn = 'isMesh' in mesh ? mesh : new Mesh(mesh, new MeshBasicMaterial());
  const crowd = SkinnedInstancedMesh.from(new Group().add(drawn), [], 1);
  crowd.setMatrixAt(0, new Matrix4());
  crowd.motion = motion;
  return crowd;
}

/** How far each vertex is moved at most in some seconds. */
function ways(mesh: Mesh | BufferGeometry, motion: AnyMotion): number[] {
  const [crowd, still] = [crowdOf(mesh, motion), crowdOf(mesh)];
  const [vertex, rest] = [new Vector3(), new Vector3()];
  const most = Array<number>(crowd.geometry.getAttribute('position').count).fill(0);
  for (let step = 0; step < 60; step++) {
    crowd.update(0.05);
    for (let i = 0; i < most.length; i++) {
      crowd.getVertexPositionAt(0, i, vertex);
      most[i] = Math.max(most[i], vertex.distanceTo(still.getVertexPositionAt(0, i, rest)));
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

  test.each([
    ['hangs from its top', new PlaneGeometry(2, 2, 4, 4).translate(0, -1, 0)],
    ['lies flat', new PlaneGeometry(2, 2, 4, 4).rotateX(Math.PI / 2)],
  ])('what %s and is painted is moved as far as the strength', (_name, geometry) => {
    const breeze = wind({ strength: 0.3, channel: 'r' });
    const moved = Math.max(
      ...ways(
        paint(geometry, (y) => Math.max(-y / 2, 0.5)),
        breeze,
      ),
    );
    expect(moved).toBeGreaterThan(0.05);
    expect(moved).toBeLessThanOrEqual(breeze.reach);
    expect(breeze.reach).toBeLessThan(0.4);
  });

  test('gusts and turbulence beyond 0 and 1 count as these', () => {
    const moved = (gusts: number, turbulence: number) => ways(tower(2), wind({ gusts, turbulence }));
    expect(moved(-3, -1)).toEqual(moved(0, 0));
    expect(moved(5, 9)).toEqual(moved(1, 1));
    const breeze = wind({ gusts: 5 });
    ways(tower(2), breeze);
    expect(breeze.uniforms.gusts.value, 'what the user set stays').toBe(5);
  });

  test('bounds of crowds that share it go by their own heights, whichever was asked last', () => {
    const breeze = wind({ strength: 0.4 });
    const [grass, trees] = [crowdOf(tower(0.4), breeze), crowdOf(tower(8), breeze)];
    const sizes = () =>
      [grass, trees].map((crowd) => crowd.bounds.ofPoses().getSize(new Vector3()).toArray());
    const expected = sizes();
    const vertex = new Vector3();
    for (const last of [grass, trees, grass]) {
      last.getVertexPositionAt(0, 0, vertex);
      expect(sizes()).toEqual(expected);
    }
    for (let step = 0; step < 300; step++) {
      grass.update(0.05);
      trees.getVertexPositionAt(0, 0, vertex);
      const box = grass.bounds.ofPoses();
      for (let i = 0; i < 24; i++)
        expect(box.containsPoint(grass.getVertexPositionAt(0, i, vertex))).toBe(true);
    }
  });
});

test('a rate that is not finite for a while lets time stand still, and it goes on afterwards', () => {
  const breeze = wind();
  const crowd = crowdOf(new BoxGeometry().translate(0, 0.5, 0), breeze);
  const at = () => crowd.getVertexPositionAt(0, 0, new Vector3()).toArray();
  crowd.update(0.4);
  const before = at();
  for (const wavelength of [0, Number.NaN]) {
    breeze.uniforms.wavelength.value = wavelength;
    crowd.update(0.4);
    at();
  }
  breeze.uniforms.wavelength.value = 12;
  expect(at()).toEqual(before);
  crowd.update(0.4);
  expect(at()).not.toEqual(before);
  expect(at().every(Number.isFinite)).toBe(true);
});

test('the centre of a breath may be given later', () => {
  const box = new BoxGeometry();
  const center = new Vector3(0.5, 0.5, 0.5);
  const later = breathing({ depth: 1, speed: 1 });
  later.uniforms.center.value.copy(center);
  later.uniforms.radius.value = 1;
  const moved = ways(box, later);
  expect(Math.max(...moved)).toBeGreaterThan(0.5);
  expect(moved).toEqual(ways(box, breathing({ depth: 1, speed: 1, center, radius: 1 })));
});

test('what is painted for motions and gives way to colours of materials is warned of', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const meshOf = (name: string, color: number, vertexColors: boolean) => {
    const geometry = new BoxGeometry();
    geometry.setAttribute('color', new Float32BufferAttribute(new Float32Array(24 * 3), 3));
    return Object.assign(new Mesh(geometry, new MeshBasicMaterial({ color, vertexColors })), { name });
  };
  const crowd = (mergeMaterials: boolean, vertexColors: boolean) => {
    const root = new Group().add(
      meshOf('Body', 0xffffff, vertexColors),
      meshOf('Cape', 0x0000ff, vertexColors),
    );
    SkinnedInstancedMesh.from(root, [], 1, { mergeMaterials });
  };
  crowd(false, false);
  crowd(true, true);
  expect(warn).not.toHaveBeenCalled();
  crowd(true, false);
  expect(warn.mock.calls.flat().join()).toMatch(/vertex colours of mesh "Cape" .* leave mergeMaterials out/);
  warn.mockRestore();
});
