import { bakeVertexTexture, bakeVertexTextureAsync } from 'skinned-instanced-mesh/vertex-textures';
import {
  BoxGeometry,
  Group,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  Object3D,
  Raycaster,
  Triangle,
  Vector3,
} from 'three';
import { describe, expect, test } from 'vitest';
import { createCoarseCharacter } from '../../support/coarseCharacter.js';
import { addLevel } from '../../support/levels.js';
import {
  AnimationLayers,
  assembleCharacter,
  bakeBoneTexture,
  createLevel,
  getVertexPosition,
  JointAttachment,
  mergeMaterials,
  SkinnedInstancedMesh,
  setBoneTexture,
} from '../../support/library.js';
import { createFlag, createMorphing } from '../../support/vertexSources.js';

const { flag, wave } = createFlag();
const texture = bakeVertexTexture(flag, wave, { name: 'Wave', duration: 1, fps: 20 });
const createCrowd = (count: number) => new SkinnedInstancedMesh(assembleCharacter(flag, texture), count);

test('frames that repeat are stored once', () => {
  // The end of a wave is its beginning, and so is the rest of the clip that goes round twice.
  const twice = bakeVertexTexture(flag, (time) => wave(Math.round(time * 20) / 20), {
    duration: 2,
    fps: 20,
  });
  expect(twice.frameCount).toBe(42);
  expect(twice.vertexData.boxes.length / 6, 'the rest pose, and 20 frames').toBeLessThanOrEqual(22);
  const { root } = createMorphing(1);
  expect(bakeVertexTexture(root, [{ name: 'Still', duration: 3, pose() {} }]).vertexData.boxes).toHaveLength(
    6,
  );
});

test('textures wrap at the size that devices take, or say that they cannot', () => {
  const small = bakeVertexTexture(flag, wave, { duration: 1, fps: 20, maxTextureSize: 64 });
  const { width, height, vertices, boxes } = small.vertexData;
  expect(Math.max(width, height)).toBeLessThanOrEqual(64);
  expect(width * height).toBeGreaterThanOrEqual((vertices * boxes.length) / 6);
  expect(vertices).toBeGreaterThan(width);
  expect(() => small.checkSize(32)).toThrow(/bake it with maxTextureSize: 32/);
  expect(() => bakeVertexTexture(flag, wave, { duration: 1, maxTextureSize: 32 })).toThrow(
    /vertices of all frames, up to .*, need a texture of 32 × \d+, but maxTextureSize is 32; bake fewer clips/,
  );
});

describe('a crowd', () => {
  test('is hit by rays where it is posed, with the normals of the pose', () => {
    const crowd = createCrowd(2);
    crowd.setMatrixAt(1, new Matrix4().makeTranslation(0, 0, 5));
    crowd.play(1, 'Wave', { time: 0.3 });
    crowd.updateMatrixWorld();
    const { index } = crowd.geometry;
    const corners = [60, 61, 62].map((i) =>
      getVertexPosition(crowd, 1, index?.getX(i) as number, new Vector3()),
    );
    const triangle = new Triangle(...(corners as [Vector3, Vector3, Vector3]));
    const middle = triangle.getMidpoint(new Vector3());
    const normal = triangle.getNormal(new Vector3());
    const ray = new Raycaster(middle.clone().addScaledVector(normal, 0.1), normal.clone().negate(), 0, 1);
    const [hit] = ray.intersectObject(crowd);
    expect(hit.instanceId).toBe(1);
    expect((hit as { part?: string }).part).toBe('Flag');
    expect(hit.point.distanceTo(middle)).toBeLessThan(1e-6);
    expect(hit.normal?.dot(normal)).toBeGreaterThan(0.95);
    expect(hit.normal?.z).toBeLessThan(0.999);
  });

  test('of several materials is one draw call, with its vertices in another order', () => {
    const geometry = new BoxGeometry(1, 1, 1);
    const materials = [0xff0000, 0x00ff00].map((color) => new MeshStandardMaterial({ color }));
    const mesh = new Mesh(
      geometry,
      [0, 1, 0, 1, 0, 1].map((i) => materials[i]),
    );
    const root = new Group().add(mesh);
    const baked = bakeVertexTexture(root, (time) => mesh.rotation.set(0, time, 0), { duration: 1 });
    const plain = new SkinnedInstancedMesh(assembleCharacter(root, baked), 1);
    const character = assembleCharacter(root, baked, { mergeMaterials: mergeMaterials() });
    const merged = new SkinnedInstancedMesh(character, 1);
    expect(merged.material).not.toBeInstanceOf(Array);
    for (const crowd of [plain, merged]) crowd.play(0, 0, { time: 0.5 });
    const placesOf = (crowd: SkinnedInstancedMesh) =>
      Array.from({ length: crowd.geometry.getAttribute('position').count }, (_, v) =>
        getVertexPosition(crowd, 0, v, new Vector3())
          .toArray()
          .map((value) => value.toFixed(4))
          .join(),
      ).sort();
    expect(placesOf(merged)).toEqual(placesOf(plain));
  });
});

describe('what vertex textures do not have is refused', () => {
  const crowd = createCrowd(1);
  const other = createMorphing(2);
  const { root, clips } = createCoarseCharacter();
  const cases: [string, () => unknown, RegExp][] = [
    [
      'attachments',
      () => new JointAttachment(crowd, 'Hand', new BoxGeometry(), new MeshStandardMaterial()),
      /no joints/,
    ],
    ['weights', () => crowd.setWeightAt(0, 'Wave', 0.5), /encoding "tracks"/],
    ['layers', () => new AnimationLayers(crowd, [{ name: 'upper' }]), /Layers need poses that are mixed/],
    [
      'other meshes',
      () => new SkinnedInstancedMesh(assembleCharacter(other.root, texture), 1),
      /was baked of other meshes: "Flag" with 91 vertices/,
    ],
    [
      'levels of other meshes',
      () => addLevel(crowd, createLevel(crowd, flag), 10),
      /make levels of the crowd's own geometry/,
    ],
    [
      'bone textures in its place',
      () => setBoneTexture(crowd, bakeBoneTexture(root, clips.slice(0, 1))),
      /another skeleton/,
    ],
    [
      'vertex textures of others',
      () => setBoneTexture(crowd, bakeVertexTexture(other.root, other.clips)),
      /"115 vertices"/,
    ],
    ['a function without an end', () => bakeVertexTexture(flag, wave), /needs options.duration/],
    ['nothing to bake', () => bakeVertexTexture(new Object3D(), []), /No visible mesh/],
  ];
  test.each(cases)('%s', (_, run, message) => {
    expect(run).toThrow(message);
  });
});

test('baking in slices gives the same, and ends when it is told to', async () => {
  const { root, clips } = createMorphing(3);
  const progress: number[] = [];
  const sliced = await bakeVertexTextureAsync(root, clips, {
    fps: 10,
    onProgress: (share) => progress.push(share),
  });
  expect(sliced.vertexData).toEqual(bakeVertexTexture(root, clips, { fps: 10 }).vertexData);
  expect(progress.at(-1)).toBe(1);
  await expect(bakeVertexTextureAsync(root, clips, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/);
});
