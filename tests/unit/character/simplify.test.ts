import { MeshoptSimplifier } from 'meshoptimizer';
import {
  Box3,
  BoxGeometry,
  type BufferGeometry,
  InstancedBufferAttribute,
  MeshBasicMaterial,
  PlaneGeometry,
  SphereGeometry,
  Triangle,
  Vector3,
} from 'three';
import { beforeAll, expect, test } from 'vitest';
import type { CrowdMesh } from '../../../lib/crowd/CrowdMesh.js';
import type { Simplifier } from '../../../lib/index.js';
import { describeCharacters, loadCharacter } from '../../support/characters.js';
import { addSimplifiedLevels, levelsOf } from '../../support/levels.js';
import {
  bakeCharacter,
  getVertexPosition,
  SkinnedInstancedMesh,
  simplifyGeometry,
  simplifyGeometryAsync,
} from '../../support/library.js';
import { quantisePositions } from '../../support/quantise.js';
import { random } from '../../support/random.js';
import { createMorphingStick, createStick } from '../../support/stick.js';
import { THOROUGH } from '../../support/thorough.js';

beforeAll(() => MeshoptSimplifier.ready);

/** All that a vertex has, as one text. */
function verticesOf({ attributes }: BufferGeometry): string[] {
  const names = Object.keys(attributes)
    .filter((name) => !name.startsWith('instance'))
    .sort();
  return Array.from({ length: attributes.position.count }, (_, vertex) => {
    return names
      .map((name) => {
        const { itemSize } = attributes[name];
        return Array.from({ length: itemSize }, (_, i) => attributes[name].getComponent(vertex, i)).join();
      })
      .join(' ');
  });
}

function posed(mesh: CrowdMesh, index: number): Vector3[] {
  const { count } = mesh.geometry.getAttribute('position');
  return Array.from({ length: count }, (_, i) => getVertexPosition(mesh, index, i, new Vector3()));
}

/** How far points are from the surface of a posed mesh at most. */
function distanceTo(mesh: CrowdMesh, vertices: readonly Vector3[], points: readonly Vector3[]): number {
  const index = mesh.geometry.index?.array ?? [];
  const triangle = new Triangle();
  const nearest = new Vector3();
  let worst = 0;
  for (const point of points) {
    let least = Infinity;
    for (let i = 0; i < index.length; i += 3) {
      triangle.set(vertices[index[i]], vertices[index[i + 1]], vertices[index[i + 2]]);
      least = Math.min(least, triangle.closestPointToPoint(point, nearest).distanceTo(point));
    }
    worst = Math.max(worst, least);
  }
  return worst;
}

describeCharacters((name) => {
  test('simplified levels have the triangles that were asked for, of vertices that were there, and keep the shape', async () => {
    const { root, clips } = await loadCharacter(name);
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
    const next = random(1);
    const all = new Set(verticesOf(crowd.geometry));
    const total = (crowd.geometry.index?.count ?? 0) / 3;
    const added = addSimplifiedLevels(crowd, MeshoptSimplifier, [
      { ratio: 0.5, distance: 10 },
      { ratio: 0.2, distance: 30, influences: 2 },
    ]);
    expect(levelsOf(crowd).levels.map(({ distance }) => distance)).toEqual([0, 10, 30]);
    expect(added[1].level.influences).toBe(2);

    const restVertices = posed(crowd, 0);
    const size = new Box3().setFromPoints(restVertices).getSize(new Vector3());
    const extent = Math.max(size.x, size.y, size.z);
    for (const { level, error, triangles } of added) {
      const ratio = level.list === 1 << 1 ? 0.5 : 0.2;
      expect(triangles).toBe((level.geometry.index?.count ?? 0) / 3);
      expect(triangles / total).toBeGreaterThan(ratio * 0.95);
      expect(triangles / total).toBeLessThan(ratio * 1.05);
      expect(level.geometry.getAttribute('position').count).toBeLessThan(all.size * 0.9);
      if (level.list === 1 << 1)
        expect(verticesOf(level.geometry).filter((vertex) => !all.has(vertex))).toEqual([]);

      let worst = 0;
      for (const clip of [...clips.keys()].slice(0, THOROUGH ? 2 : 1)) {
        crowd.play(0, clip, { time: clips[clip].duration * 0.4 });
        const points = posed(crowd, 0).filter(() => next() < 12 / restVertices.length);
        worst = Math.max(worst, distanceTo(level, posed(level, 0), points) / extent);
      }
      console.log(
        `${name} at ${ratio}: ${triangles} triangles, error ${error.toExponential(1)}, measured in poses ${worst.toExponential(1)}`,
      );
      expect(error).toBeLessThan(0.1);
      expect(worst).toBeLessThan(3 * error);
    }
  });
});

/** A strip of squares in z = 0, x from 0 to 1 (or further on), bent a little so that it does not become two triangles. */
function stripOf(from: number): BufferGeometry {
  const strip = new PlaneGeometry(1, 1, 16, 16).translate(from + 0.5, 0, 0);
  const { position } = strip.attributes;
  for (let i = 0; i < position.count; i++) position.setZ(i, 0.02 * Math.sin(9 * position.getX(i)));
  return strip;
}

test.each([false, true])('parts stay joined, groups keep their materials (quantised: %s)', (quantises) => {
  const { bones, clips, root, mesh } = createStick();
  mesh.geometry = skinned(stripOf(0));
  const other = mesh.clone();
  other.name = 'Other';
  other.geometry = skinned(stripOf(1));
  other.material = new MeshBasicMaterial({ color: 0xff0000 });
  root.add(other);
  expect(bones).toHaveLength(2);
  if (quantises) quantisePositions(root);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
  expect(crowd.material).toHaveLength(2);
  const [{ level, triangles }] = addSimplifiedLevels(crowd, MeshoptSimplifier, [{ ratio: 0.4, distance: 1 }]);
  const { partIndex } = level.geometry.attributes;
  const border = (part: number) => {
    const found = posed(level, 0).filter(({ x }, i) => partIndex.getX(i) === part && Math.abs(x - 1) < 1e-3);
    return [...new Set(found.map(({ y }) => y.toFixed(3)))].sort();
  };
  expect(border(0)).toHaveLength(17);
  expect(border(0)).toEqual(border(1));
  expect(triangles).toBeLessThan(0.45 * 1024);
  expect(level.geometry.groups.map(({ materialIndex }) => materialIndex)).toEqual([0, 1]);
  for (const { start, count, materialIndex } of level.geometry.groups) {
    for (let i = start; i < start + count; i++) {
      expect(partIndex.getX(level.geometry.index?.getX(i) as number)).toBe(materialIndex);
    }
  }
});

function skinned(geometry: BufferGeometry): BufferGeometry {
  const { count } = geometry.getAttribute('position');
  const { skinIndex, skinWeight } = createStick().mesh.geometry.attributes;
  const all = (source: typeof skinIndex) => {
    const Numbers = source.array.constructor as typeof Float32Array;
    const filled = source.clone();
    filled.array = Numbers.from({ length: count * 4 }, (_, i) => source.array[i % 4]);
    return Object.assign(filled, { count });
  };
  geometry.setAttribute('skinIndex', all(skinIndex));
  geometry.setAttribute('skinWeight', all(skinWeight));
  return geometry;
}

test('geometry without an index is welded, and instanced attributes stay behind', () => {
  const geometry = new SphereGeometry(1, 32, 16).toNonIndexed();
  geometry.setAttribute('own', new InstancedBufferAttribute(new Float32Array(4), 1));
  const { geometry: simple, error, triangles } = simplifyGeometry(geometry, 0.25, MeshoptSimplifier);
  expect(triangles).toBeLessThan(250);
  expect(error).toBeLessThan(0.05);
  expect(simple.getAttribute('position').count).toBeLessThan(200);
  expect(Object.keys(simple.attributes).sort()).toEqual(['normal', 'position', 'uv']);
});

test('in slices it is the same, and stops when it is told to', async () => {
  const geometry = new SphereGeometry(1, 32, 16);
  const { vertices, error } = simplifyGeometry(geometry, 0.25, MeshoptSimplifier);
  const shares: number[] = [];
  const sliced = await simplifyGeometryAsync(geometry, 0.25, MeshoptSimplifier, {
    onProgress: (share) => shares.push(share),
  });
  expect(sliced).toMatchObject({ vertices, error });
  expect(shares.at(-1)).toBe(1);
  const stopped = simplifyGeometryAsync(geometry, 0.25, MeshoptSimplifier, {
    signal: AbortSignal.abort('stop'),
  });
  await expect(stopped).rejects.toBe('stop');
});

test('morph targets are kept', () => {
  const { geometry } = createMorphingStick().mesh;
  const { geometry: simple } = simplifyGeometry(geometry, 1, MeshoptSimplifier);
  const [target] = simple.morphAttributes.position ?? [];
  expect(target.name).toBe('Long');
  expect([...target.array].filter((value) => value !== 0)).toEqual([2]);
  expect(simple.morphTargetsRelative).toBe(true);
});

test('what cannot be simplified is an error that says so', () => {
  const geometry = new BoxGeometry();
  const simplify =
    (ratio: number, simplifier: unknown = MeshoptSimplifier) =>
    () =>
      simplifyGeometry(geometry, ratio, simplifier as Simplifier);
  expect(simplify(0)).toThrow('simplifyGeometry: ratio is 0; use a share of the triangles');
  expect(simplify(2)).toThrow('ratio is 2');
  const unready = {
    simplifyWithAttributes() {
      throw new TypeError("Cannot read properties of undefined (reading 'exports')");
    },
  };
  expect(simplify(0.5, unready)).toThrow(
    'the simplifier does not work; await MeshoptSimplifier.ready before',
  );
});
