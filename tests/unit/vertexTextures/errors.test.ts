import { bakeVertexTexture } from 'skinned-instanced-mesh/vertex-textures';
import { Group, Mesh, MeshBasicMaterial, PlaneGeometry } from 'three';
import { expect, test } from 'vitest';

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
  const pose = (time: number) => (mesh.geometry = time > 0.3 && time < 0.7 ? other : geometry);
  const root = new Group().add(mesh, createMesh('Deck'));
  expect(() => bakeVertexTexture(root, pose, { duration: 1, fps: 4, name: 'Reef' })).toThrow(
    `Motion "Reef" gives mesh "Sail" ${found} vertices (position), it had 9; keep their number`,
  );
  expect(mesh.geometry).toBe(geometry);
});

test.each([
  [{ duration: Number.NaN }, 'has duration NaN; use a finite number of seconds'],
  [{ duration: -1 }, 'has duration -1'],
  [{ duration: 1, name: '' }, 'name of a motion is ""; use one for play to find'],
])('a motion with %j is refused', (options, message) => {
  expect(() => bakeVertexTexture(createMesh('Sail'), still, options)).toThrow(message);
});

test('what does not fit is refused as soon as that is known', () => {
  const mesh = createMesh('Sail');
  let posed = 0;
  const pose = () => mesh.geometry.attributes.position.setX(0, ++posed);
  const options = { duration: 500, fps: 60, maxTextureSize: 16 };
  // 256 texels are 28 frames of 9 vertices, one of which is the rest pose.
  expect(() => bakeVertexTexture(mesh, pose, options)).toThrow(
    '261 vertices of all frames, up to frame 28 of 30001 of motion "Motion", need a texture of 16 × 17',
  );
  expect(posed).toBe(28);
});
