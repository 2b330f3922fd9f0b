import {
  ArrayCamera,
  BoxGeometry,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  PerspectiveCamera,
  PlaneGeometry,
  Scene,
  Vector4,
  WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { countHeld } from '../support/countHeld.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { loseContext, restoreContext } from '../support/loseContext.js';
import { changedPixels } from '../support/pictures.js';

const SIZE = 64;

let renderer: WebGLRenderer;
beforeEach(() => {
  renderer = new WebGLRenderer({ preserveDrawingBuffer: true });
  renderer.setSize(SIZE, SIZE, false);
  renderer.setPixelRatio(1);
});
afterEach(() => renderer.dispose());

/** Two characters in different clips, posed by tracks. */
function createCrowd(time = 0.3) {
  const { root, clips } = createCoarseCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, 2, { encoding: 'tracks' });
  crowd.material = new MeshBasicMaterial({ color: 0xffaa44 });
  for (let i = 0; i < 2; i++) crowd.setMatrixAt(i, new Matrix4().makeTranslation(i * 1.4 - 0.7, -0.9, 0));
  crowd.play(0, 'Run').play(1, 'Wave').update(time);
  crowd.frustumCulled = false;
  return crowd;
}

function createCamera(x = 0) {
  const camera = new PerspectiveCamera(45, 1, 0.1, 20);
  camera.position.set(x, 0.3, 4);
  camera.lookAt(0, 0, 0);
  camera.updateMatrixWorld();
  return camera;
}

function read(): Uint8Array {
  const gl = renderer.getContext();
  const pixels = new Uint8Array(SIZE * SIZE * 4);
  gl.readPixels(0, 0, SIZE, SIZE, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  return pixels;
}

function draw(scene: Scene, camera: PerspectiveCamera): Uint8Array {
  renderer.render(scene, camera);
  return read();
}

const sceneOf = (...objects: Object3D[]) => new Scene().add(...objects) as Scene;

test('each camera of an array has the poses in its own viewport, whichever frame it is', () => {
  const cameras = [createCamera(-1.5), createCamera(1.5)];
  const viewports = [new Vector4(0, 0, SIZE / 2, SIZE), new Vector4(SIZE / 2, 0, SIZE / 2, SIZE)];
  const expected = createCrowd();
  renderer.setScissorTest(true);
  renderer.autoClear = false;
  renderer.clear();
  cameras.forEach((camera, i) => {
    renderer.setViewport(viewports[i]);
    renderer.setScissor(viewports[i]);
    renderer.render(sceneOf(expected), camera);
  });
  const apart = read();

  renderer.setScissorTest(false);
  renderer.setViewport(0, 0, SIZE, SIZE);
  renderer.autoClear = true;
  const both = new ArrayCamera(
    cameras.map((camera, i) => Object.assign(createCamera(camera.position.x), { viewport: viewports[i] })),
  );
  const crowd = createCrowd(0);
  const scene = sceneOf(crowd);
  renderer.render(scene, both);
  crowd.update(0.3);
  renderer.render(scene, both);
  const together = read();
  expect(changedPixels(apart, new Uint8Array(apart.length), 0), 'something is drawn').toBeGreaterThan(100);
  expect(changedPixels(apart, together, 0)).toBe(0);
});

test('after the context was lost and restored poses are written anew, though nothing has changed', async () => {
  const crowd = createCrowd();
  const scene = sceneOf(crowd);
  const camera = createCamera();
  const before = draw(scene, camera);
  await loseContext(renderer);
  await restoreContext(renderer);
  expect(changedPixels(before, draw(scene, camera), 0)).toBe(0);
});

test('a crowd that was compiled ahead is drawn right in its first frame, in the programs that there are', async () => {
  const camera = createCamera();
  const expected = draw(sceneOf(createCrowd()), camera);
  const scene = sceneOf(createCrowd());
  await renderer.compileAsync(scene, camera);
  const before = renderer.info.programs?.length;
  expect(changedPixels(expected, draw(scene, camera), 0)).toBe(0);
  expect(renderer.info.programs?.length).toBe(before);
});

test('a crowd is posed within a frame that is drawn within another, and the outer one goes on', () => {
  const camera = createCamera();
  const crowd = createCrowd();
  const plane = new Mesh(new PlaneGeometry(4, 4), new MeshBasicMaterial({ color: 0x336699 }));
  plane.position.z = -1.5;
  const expected = draw(sceneOf(plane, crowd), camera);

  const inner = createCrowd();
  const innerScene = sceneOf(inner);
  const target = new WebGLRenderTarget(16, 16);
  const outer = createCrowd();
  plane.onBeforeRender = () => {
    const now = renderer.getRenderTarget();
    renderer.setRenderTarget(target);
    renderer.render(innerScene, camera);
    renderer.setRenderTarget(now);
  };
  const scene = sceneOf(plane, outer);
  draw(scene, camera);
  for (const one of [inner, outer]) one.update(0.05);
  crowd.update(0.05);
  const nested = draw(scene, camera);
  plane.onBeforeRender = () => {};
  expect(changedPixels(draw(sceneOf(plane, crowd), camera), nested, 0)).toBe(0);
  expect(changedPixels(expected, nested, 0), 'it has moved').toBeGreaterThan(0);
  target.dispose();
});

test('a crowd that grew and was disposed leaves no targets, textures or programs', () => {
  const gl = renderer.getContext();
  const held = countHeld(gl, {
    framebuffers: ['createFramebuffer', 'deleteFramebuffer'],
    textures: ['createTexture', 'deleteTexture'],
    programs: ['createProgram', 'deleteProgram'],
  });
  const camera = createCamera();
  const round = () => {
    const crowd = createCrowd();
    crowd.attachToJoint('Head', new BoxGeometry(0.2, 0.2, 0.2), new MeshBasicMaterial());
    const scene = sceneOf(crowd);
    draw(scene, camera);
    for (const capacity of [300, 700]) {
      crowd.setCapacity(capacity).count = capacity;
      crowd.geometry.setDrawRange(0, 30);
      draw(scene, camera);
    }
    (crowd.material as MeshBasicMaterial).dispose();
    crowd.dispose();
  };
  round();
  const before = { ...held };
  round();
  expect(held).toEqual(before);
});
