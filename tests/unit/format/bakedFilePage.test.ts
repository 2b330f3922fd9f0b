import { MeshoptDecoder, MeshoptSimplifier } from 'meshoptimizer';
import {
  bakedCharactersOf,
  SkinnedInstancedMeshExtension,
  writeBoneTexture,
} from 'skinned-instanced-mesh/files';
import { VertexTexture } from 'skinned-instanced-mesh/vertex-textures';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { expect, test } from 'vitest';
import { bakedFile, rebaked } from '../../../demos/file/bakedFile.js';
import { createArm } from '../../support/bakedFiles.js';
import { exportGlb } from '../../support/exportGlb.js';
import { BoneTexture, SkinnedInstancedMesh } from '../../support/library.js';

async function load(file: ArrayBuffer) {
  const loader = new GLTFLoader().setMeshoptDecoder(MeshoptDecoder);
  loader.register((parser) => new SkinnedInstancedMeshExtension(parser));
  return loader.parseAsync(file, '');
}

test('the page for files keeps what a baked file says when it saves it again', async () => {
  await MeshoptSimplifier.ready;
  const { root, clips } = createArm();
  const into = await exportGlb(root, clips);
  const { boneTexture, geometry } = SkinnedInstancedMesh.from(await load(into), 1);
  const near = SkinnedInstancedMesh.simplify(geometry, 0.5, MeshoptSimplifier);
  const file = writeBoneTexture(boneTexture, {
    into,
    name: 'Keeper',
    hiddenParts: ['Sleeve'],
    mergeMaterials: { textures: false },
    geometry,
    levels: [
      { ...near, distance: 5, hysteresis: 0.1, influences: 1 },
      { geometry: null, distance: 50 },
    ],
  });
  const source = file.slice().buffer;
  const gltf = await load(source);
  const [kept] = bakedCharactersOf(gltf);
  const crowd = SkinnedInstancedMesh.from(kept, 1);
  const shown = { root: kept.scene, clips: gltf.animations, source, place: { scene: 0 }, kept };
  const { bytes } = await bakedFile(shown, crowd, true);
  const again = bakedCharactersOf(await load(bytes.slice().buffer));
  expect(again).toHaveLength(1);
  const [{ name, hiddenParts, mergeMaterials, levels, boneTexture: saved }] = again;
  expect(name).toBe('Keeper');
  expect(hiddenParts).toEqual(['Sleeve']);
  expect(mergeMaterials).toEqual({ textures: false });
  expect(levels).toEqual(kept.levels);
  expect(levels?.list.map(({ error }) => error)).toEqual([near.error, undefined]);
  expect(saved.data).toEqual(boneTexture.data);

  // Baked anew, with other options.
  const other = rebaked(kept, BoneTexture.bake(kept.scene, gltf.animations, { encoding: 'matrix', fps: 5 }));
  const anew = SkinnedInstancedMesh.from(other, 1);
  expect(anew.boneTexture.encoding).toBe('matrix');
  expect(anew.levels).toHaveLength(3);
  expect(anew.getPartVisibleAt(0, 'Sleeve')).toBe(false);
  const rewritten = await bakedFile({ ...shown, kept: other }, anew, true);
  const [last] = bakedCharactersOf(await load(rewritten.bytes.slice().buffer));
  expect(last.levels).toEqual(kept.levels);
  expect(last.boneTexture.encoding).toBe('matrix');
});

test('levels of a vertex texture are not those of bones', async () => {
  const { root, clips } = createArm();
  const kept = {
    boneTexture: VertexTexture.bake(root, clips),
    levels: { vertices: 8, positions: null, list: [] },
  };
  const baked = BoneTexture.bake(root, clips);
  expect(rebaked(kept as never, baked).levels).toBe(null);
  expect(rebaked({ ...kept, boneTexture: baked } as never, baked).levels).toBe(kept.levels);
});
