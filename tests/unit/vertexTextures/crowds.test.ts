import { MeshoptSimplifier } from 'meshoptimizer';
import {
  BoxGeometry,
  BufferGeometry,
  Group,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  Object3D,
  PlaneGeometry,
  Raycaster,
  Triangle,
  Vector3,
} from 'three';
import 'skinned-instanced-mesh/objects';
import { VertexTexture } from 'skinned-instanced-mesh/vertex-textures';
import { describe, expect, test } from 'vitest';
import { createCoarseCharacter } from '../../support/coarseCharacter.js';
import { BoneTexture, SkinnedInstancedMesh } from '../../support/library.js';
import { createFlag, createMorphing } from '../../support/vertexSources.js';

const { flag, wave } = createFlag();
const texture = VertexTexture.bake(flag, wave, { name: 'Wave', duration: 1, fps: 20 });
const createCrowd = (count: number) => SkinnedInstancedMesh.from(flag, [], count, { boneTexture: texture });

test('frames that repeat are stored once', () => {
  // The end of a wave is its beginning, and so is the rest of the clip that goes round twice.
  const twice = VertexTexture.bake(flag, (time) => wave(Math.round(time * 20) / 20), {
    duration: 2,
    fps: 20,
  });
  expect(twice.frameCount).toBe(42);
  expect(twice.vertexData.boxes.length / 6, 'the rest pose, and 20 frames').toBeLessThanOrEqual(22);
  const { root } = createMorphing(1);
  expect(VertexTexture.bake(root, [{ name: 'Still', duration: 3, pose() {} }]).vertexData.boxes).toHaveLength(
    6,
  );
});

test('textures wrap at the size that devices take, or say that they cannot', () => {
  const small = VertexTexture.bake(flag, wave, { duration: 1, fps: 20, maxTextureSize: 64 });
  const { width, height, vertices, boxes } = small.vertexData;
  expect(Math.max(width, height)).toBeLessThanOrEqual(64);
  expect(width * height).toBeGreaterThanOrEqual((vertices * boxes.length) / 6);
  expect(vertices).toBeGreaterThan(width);
  expect(() => small.checkSize(32)).toThrow(/bake it with maxTextureSize: 32/);
  expect(() => VertexTexture.bake(flag, wave, { duration: 1, maxTextureSize: 32 })).toThrow(
    /vertices of all frames need a texture of 32 × \d+, but maxTextureSize is 32; bake fewer clips/,
  );
});

describe('a crowd', () => {
  test('dispatches events, fades and is written as JSON as others are', () => {
    const crowd = createCrowd(2);
    const marked = texture.clone();
    marked.addMarker('Wave', 0.5, 'gust');
    crowd.boneTexture = marked;
    const heard: string[] = [];
    crowd.addEventListener('marker', ({ instanceId, name }) => heard.push(`${instanceId} ${name}`));
    crowd.addEventListener('loop', ({ instanceId }) => heard.push(`${instanceId} loop`));
    crowd.play(1, 'Wave');
    crowd.update(1.2);
    expect(heard).toEqual(['1 gust', '1 loop']);
    const copy = createCrowd(2);
    copy.playbackFromJSON(JSON.parse(JSON.stringify(crowd.playbackToJSON())));
    const [a, b] = [new Vector3(), new Vector3()];
    expect(copy.getVertexPositionAt(1, 7, a)).toEqual(crowd.getVertexPositionAt(1, 7, b));
    crowd.applyRootMotion(0.1);
  });

  test('mixes two clips while it fades', () => {
    const { root, clips } = createMorphing(4);
    const crowd = SkinnedInstancedMesh.from(root, [], 1, {
      boneTexture: VertexTexture.bake(root, clips, { fps: 10, precision: 'float' }),
    });
    const at = (clip: string, time: number) => {
      crowd.play(0, clip, { time });
      return crowd.getVertexPositionAt(0, 3, new Vector3());
    };
    const wanted = at('Travel', 0.35).lerp(at('Morph', 0.25), 0.25);
    crowd.play(0, 'Travel', { time: 0.1 });
    crowd.crossFadeTo(0, 'Morph', 1);
    crowd.update(0.25);
    expect(crowd.getVertexPositionAt(0, 3, new Vector3()).distanceTo(wanted)).toBeLessThan(1e-6);
  });

  test('shows the nearest frame without interpolation', () => {
    const crowd = createCrowd(2);
    crowd.interpolate = false;
    crowd.play(0, 'Wave', { time: 0.052 });
    crowd.play(1, 'Wave', { time: 0.05 });
    const [a, b] = [new Vector3(), new Vector3()];
    expect(crowd.getVertexPositionAt(0, 7, a)).toEqual(crowd.getVertexPositionAt(1, 7, b));
  });

  test('is hit by rays where it is posed, with the normals of the pose', () => {
    const crowd = createCrowd(2);
    crowd.setMatrixAt(1, new Matrix4().makeTranslation(0, 0, 5));
    crowd.play(1, 'Wave', { time: 0.3 });
    crowd.updateMatrixWorld();
    const { index } = crowd.geometry;
    const corners = [60, 61, 62].map((i) =>
      crowd.getVertexPositionAt(1, index?.getX(i) as number, new Vector3()),
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

  test('lies in its bounds at any time', () => {
    const crowd = createCrowd(1);
    crowd.computeBoundingBox();
    const box = crowd.boundingBox?.clone().expandByScalar(1e-6);
    for (let time = 0; time < 1; time += 0.07) {
      crowd.play(0, 'Wave', { time });
      for (let v = 0; v < texture.vertexCount; v++) {
        expect(box?.containsPoint(crowd.getVertexPositionAt(0, v, new Vector3()))).toBe(true);
      }
    }
    const [, , , , , z] = texture.clips[0].bounds;
    expect(crowd.boundingBox?.max.z).toBeCloseTo(z, 5);
  });

  test('has levels of detail of its own vertices', async () => {
    await MeshoptSimplifier.ready;
    const crowd = createCrowd(1);
    const [{ level }] = crowd.addSimplifiedLevels(MeshoptSimplifier, [{ ratio: 0.3, distance: 10 }]);
    const { geometry } = level;
    const { count } = geometry.getAttribute('position');
    expect(count).toBeLessThan(texture.vertexCount);
    const far = new SkinnedInstancedMesh(geometry, crowd.material, texture, 1);
    for (const one of [crowd, far]) one.play(0, 'Wave', { time: 0.3 });
    const own = Array.from({ length: texture.vertexCount }, (_, v) =>
      crowd.getVertexPositionAt(0, v, new Vector3()),
    );
    for (let v = 0; v < count; v++) {
      const vertex = far.getVertexPositionAt(0, v, new Vector3());
      expect(own.some((other) => other.equals(vertex))).toBe(true);
    }
  });

  test('of several materials is one draw call, with its vertices in another order', () => {
    const geometry = new BoxGeometry(1, 1, 1);
    const materials = [0xff0000, 0x00ff00].map((color) => new MeshStandardMaterial({ color }));
    const mesh = new Mesh(
      geometry,
      [0, 1, 0, 1, 0, 1].map((i) => materials[i]),
    );
    const root = new Group().add(mesh);
    const baked = VertexTexture.bake(root, (time) => mesh.rotation.set(0, time, 0), { duration: 1 });
    const plain = SkinnedInstancedMesh.from(root, [], 1, { boneTexture: baked });
    const merged = SkinnedInstancedMesh.from(root, [], 1, { boneTexture: baked, mergeMaterials: true });
    expect(merged.material).not.toBeInstanceOf(Array);
    for (const crowd of [plain, merged]) crowd.play(0, 0, { time: 0.5 });
    const placesOf = (crowd: SkinnedInstancedMesh) =>
      Array.from({ length: crowd.geometry.getAttribute('position').count }, (_, v) =>
        crowd
          .getVertexPositionAt(0, v, new Vector3())
          .toArray()
          .map((value) => value.toFixed(4))
          .join(),
      ).sort();
    expect(placesOf(merged)).toEqual(placesOf(plain));
  });

  test('can be made of a plain geometry, without normals too', () => {
    const geometry = new PlaneGeometry(1, 1);
    geometry.deleteAttribute('normal');
    const baked = VertexTexture.bake(new Mesh(geometry), [], {});
    const crowd = new SkinnedInstancedMesh(geometry, new MeshStandardMaterial(), baked, 1);
    expect(crowd.geometry.getAttribute('normal').getZ(0)).toBeCloseTo(1);
    expect(crowd.getVertexPositionAt(0, 1, new Vector3()).x).toBeCloseTo(0.5);
  });

  test('has instances as objects', () => {
    const crowd = createCrowd(2);
    const one = crowd.createInstance();
    one.position.set(4, 0, 0);
    one.updateMatrixWorld();
    crowd.play(one.instanceId, 'Wave', { time: 0.4 });
    const [own, other] = [new Vector3(), new Vector3()];
    crowd.play(0, 'Wave', { time: 0.4 });
    crowd.getVertexPositionAt(one.instanceId, 7, own).sub(crowd.getVertexPositionAt(0, 7, other));
    expect(own.toArray()).toEqual([4, 0, 0]);
    // As with all poses that are baked frame by frame.
    expect(() => one.clipAction('Wave')).toThrow(/encoding "tracks"/);
  });
});

describe('what vertex textures do not have is refused', () => {
  const crowd = createCrowd(1);
  const other = createMorphing(2);
  const { root, clips } = createCoarseCharacter();
  const cases: [string, () => unknown, RegExp][] = [
    [
      'attachments',
      () => crowd.attachToJoint('Hand', new BoxGeometry(), new MeshStandardMaterial()),
      /no joints/,
    ],
    [
      'sockets',
      () => crowd.getSocketMatrixAt(0, 0, new Matrix4()),
      /getSocketMatrixAt: a vertex texture has no joints/,
    ],
    ['joints', () => crowd.getSkinningMatrixAt(0, 'Hips', new Matrix4()), /no joints/],
    ['joints by hand', () => crowd.lookAtJointAt(0, 'Head', new Vector3()), /encoding "tracks"/],
    ['weights', () => crowd.setWeightAt(0, 'Wave', 0.5), /encoding "tracks"/],
    [
      'layers',
      () => SkinnedInstancedMesh.from(flag, [], 1, { boneTexture: texture, layers: [{ name: 'upper' }] }),
      /layers need poses that are mixed/,
    ],
    [
      'other meshes',
      () => SkinnedInstancedMesh.from(other.root, [], 1, { boneTexture: texture }),
      /was baked of other meshes: "Flag" with 91 vertices/,
    ],
    [
      'other geometries',
      () => new SkinnedInstancedMesh(new BoxGeometry(), new MeshStandardMaterial(), texture, 1),
      /has 24 vertices, but the vertex texture was baked of 115/,
    ],
    ['levels of other meshes', () => crowd.addLevel(flag, 10), /make levels of the crowd's own geometry/],
    [
      'bone textures in its place',
      () => {
        crowd.boneTexture = BoneTexture.bake(root, clips.slice(0, 1));
      },
      /another skeleton/,
    ],
    [
      'vertex textures of others',
      () => {
        crowd.boneTexture = VertexTexture.bake(other.root, other.clips);
      },
      /"115 vertices"/,
    ],
    ['no motion', () => VertexTexture.bake(flag, 'wave' as never), /is no motion; pass AnimationClips/],
    ['a function without an end', () => VertexTexture.bake(flag, wave), /needs options.duration/],
    ['nothing to bake', () => VertexTexture.bake(new Object3D(), []), /no visible mesh/],
    ['no positions', () => VertexTexture.bake(new Mesh(new BufferGeometry()), []), /no attribute "position"/],
    [
      'positions that are none',
      () => VertexTexture.bake(flag, () => flag.children[0].position.setX(Number.NaN), { duration: 1 }),
      /motion "Motion" puts vertex 0 at NaN/,
    ],
    [
      'normals',
      () => VertexTexture.bake(flag, wave, { duration: 1, normals: 'best' as never }),
      /normals is "best"/,
    ],
  ];
  test.each(cases)('%s', (_, run, message) => {
    expect(run).toThrow(message);
  });
});

test('baking in slices gives the same, and ends when it is told to', async () => {
  const { root, clips } = createMorphing(3);
  const progress: number[] = [];
  const sliced = await VertexTexture.bakeAsync(root, clips, {
    fps: 10,
    onProgress: (share) => progress.push(share),
  });
  expect(sliced.vertexData).toEqual(VertexTexture.bake(root, clips, { fps: 10 }).vertexData);
  expect(progress.at(-1)).toBe(1);
  await expect(VertexTexture.bakeAsync(root, clips, { signal: AbortSignal.abort() })).rejects.toThrow(
    /abort/,
  );
});
