import { Matrix4, type Mesh, PerspectiveCamera, Scene, type WebGLRenderer } from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { expectFewObjects } from '../../support/allocations.js';
import { SkinnedInstancedMesh } from '../../support/library.js';

const COUNT = 100;
const FRAMES = 20;
const WARM_UPS = 8;
const ROUNDS = 8;
/** In a frame each mesh is drawn for so many cameras, in pictures and in shadow maps. */
const CAMERAS = 6;
/** Of a frame, of all meshes together: less than one object for each camera. Some of V8's notes are left. */
const BOUNDS = { count: 5, bytes: 4000 };

/** So much of a renderer as crowds ask for; it draws nothing, and does not allocate itself. */
function createRenderer() {
  const known = new WeakMap<object, object>();
  const viewport = new Int32Array(4);
  const context = { VIEWPORT: 0, getParameter: () => viewport };
  const capabilities = { maxTextureSize: 4096, maxAttributes: 16 };
  const info = { render: { frame: 0 } };
  const nothing = () => {};
  const renderer = {
    isWebGLRenderer: true,
    capabilities,
    info,
    xr: { enabled: false, isPresenting: false },
    state: { viewport: nothing, useProgram: nothing },
    properties: {
      get(key: object) {
        let properties = known.get(key);
        if (properties === undefined) {
          properties = { __webglTexture: {}, __webglFramebuffer: {} };
          known.set(key, properties);
        }
        return properties;
      },
    },
    getContext: () => context,
    getRenderTarget: () => null,
    getActiveCubeFace: () => 0,
    getActiveMipmapLevel: () => 0,
    setRenderTarget: nothing,
    renderBufferDirect: nothing,
  };
  return { renderer: renderer as unknown as WebGLRenderer, info };
}

/** What three.js does with meshes of a crowd for a camera: a shadow map, and a picture. */
function draw(
  renderer: WebGLRenderer,
  scene: Scene,
  meshes: readonly SkinnedInstancedMesh[],
  eye: PerspectiveCamera,
  light: PerspectiveCamera,
): void {
  for (let i = 0; i < meshes.length; i++) {
    const { geometry, customDepthMaterial: depth } = meshes[i];
    if (depth === undefined) throw new Error('no material for shadow maps');
    meshes[i].onBeforeShadow(renderer, meshes[i], eye, light, geometry, depth);
    meshes[i].onAfterShadow();
  }
  for (let i = 0; i < meshes.length; i++) {
    const { geometry, material } = meshes[i];
    if (Array.isArray(material)) throw new Error('several materials');
    meshes[i].onBeforeRender(renderer, scene, eye, geometry, material, null);
    meshes[i].onAfterRender();
  }
}

const CASES: Record<string, (crowd: SkinnedInstancedMesh) => void> = {
  'of one mesh': () => {},
  'of levels of detail, sorted': (crowd) => {
    crowd.addLevel(createCharacter({ detail: 0.1 }).root, 8, 0.1);
    crowd.addLevel(createCharacter({ detail: 0.05 }).root, 16);
    crowd.sortObjects = true;
  },
};

test.each(Object.entries(CASES))('draws %s make no objects', async (_, prepare) => {
  const { root, clips } = createCharacter({ detail: 0.2 });
  const crowd = SkinnedInstancedMesh.from(root, clips, COUNT, { encoding: 'tracks' });
  const matrix = new Matrix4();
  for (let i = 0; i < COUNT; i++) {
    crowd.setMatrixAt(i, matrix.makeTranslation((i % 25) * 2 - 25, 0, -2 * Math.floor(i / 25)));
    crowd.play(i, i % clips.length, { time: i / 10 });
  }
  prepare(crowd);
  const scene = new Scene().add(crowd);
  const meshes: SkinnedInstancedMesh[] = [];
  scene.traverse((object) => {
    if ((object as Mesh).isMesh) meshes.push(object as SkinnedInstancedMesh);
  });
  const { renderer, info } = createRenderer();
  const eyes = Array.from({ length: CAMERAS }, () => new PerspectiveCamera(60, 1.7, 0.1, 100));
  const lights = Array.from({ length: CAMERAS }, () => new PerspectiveCamera(90, 1, 0.1, 80));
  for (const [i, light] of lights.entries()) {
    light.position.set(i, 30, 0);
    light.lookAt(0, 0, 0);
    light.updateMatrixWorld();
  }
  let drawn = 0;
  const run = () => {
    for (let i = 0; i < FRAMES; i++) {
      info.render.frame++;
      crowd.update(1 / 60);
      scene.updateMatrixWorld();
      for (let k = 0; k < meshes.length; k++) meshes[k].skeleton.update();
      for (let k = 0; k < CAMERAS; k++) {
        eyes[k].rotation.y += 0.01;
        eyes[k].updateMatrixWorld();
        draw(renderer, scene, meshes, eyes[k], lights[k]);
      }
      drawn += crowd.views.posed;
    }
  };
  // What is made once. More often than that needs: V8 compiles code meanwhile, which makes fewer numbers then, and so is measured sooner.
  for (let i = 0; i < WARM_UPS; i++) run();
  expect(drawn).toBeGreaterThan(0);
  await expectFewObjects(run, FRAMES, ROUNDS, BOUNDS);
  crowd.dispose();
});
