import { Matrix4, type Mesh, PerspectiveCamera, Scene, type WebGLRenderer } from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { objectsMadeIn } from '../../support/allocations.js';
import { SkinnedInstancedMesh } from '../../support/library.js';

const COUNT = 500;
const FRAMES = 20;
/** Most rounds of so many frames: the first that stays below the bound is the last, since V8 keeps notes on code that it has just met. */
const ROUNDS = 8;
/** Objects a frame, of all meshes together: less than one in each draw of the levels. Some of V8's notes are left. */
const BOUND = 5;

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

/** What three.js does with meshes of a crowd in a frame: a picture, and a shadow map. */
function drawFrame(
  renderer: WebGLRenderer,
  scene: Scene,
  meshes: readonly SkinnedInstancedMesh[],
  eye: PerspectiveCamera,
  light: PerspectiveCamera,
): void {
  for (let i = 0; i < meshes.length; i++) meshes[i].skeleton.update();
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
  const eye = new PerspectiveCamera(60, 1.7, 0.1, 100);
  const light = new PerspectiveCamera(90, 1, 0.1, 80);
  light.position.set(0, 30, 0);
  light.lookAt(0, 0, 0);
  light.updateMatrixWorld();
  let drawn = 0;
  const run = () => {
    for (let i = 0; i < FRAMES; i++) {
      info.render.frame++;
      crowd.update(1 / 60);
      eye.rotation.y += 0.01;
      eye.updateMatrixWorld();
      scene.updateMatrixWorld();
      drawFrame(renderer, scene, meshes, eye, light);
      drawn += crowd.views.posed;
    }
  };
  // What is made once.
  for (let i = 0; i < 3; i++) run();
  expect(drawn).toBeGreaterThan(0);
  let least = Infinity;
  let makers = '';
  for (let round = 0; round < ROUNDS && least > BOUND; round++) {
    const found = [...(await objectsMadeIn(run, '/lib/'))].sort((a, b) => b[1] - a[1]);
    const made = found.reduce((sum, [, count]) => sum + count, 0) / FRAMES;
    if (made > least) continue;
    least = made;
    makers = found.map(([name, count]) => `${(count / FRAMES).toFixed(1)} objects: ${name}`).join('\n');
  }
  expect(least, makers).toBeLessThan(BOUND);
  crowd.dispose();
});
