import {
  type Box3,
  type Camera,
  Matrix4,
  MeshBasicMaterial,
  type PerspectiveCamera,
  type Scene,
  Vector3,
  WebGLRenderer,
} from 'three';
import { describe, expect, test } from 'vitest';
import { createNodeRenderer, TWINS, type Twin } from '../support/captures.js';
import { createKnight } from '../support/knight.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { changedPixels, createStage, picture } from '../support/pictures.js';

const COUNT = 9;

type Draw = (scene: Scene, camera: Camera, crowd: SkinnedInstancedMesh) => Promise<Uint8Array>;

async function drawingOf(twin: Twin): Promise<{ renderer: object; draw: Draw; dispose(): void }> {
  if (twin === 'GLSL') {
    const renderer = new WebGLRenderer();
    renderer.shadowMap.enabled = true;
    const draw: Draw = async (scene, camera, crowd) => picture(renderer, scene, camera, crowd);
    return { renderer, draw, dispose: () => renderer.dispose() };
  }
  const { pictureNodes } = await import('../support/picturesNodes.js');
  const renderer = await createNodeRenderer(twin);
  renderer.shadowMap.enabled = true;
  const draw: Draw = (scene, camera, crowd) => pictureNodes(renderer, scene, camera, crowd);
  return { renderer, draw, dispose: () => renderer.dispose() };
}

describe.each(TWINS)('%s', (twin) => {
  test('a crowd is drawn with so many triangles at most: in less detail, or the nearest', async () => {
    const { renderer, draw, dispose } = await drawingOf(twin);
    const { root, clips } = createKnight();
    const crowd = SkinnedInstancedMesh.from(root, clips, COUNT, { encoding: 'tracks', mergeMaterials: true });
    crowd.castShadow = crowd.receiveShadow = true;
    for (let i = 0; i < COUNT; i++) {
      crowd.setMatrixAt(i, new Matrix4().makeTranslation((i % 3) * 1.5 - 1.5, 0, -i));
    }
    crowd.playAll((i) => i % clips.length).update(0.2);
    crowd.computeBoundingBox();
    const { scene, camera } = createStage(crowd.boundingBox as Box3, 'directional');
    crowd.boundingBox = null;
    const each = (crowd.geometry.index?.count ?? 0) / 3;
    const infoOf = () => crowd.readViewInfo(renderer, camera as PerspectiveCamera);

    const all = await draw(scene, camera, crowd);
    expect((await infoOf()).triangles).toBe(COUNT * each);
    crowd.maxVisible = 5;
    const nearest = await draw(scene, camera, crowd);
    expect(changedPixels(nearest, all)).toBeGreaterThan(100);
    crowd.maxVisible = Infinity;
    crowd.maxTriangles = 5.5 * each;
    expect(changedPixels(await draw(scene, camera, crowd), nearest, 0), 'without levels').toBe(0);
    expect((await infoOf()).triangles).toBe(5 * each);
    // All were for the first picture, and the clock has not moved since.
    expect((await infoOf()).posed).toBe(COUNT);

    const coarse = crowd.geometry.clone();
    const { index } = coarse;
    if (index === null) throw new Error('the geometry has no index');
    coarse.setIndex([...index.array.slice(0, Math.floor(index.count / 6) * 3)]);
    const material = new MeshBasicMaterial({ color: 0xff0000 });
    const level = crowd.addLevel(coarse, 1000, 0, { material });
    crowd.maxTriangles = 7 * each;
    const budgeted = await draw(scene, camera, crowd);
    const { levels, triangles, visible } = await infoOf();
    expect(visible).toBe(COUNT);
    expect(triangles).toBeLessThanOrEqual(7 * each);
    expect(levels[0]).toBeGreaterThan(0);
    expect(levels[1]).toBeGreaterThan(0);

    // The same as if the level began between those that are drawn at one and at the other.
    crowd.views.updateGroups();
    const distances = Array.from({ length: COUNT }, (_, i) => {
      return new Vector3().fromArray(crowd.views.groups.spheres, i * 4).distanceTo(camera.position);
    }).sort((a, b) => a - b);
    crowd.maxTriangles = Infinity;
    level.entry.distance = (distances[levels[0] - 1] + distances[levels[0]]) / 2;
    expect(changedPixels(await draw(scene, camera, crowd), budgeted, 0), 'with a level').toBe(0);
    crowd.maxTriangles = 0;
    await draw(scene, camera, crowd);
    expect((await infoOf()).triangles).toBe(0);
    crowd.dispose();
    dispose();
  });
});
