import { MeshoptDecoder, MeshoptEncoder, MeshoptSimplifier } from 'meshoptimizer';
import { SkinnedInstancedMeshExtension, writeBoneTexture } from 'skinned-instanced-mesh/files';
import { Box3, Matrix4, Vector3 } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { describe, expect, test } from 'vitest';
import { TWINS } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { crowdOfFile } from '../support/crowdArguments.js';
import { drawingOf } from '../support/drawings.js';
import { exportGlb } from '../support/exportGlb.js';
import { addLevel, levelsOf } from '../support/levels.js';
import { bakeCharacter, getViewInfo, SkinnedInstancedMesh, simplifyGeometry } from '../support/library.js';
import { changedPixels, createStage } from '../support/pictures.js';

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
  const baked = new SkinnedInstancedMesh(
    bakeCharacter(gltf.scene, gltf.animations, { precision: 'half' }),
    6,
  );
  const { geometry, boneTexture } = baked;
  const simplified = simplifyGeometry(geometry, 0.3, MeshoptSimplifier);
  const file = writeBoneTexture(boneTexture, {
    into,
    meshoptEncoder: MeshoptEncoder,
    geometry,
    levels: [{ ...simplified, distance: 7 }],
  });
  addLevel(baked, simplified.geometry, 7);
  const loader = new GLTFLoader().setMeshoptDecoder(MeshoptDecoder);
  loader.register((parser) => new SkinnedInstancedMeshExtension(parser));
  const loaded = crowdOfFile(await loader.parseAsync(file.slice().buffer, ''), 6);
  return [place(baked), place(loaded)];
}

describe.each(TWINS)('%s', (twin) => {
  test('a crowd that was loaded is drawn as one that was baked in the page', async () => {
    const drawing = await drawingOf(twin);
    const { scene, camera } = createStage(BOUNDS, 'directional');
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
