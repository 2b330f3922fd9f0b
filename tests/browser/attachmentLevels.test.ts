import {
  type Box3,
  BoxGeometry,
  type Camera,
  Matrix4,
  MeshStandardMaterial,
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

function createCrowd() {
  const { root, clips } = createKnight();
  const crowd = SkinnedInstancedMesh.from(root, clips, COUNT, { encoding: 'tracks', mergeMaterials: true });
  crowd.castShadow = crowd.receiveShadow = true;
  for (let i = 0; i < COUNT; i++)
    crowd.setMatrixAt(i, new Matrix4().makeTranslation((i % 3) * 1.5 - 1.5, 0, -i));
  crowd.playAll((i) => i % clips.length, { time: (i) => i * 0.1 }).update(0.2);
  return { crowd, root };
}

type Draw = (scene: Scene, camera: Camera, crowd: SkinnedInstancedMesh) => Promise<Uint8Array>;

async function drawingOf(twin: Twin): Promise<{ draw: Draw; dispose(): void }> {
  if (twin === 'GLSL') {
    const renderer = new WebGLRenderer();
    renderer.shadowMap.enabled = true;
    const draw: Draw = async (scene, camera, crowd) => picture(renderer, scene, camera, crowd);
    return { draw, dispose: () => renderer.dispose() };
  }
  const { pictureNodes } = await import('../support/picturesNodes.js');
  const renderer = await createNodeRenderer(twin);
  renderer.shadowMap.enabled = true;
  const draw: Draw = (scene, camera, crowd) => pictureNodes(renderer, scene, camera, crowd);
  return { draw, dispose: () => renderer.dispose() };
}

describe.each(TWINS)('%s', (twin) => {
  test('attachments are drawn as their levels say, with their shadows, or not at all', async () => {
    const { draw, dispose } = await drawingOf(twin);
    const hat = new BoxGeometry(0.5, 0.3, 0.5);
    const ball = new BoxGeometry(0.2, 0.9, 0.2);
    const yellow = new MeshStandardMaterial({ color: 0xffee00 });
    const red = new MeshStandardMaterial({ color: 0xff0000 });
    const { crowd: plain, root } = createCrowd();
    const hats = plain.attachToJoint('Head', hat, yellow);
    const balls = plain.attachToJoint('Head', ball, red);
    plain.computeBoundingBox();
    const { scene, camera } = createStage(plain.boundingBox as Box3, 'directional');
    plain.boundingBox = null;

    const { crowd } = createCrowd();
    // Levels go by the middles of the spheres around instances.
    plain.views.updateGroups();
    const { spheres } = plain.views.groups;
    const distances = Array.from({ length: COUNT }, (_, i) => {
      return new Vector3().fromArray(spheres, i * 4).distanceTo(camera.position);
    });
    const sorted = [...distances].sort((a, b) => a - b);
    const [first, second] = [3, 6].map((place) => (sorted[place - 1] + sorted[place]) / 2);
    const only = (shown: (distance: number) => boolean, mesh: typeof hats) => {
      for (let i = 0; i < COUNT; i++) mesh.setPartVisibleAt(i, 0, shown(distances[i]));
    };

    crowd.addLevel(root, first, 0, { mergeMaterials: true });
    const last = crowd.addLevel(root, second, 0, { mergeMaterials: true });
    const attached = crowd.attachToJoint('Head', hat, yellow);
    attached.addLevel(ball, 1, { material: red });
    only((distance) => distance < first, hats);
    only((distance) => distance >= first, balls);
    const expected = await draw(scene, camera, plain);
    expect(changedPixels(await draw(scene, camera, crowd), expected, 0), 'two geometries').toBe(0);

    attached.addLevel(null, 2);
    only((distance) => distance >= first && distance < second, balls);
    const fewer = await draw(scene, camera, plain);
    expect(changedPixels(fewer, expected)).toBeGreaterThan(100);
    expect(changedPixels(await draw(scene, camera, crowd), fewer, 0), 'nothing from the last on').toBe(0);

    crowd.removeLevel(last);
    only((distance) => distance >= first, balls);
    expect(changedPixels(await draw(scene, camera, crowd), expected, 0), 'a level less').toBe(0);
    crowd.levels[1].attachments = false;
    only(() => false, balls);
    const near = await draw(scene, camera, plain);
    expect(changedPixels(await draw(scene, camera, crowd), near, 0), 'without attachments').toBe(0);
    plain.dispose();
    crowd.dispose();
    dispose();
  });
});
