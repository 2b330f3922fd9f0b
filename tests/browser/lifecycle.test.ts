import { Matrix4, Object3D, PerspectiveCamera, PointLight, Scene, WebGLRenderer } from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { BoneTexture, SkinnedInstancedMesh } from '../support/library.js';

function createView() {
  const renderer = new WebGLRenderer({ preserveDrawingBuffer: true });
  renderer.setSize(64, 64);
  renderer.shadowMap.enabled = true;
  const scene = new Scene();
  const light = new PointLight(0xffffff, 20);
  light.position.set(2, 3, 3);
  light.castShadow = true;
  light.shadow.mapSize.set(32, 32);
  scene.add(light);
  const camera = new PerspectiveCamera(40, 1);
  camera.position.set(0, 1, 4);
  const read = () => {
    renderer.render(scene, camera);
    const gl = renderer.getContext();
    const pixels = new Uint8Array(64 * 64 * 4);
    gl.readPixels(0, 0, 64, 64, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    return pixels;
  };
  return { renderer, scene, camera, read };
}

test('200 rounds of creating, drawing and disposing leave nothing behind', () => {
  const { renderer, scene, camera } = createView();
  const { root, clips } = createCharacter();
  renderer.render(scene, camera);
  const gl = renderer.getContext();
  let buffers = 0;
  let textures = 0;
  const count = (name: string, add: (n: number) => void, by: number) => {
    const context = gl as unknown as Record<string, (...args: unknown[]) => unknown>;
    const original = context[name].bind(gl);
    context[name] = (...args) => {
      add(by);
      return original(...args);
    };
  };
  count('createBuffer', (n) => (buffers += n), 1);
  count('deleteBuffer', (n) => (buffers += n), -1);
  count('createTexture', (n) => (textures += n), 1);
  count('deleteTexture', (n) => (textures += n), -1);

  const round = () => {
    const crowd = SkinnedInstancedMesh.from(root, clips, 3, { fps: 5 });
    crowd.castShadow = true;
    crowd.play(0, 0);
    scene.add(crowd);
    renderer.render(scene, camera);
    scene.remove(crowd);
    crowd.dispose();
  };
  round();
  const before = { ...renderer.info.memory, buffers, textures, programs: renderer.info.programs?.length };
  for (let i = 0; i < 200; i++) round();
  expect({ ...renderer.info.memory, buffers, textures, programs: renderer.info.programs?.length }).toEqual(
    before,
  );
  renderer.dispose();
}, 60_000);

test('dispose leaves a bone texture that was passed in, and frees one that from baked', () => {
  const { root, clips } = createCharacter();
  const boneTexture = BoneTexture.bake(root, clips, { fps: 5 });
  let disposed = 0;
  boneTexture.addEventListener('dispose', () => disposed++);
  SkinnedInstancedMesh.from(root, clips, 1, { boneTexture }).dispose();
  expect(disposed).toBe(0);
  const own = SkinnedInstancedMesh.from(root, clips, 1, { fps: 5 });
  own.boneTexture.addEventListener('dispose', () => disposed++);
  own.dispose();
  expect(disposed).toBe(1);
});

test('after context loss and restore the crowd is back, and moving', async () => {
  const { renderer, scene, read } = createView();
  const { root, clips } = createCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, 2);
  crowd.castShadow = true;
  crowd.setMatrixAt(1, new Matrix4().makeTranslation(0.8, 0, 0));
  crowd.play(0, 'Run').play(1, 'Wave');
  scene.add(crowd, new Object3D());
  crowd.update(0.1).play(0, 'Walk', { fade: 0.5 }).update(0.2);
  const before = read();
  expect(crowd.playback.fades.plain.image.height).toBe(1);

  const canvas = renderer.domElement;
  const event = (name: string) =>
    new Promise((resolve) => canvas.addEventListener(name, resolve, { once: true }));
  const lost = event('webglcontextlost');
  renderer.forceContextLoss();
  await lost;
  await new Promise((resolve) => setTimeout(resolve, 50));
  const restored = event('webglcontextrestored');
  renderer.forceContextRestore();
  await restored;

  expect(read()).toEqual(before);
  crowd.update(0.1);
  const fading = read();
  expect(fading).not.toEqual(before);

  // what changes while there is no context is drawn when there is one again
  const again = event('webglcontextlost');
  renderer.forceContextLoss();
  await again;
  crowd.play(1, 'Dance', { fade: 1 }).update(0.1);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const back = event('webglcontextrestored');
  renderer.forceContextRestore();
  await back;
  const afterwards = read();
  const fresh = createView();
  fresh.scene.add(crowd);
  expect(afterwards).toEqual(fresh.read());
  expect(afterwards).not.toEqual(fading);
  fresh.renderer.dispose();
  renderer.dispose();
});
