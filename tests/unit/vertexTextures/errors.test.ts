import { VertexTexture } from 'skinned-instanced-mesh/vertex-textures';
import {
  BoxGeometry,
  BufferGeometry,
  Float32BufferAttribute,
  Group,
  Mesh,
  MeshBasicMaterial,
  PlaneGeometry,
} from 'three';
import { afterEach, expect, test, vi } from 'vitest';
import { SkinnedInstancedMesh } from '../../support/library.js';

afterEach(() => vi.restoreAllMocks());

const MATERIAL = new MeshBasicMaterial();
const still = () => {};

function createMesh(name: string, segments = 2): Mesh {
  const mesh = new Mesh(new PlaneGeometry(1, 1, segments, segments), MATERIAL);
  mesh.name = name;
  return mesh;
}

test.each([
  ['more', 3, 16],
  ['fewer', 1, 4],
])('a motion that gives a mesh %s vertices is refused', (_, segments, found) => {
  const mesh = createMesh('Sail');
  const { geometry } = mesh;
  const other = new PlaneGeometry(1, 1, segments, segments);
  const pose = (time: number) => {
    mesh.geometry = time > 0.3 && time < 0.7 ? other : geometry;
  };
  const root = new Group().add(mesh, createMesh('Deck'));
  expect(() => VertexTexture.bake(root, pose, { duration: 1, fps: 4, name: 'Reef' })).toThrow(
    `VertexTexture.bake: motion "Reef" gives mesh "Sail" ${found} vertices (position), it had 9; keep their number`,
  );
  expect(mesh.geometry).toBe(geometry);
});

test('a motion that takes away normals which are asked for is refused', () => {
  const mesh = createMesh('Sail');
  const pose = () => mesh.geometry.deleteAttribute('normal');
  expect(() => VertexTexture.bake(mesh, pose, { duration: 1, normals: 'source' })).toThrow(
    'gives mesh "Sail" 0 vertices (normal), it had 9',
  );
  expect(mesh.geometry.hasAttribute('normal')).toBe(true);
});

test('meshes without vertices are left out', () => {
  const geometry = new BufferGeometry().setAttribute('position', new Float32BufferAttribute([], 3));
  const empty = new Mesh(geometry, MATERIAL);
  expect(() => VertexTexture.bake(empty, [])).toThrow(
    'VertexTexture.bake: no visible mesh with vertices under "Mesh"',
  );
  const root = new Group().add(empty, new Mesh(new BoxGeometry(), MATERIAL));
  const texture = VertexTexture.decode(VertexTexture.bake(root, []).encode());
  expect(texture.vertexCount).toBe(24);
  const crowd = SkinnedInstancedMesh.from(root, [], 1, { boneTexture: texture });
  expect(crowd.geometry.getAttribute('position').count).toBe(24);
});

test.each([
  [
    { duration: '2' as unknown as number },
    'VertexTexture.bake: duration is "2"; use a finite number of seconds',
  ],
  [{ duration: null as unknown as number }, 'duration is null'],
  [{ duration: Number.NaN }, 'duration is NaN'],
  [{ duration: -1 }, 'duration is -1'],
  [{ duration: 1, name: '' }, 'name is ""; use a name for play to find'],
])('a motion with %j is refused', (options, message) => {
  expect(() => VertexTexture.bake(createMesh('Sail'), still, options)).toThrow(message);
});

test('a motion that poses later is refused', () => {
  const options = { duration: 1, name: 'Late' };
  expect(() => VertexTexture.bake(createMesh('Sail'), async () => {}, options)).toThrow(
    'motion "Late" returns a promise; pose(time) has to pose the object before it returns',
  );
});

test('two motions of one name are warned of', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const motion = { name: 'Sway', duration: 1, pose: still };
  const { clips } = VertexTexture.bake(createMesh('Sail'), [
    motion,
    { ...motion },
    { ...motion, name: 'Rest' },
  ]);
  expect(clips).toHaveLength(3);
  expect(warn.mock.calls).toEqual([
    [expect.stringContaining('VertexTexture.bake: more than one motion is named "Sway"; the first is found')],
  ]);
});

test('what does not fit is refused as soon as that is known', () => {
  const mesh = createMesh('Sail');
  let posed = 0;
  const pose = () => mesh.geometry.attributes.position.setX(0, ++posed);
  const options = { duration: 500, fps: 60, maxTextureSize: 16 };
  // 256 texels are 28 frames of 9 vertices, one of which is the rest pose.
  expect(() => VertexTexture.bake(mesh, pose, options)).toThrow(
    'VertexTexture.bake: motion "Motion", up to frame 28 of 30001: 261 vertices of all frames need a texture of 16 × 17',
  );
  expect(posed).toBe(28);
});

test('more frames than anybody could wait for are refused at once, also if all are alike', () => {
  for (const duration of [1e6, 1e30, 1e308]) {
    expect(() => VertexTexture.bake(createMesh('Sail'), still, { duration })).toThrow(
      /^VertexTexture\.bake: .* frames of 3 texels need a texture of .*, but maxTextureSize is 4096/,
    );
  }
});

test('frames are as exact as the guide says', () => {
  const mesh = new Mesh(new BoxGeometry(1, 1, 1, 9, 9, 9), MATERIAL);
  const { position } = mesh.geometry.attributes;
  const rest = position.array.slice();
  const { errors } = VertexTexture.bake(
    mesh,
    (time) =>
      position.array.forEach((_, i) => {
        position.array[i] = rest[i] * (1 + 0.3 * Math.sin(i * 7.1 + time * 3));
      }),
    { duration: 1 },
  );
  expect(errors[0].stored).toBeGreaterThan(1e-5);
  expect(errors[0].stored).toBeLessThan(1 / 75_000);
});
