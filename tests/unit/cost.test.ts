import { Matrix4, PerspectiveCamera, PointLight, Scene, WebGLRenderer } from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { countGlCalls } from '../support/glCalls.js';
import { SkinnedInstancedMesh } from '../support/library.js';

const COUNT = 10_000;

function createCrowd() {
  const renderer = new WebGLRenderer();
  renderer.setSize(64, 64);
  const { root, clips } = createCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, COUNT);
  const matrix = new Matrix4();
  for (let i = 0; i < COUNT; i++) {
    crowd.setMatrixAt(i, matrix.makeTranslation((i % 100) * 2, 0, -Math.floor(i / 100) * 2));
    crowd.play(i, i % clips.length, { time: (i % 37) / 37, timeScale: 0.8 + (i % 5) / 10 });
  }
  // Uploads and calls do not depend on it, and a software renderer would take long over ten thousand of them.
  crowd.geometry.setDrawRange(0, 3);
  const scene = new Scene();
  scene.add(crowd);
  const camera = new PerspectiveCamera(60, 1, 0.1, 1000);
  camera.position.set(100, 30, 40);
  const calls = countGlCalls(renderer.getContext() as WebGL2RenderingContext);
  const frame = (delta = 1 / 60) => {
    calls.reset();
    crowd.update(delta);
    renderer.render(scene, camera);
    return { uploads: calls.uploads, bytes: calls.bytes, draws: calls.draws };
  };
  return { renderer, crowd, scene, camera, frame };
}

test('ten thousand instances in mixed clips are one draw call and upload nothing while nothing changes', () => {
  const { renderer, frame } = createCrowd();
  frame();
  for (let i = 0; i < 60; i++) expect(frame()).toEqual({ uploads: 0, bytes: 0, draws: 1 });
  renderer.dispose();
});

test('shadows add one draw call per face of the shadow map, and no uploads', () => {
  const { renderer, crowd, scene, frame } = createCrowd();
  renderer.shadowMap.enabled = true;
  crowd.castShadow = true;
  crowd.frustumCulled = false;
  const light = new PointLight();
  light.castShadow = true;
  light.shadow.mapSize.set(32, 32);
  scene.add(light);
  frame();
  for (let i = 0; i < 10; i++) expect(frame()).toEqual({ uploads: 0, bytes: 0, draws: 7 });
  renderer.dispose();
});

test('only what changed is uploaded', () => {
  const { renderer, crowd, frame } = createCrowd();
  frame();
  crowd.play(5000, 0);
  expect(frame()).toMatchObject({ uploads: 1, bytes: 32 });
  for (let i = 100; i < 200; i++) crowd.play(i, 1);
  expect(frame()).toMatchObject({ uploads: 1, bytes: 3200 });
  expect(frame()).toMatchObject({ uploads: 0 });
  renderer.dispose();
});

test('the clock going back to zero costs one upload of the playback state, and is not seen', () => {
  const { renderer, crowd, frame } = createCrowd();
  frame();
  const uploads: number[] = [];
  for (let i = 0; i < 130; i++) uploads.push(frame(0.25).bytes);
  expect(uploads.filter((bytes) => bytes > 0)).toEqual([COUNT * 32, COUNT * 32]);
  expect(crowd.clock).toBeLessThan(16);
  renderer.dispose();
});
