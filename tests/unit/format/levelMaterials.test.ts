import { MeshoptSimplifier } from 'meshoptimizer';
import type { FromOptions } from 'skinned-instanced-mesh';
import {
  bakedCharactersOf,
  SkinnedInstancedMeshExtension,
  writeBoneTexture,
} from 'skinned-instanced-mesh/files';
import {
  AnimationClip,
  type BufferGeometry,
  Group,
  type Material,
  Mesh,
  MeshStandardMaterial,
  QuaternionKeyframeTrack,
  SphereGeometry,
} from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { beforeAll, expect, test } from 'vitest';
import { exportGlb } from '../../support/exportGlb.js';
import { SkinnedInstancedMesh } from '../../support/library.js';

/** Three spheres, of which the first and the last have materials that can be merged. */
async function createSpheres(): Promise<ArrayBuffer> {
  const root = Object.assign(new Group(), { name: 'Root' });
  const body = Object.assign(new Group(), { name: 'Body' });
  root.add(body);
  const add = (name: string, color: number, opacity = 1) => {
    const material = new MeshStandardMaterial({ name, color, opacity, transparent: opacity < 1 });
    const mesh = Object.assign(new Mesh(new SphereGeometry(1, 10, 8), material), { name });
    mesh.position.x = body.children.length * 3;
    body.add(mesh);
  };
  add('Red', 0xff0000);
  add('Glass', 0xffffff, 0.5);
  add('Blue', 0x0000ff);
  const turn = new QuaternionKeyframeTrack('Body.quaternion', [0, 1], [0, 0, 0, 1, 0, 0.6, 0, 0.8]);
  return exportGlb(root, [new AnimationClip('Turn', 1, [turn])]);
}

let plain: ArrayBuffer;

async function load(file: ArrayBuffer) {
  const loader = new GLTFLoader();
  loader.register((parser) => new SkinnedInstancedMeshExtension(parser));
  return loader.parseAsync(file, '');
}

/** A file whose levels were made of a crowd that merges materials or does not. */
async function bakeLevels(mergeMaterials: boolean): Promise<ArrayBuffer> {
  const gltf = await load(plain);
  const { geometry, boneTexture } = SkinnedInstancedMesh.from(gltf, 1, { mergeMaterials });
  const near = SkinnedInstancedMesh.simplify(geometry, 0.4, MeshoptSimplifier);
  const levels = [{ ...near, distance: 10 }];
  return writeBoneTexture(boneTexture, { into: plain, levels, geometry, mergeMaterials }).slice().buffer;
}

/** For each material, by the place in which it is drawn, the parts that have it. */
function partsByMaterial({ groups, index, attributes }: BufferGeometry, material: Material | Material[]) {
  const all = groups.length > 0 ? groups : [{ start: 0, count: index?.count ?? 0, materialIndex: 0 }];
  const found = all.map(({ start, count, materialIndex = 0 }) => {
    const { opacity } = Array.isArray(material) ? material[materialIndex] : material;
    const corners = Array.from({ length: count }, (_, k) => index?.getX(start + k) ?? 0);
    const parts = new Set(corners.map((vertex) => attributes.partIndex.getX(vertex)));
    return [materialIndex, opacity, [...parts].sort()];
  });
  expect(
    all.reduce((sum, { count }) => sum + count, 0),
    'all triangles',
  ).toBe(index?.count);
  return found;
}

beforeAll(async () => {
  await MeshoptSimplifier.ready;
  plain = await createSpheres();
});

const OPTIONS: [baked: boolean, loaded: FromOptions, materials: number][] = [
  [false, {}, 3],
  [false, { mergeMaterials: true }, 2],
  [true, {}, 2],
  [true, { mergeMaterials: false }, 3],
];

test.each(OPTIONS)('levels of materials merged %s, loaded with %o', async (merged, options, materials) => {
  const crowd = SkinnedInstancedMesh.from(await load(await bakeLevels(merged)), 1, options);
  expect(crowd.material).toHaveLength(materials);
  const level = crowd.levels[1].object as unknown as SkinnedInstancedMesh;
  expect(level.material).toBe(crowd.material);
  const wanted = partsByMaterial(crowd.geometry, crowd.material);
  expect(wanted).toHaveLength(materials);
  expect(partsByMaterial(level.geometry, level.material)).toEqual(wanted);
});

test('triangles that lie between materials are an error', async () => {
  const [character] = bakedCharactersOf(await load(await bakeLevels(false)));
  const { levels } = character;
  if (levels === null) throw new Error('no levels');
  const indices = Uint32Array.of(0, 1, levels.vertices - 1);
  const other = { ...character, levels: { ...levels, list: [{ ...levels.list[0], indices }] } };
  expect(() => SkinnedInstancedMesh.from(other, 1)).toThrow(
    /has vertices 0, 1, \d+, which are in no one group of the crowd/,
  );
});
