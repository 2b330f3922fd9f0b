import { MeshoptDecoder, MeshoptEncoder, MeshoptSimplifier } from 'meshoptimizer';
import { SkinnedInstancedMeshExtension, writeCharacter } from 'skinned-instanced-mesh/files';
import { Box3, Matrix4, type Mesh, MeshStandardMaterial, Vector3 } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { describe, expect, test } from 'vitest';
import { TWINS } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { crowdOfFile } from '../support/crowdArguments.js';
import { drawingOf } from '../support/drawings.js';
import { exportGlb } from '../support/exportGlb.js';
import { createKnight } from '../support/knight.js';
import { addLevel, levelsOf } from '../support/levels.js';
import {
  bakeCharacter,
  getViewInfo,
  mergeMaterials,
  SkinnedInstancedMesh,
  simplifyGeometry,
} from '../support/library.js';
import { changedPixels, createStage } from '../support/pictures.js';
import { bumps, stripes } from '../support/textures.js';

const BOUNDS = new Box3(new Vector3(-2, 0, -2), new Vector3(2, 2, 2));

/** Some near, in different clips, and some so far that they are drawn at the second level. */
function place(crowd: SkinnedInstancedMesh): SkinnedInstancedMesh {
  const names = crowd.boneTexture.clips.map(({ name }) => name);
  for (let i = 0; i < crowd.count; i++) {
    const row = Math.floor(i / 3);
    crowd.setMatrixAt(i, new Matrix4().makeTranslation((i % 3) * 1.4 - 1.4, 0, -row * 3));
    crowd.play(i, names[i % names.length], { time: i * 0.13 });
  }
  return crowd;
}

/** What a page makes that bakes, and one that loads what was baked. */
async function createBoth() {
  await Promise.all([MeshoptEncoder.ready, MeshoptSimplifier.ready]);
  const { root, clips } = createCoarseCharacter();
  const into = await exportGlb(root, clips);
  const gltf = await new GLTFLoader().parseAsync(into, '');
  const character = bakeCharacter(gltf.scene, gltf.animations, { precision: 'half' });
  const baked = new SkinnedInstancedMesh(character, 6);
  const simplified = simplifyGeometry(baked.geometry, 0.3, MeshoptSimplifier);
  const levels = [{ ...simplified, distance: 7 }];
  const file = writeCharacter(character, { source: into, gltf, meshoptEncoder: MeshoptEncoder, levels });
  addLevel(baked, simplified.geometry, 7);
  const loader = new GLTFLoader().setMeshoptDecoder(MeshoptDecoder);
  loader.register((parser) => new SkinnedInstancedMeshExtension(parser));
  const loaded = crowdOfFile(await loader.parseAsync(file.slice().buffer, ''), 6);
  return [place(baked), place(loaded)];
}

/** The same with materials that differ in textures, one of them transparent, and merging where the page bakes and where it loads. */
async function createMerged() {
  await MeshoptEncoder.ready;
  const { root, clips } = createKnight();
  let meshes = 0;
  root.traverse((node) => {
    if (!(node as Mesh).isMesh) return;
    const textures = {
      map: [stripes(), null][meshes % 2],
      bumpMap: null,
      normalMap: [null, bumps()][meshes % 2],
    };
    const more = {
      name: `Cloth ${meshes}`,
      color: 0x80c0ff - meshes * 0x080410,
      transparent: meshes === 2,
      opacity: 0.7,
    };
    (node as Mesh).material = new MeshStandardMaterial({ ...textures, ...more });
    meshes++;
  });
  const source = await exportGlb(root, clips);
  const gltf = await new GLTFLoader().parseAsync(source.slice(0), '');
  const merged = bakeCharacter(gltf.scene, gltf.animations, { mergeMaterials: mergeMaterials() });
  const whole = bakeCharacter(gltf.scene, gltf.animations);
  const file = writeCharacter(whole, { source, gltf, meshoptEncoder: MeshoptEncoder, mergeMaterials: true });
  const loader = new GLTFLoader().setMeshoptDecoder(MeshoptDecoder);
  loader.register((parser) => new SkinnedInstancedMeshExtension(parser, { mergeMaterials }));
  const loaded = crowdOfFile(await loader.parseAsync(file.slice().buffer, ''), 6);
  const [drawn, wanted] = [loaded.material, merged.material].map((material) => [material].flat().length);
  expect(meshes).toBeGreaterThan(2);
  expect(drawn).toBe(wanted);
  expect(drawn).toBeLessThan([whole.material].flat().length);
  return [place(new SkinnedInstancedMesh(merged, 6)), place(loaded)];
}

describe.each(TWINS)('%s', (twin) => {
  test('materials are merged as in a page that bakes', async () => {
    const drawing = await drawingOf(twin);
    const { scene, camera } = createStage(BOUNDS);
    const [baked, loaded] = await createMerged();
    const wanted = await drawing.draw(scene, camera, baked);
    expect(changedPixels(wanted, await drawing.draw(scene, camera, loaded))).toBe(0);
    for (const crowd of [baked, loaded]) crowd.dispose();
    drawing.dispose();
  });

  test('a crowd that was loaded is drawn as one that was baked in the page', async () => {
    const drawing = await drawingOf(twin);
    const { scene, camera } = createStage(BOUNDS);
    const [baked, loaded] = await createBoth();
    const wanted = await drawing.draw(scene, camera, baked);
    const drawn = await drawing.draw(scene, camera, loaded);
    expect(changedPixels(wanted, drawn)).toBe(0);
    const without = levelsOf(loaded).levels.length;
    loaded.visible = false;
    const empty = await drawing.draw(scene, camera, loaded);
    expect(changedPixels(wanted, empty)).toBeGreaterThan(1500);
    expect(without).toBe(2);
    expect(getViewInfo(loaded, camera)?.levels).toEqual(getViewInfo(baked, camera)?.levels);
    for (const crowd of [baked, loaded]) crowd.dispose();
    drawing.dispose();
  });
});
