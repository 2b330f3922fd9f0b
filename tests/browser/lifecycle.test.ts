import {
  BoxGeometry,
  Color,
  Float32BufferAttribute,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  Object3D,
  PerspectiveCamera,
  PointLight,
  Scene,
  SphereGeometry,
  SpotLight,
  WebGLRenderer,
} from 'three';
import { describe, expect, test } from 'vitest';
import { TWINS, type Twin } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { countHeld, type Held } from '../support/countHeld.js';
import { BoneTexture, SkinnedInstancedMesh } from '../support/library.js';
import { loseContext, restoreContext } from '../support/loseContext.js';
import { createStick } from '../support/stick.js';
import { THOROUGH } from '../support/thorough.js';

/** One thing a round that is not freed shows as so many. */
const ROUNDS = 2;

/** As `countHeld`, for a WebGPU device, whose buffers and textures free themselves. */
function countDestroyed(device: GPUDevice): Held {
  const methods = device as unknown as Record<string, (...args: unknown[]) => { destroy(): void }>;
  const held: Held = { buffers: 0, textures: 0 };
  for (const [kind, name] of [
    ['buffers', 'createBuffer'],
    ['textures', 'createTexture'],
  ]) {
    const original = methods[name].bind(device);
    methods[name] = (...args) => {
      const made = original(...args);
      held[kind]++;
      const destroy = made.destroy.bind(made);
      let gone = false;
      made.destroy = () => {
        if (!gone) held[kind]--;
        gone = true;
        destroy();
      };
      return made;
    };
  }
  return held;
}

async function countingOf(twin: Twin) {
  const webgl = {
    buffers: ['createBuffer', 'deleteBuffer'],
    textures: ['createTexture', 'deleteTexture'],
    programs: ['createProgram', 'deleteProgram'],
    'vertex arrays': ['createVertexArray', 'deleteVertexArray'],
  } as Record<string, [string, string]>;
  if (twin === 'GLSL') {
    const renderer = new WebGLRenderer();
    renderer.setSize(64, 64);
    renderer.shadowMap.enabled = true;
    const held = countHeld(renderer.getContext(), webgl);
    return { renderer, held: (): Held => ({ ...held, ...renderer.info.memory }) };
  }
  const { WebGPURenderer } = await import('three/webgpu');
  await import('skinned-instanced-mesh/webgpu');
  const renderer = new WebGPURenderer({ forceWebGL: twin === 'TSL on WebGL 2' });
  await renderer.init();
  renderer.setSize(64, 64);
  renderer.shadowMap.enabled = true;
  const { device, gl } = renderer.backend as unknown as { device?: GPUDevice; gl?: object };
  const held = device ? countDestroyed(device) : countHeld(gl as object, webgl);
  const { memory } = renderer.info;
  return { renderer, held: (): Held => ({ ...held, geometries: memory.geometries }) };
}

function createScene() {
  const scene = new Scene();
  const light = new SpotLight(0xffffff, 20);
  light.position.set(2, 3, 3);
  light.castShadow = true;
  light.shadow.mapSize.set(32, 32);
  scene.add(light, light.target);
  const camera = new PerspectiveCamera(40, 1);
  camera.position.set(0, 1, 4);
  return { scene, camera };
}

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

/** A character with a hat. */
function createHatted() {
  const { root, clips } = createCoarseCharacter();
  const hat = new Mesh(new BoxGeometry(0.2, 0.2, 0.2), new MeshStandardMaterial());
  hat.name = 'Hat';
  root.getObjectByName('Head')?.add(hat);
  return { root, clips };
}

describe.each(TWINS)('%s', (twin) => {
  /** Lets rounds of drawing go by, of which the first two make what is kept; what is held must stay the same. */
  async function expectNothingLeft(prepare: (draw: () => void, scene: Scene) => () => void) {
    const { renderer, held } = await countingOf(twin);
    const { scene, camera } = createScene();
    const round = prepare(() => renderer.render(scene, camera), scene);
    round();
    round();
    const before = held();
    for (let i = 0; i < ROUNDS; i++) round();
    const after = held();
    renderer.dispose();
    expect(before.textures).toBeGreaterThan(0);
    expect(after).toEqual(before);
  }

  const prepareRound = (encoding: 'quaternion' | 'tracks', draw: () => void, scene: Scene) => {
    const { root, clips } = createHatted();
    const box = new BoxGeometry(0.1, 0.6, 0.1);
    const material = new MeshStandardMaterial();
    const mine = BoneTexture.bake(root, clips, { fps: 8, encoding });
    const other = new SphereGeometry(0.3, 6, 4);

    return () => {
      const crowd = SkinnedInstancedMesh.from(root, clips, 3, { fps: 5, encoding });
      crowd.frustumCulled = false;
      crowd.castShadow = true;
      crowd.geometry.setDrawRange(0, 30);
      scene.add(crowd.playAll('Walk'));
      draw();
      // fades have a texture of their own
      crowd.update(0.1).play(0, 'Run', { fade: 0.5 }).update(0.1).play(0, 'Jump', { fade: 0.5 });
      draw();
      // parts and colours
      crowd.setPartVisibleAt(1, 'Hat', false).setColorAt(0, new Color(1, 0, 0));
      crowd.setPartColorAt(1, 'Body', new Color(0, 1, 0));
      draw();
      // what is attached, and attached to that
      const sword = crowd.attachToJoint('RightHand', box, material);
      sword.attachToJoint('RightHand', other, material);
      sword.setColorAt(1, new Color(0, 0, 1)).setPartVisibleAt(2, 0, false);
      crowd.traverse((node) => {
        node.frustumCulled = false;
      });
      draw();
      crowd.setCapacity(300);
      crowd.count = 300;
      crowd.play(299, 'Wave', { fade: 1 }).update(0.1);
      draw();
      crowd.swapInstances(0, 299).count = 2;
      crowd.setCapacity(2);
      draw();
      const copy = crowd.clone();
      scene.add(copy);
      draw();
      scene.remove(copy);
      copy.dispose();
      crowd.interpolate = false;
      crowd.boneTexture = mine;
      draw();
      sword.dispose();
      draw();
      scene.remove(crowd);
      crowd.dispose();
      draw();
    };
  };

  // Node materials free the same whatever poses are stored as.
  test.each(twin === 'GLSL' || THOROUGH ? (['quaternion', 'tracks'] as const) : (['tracks'] as const))(
    'rounds of fades, parts, attachments, sizes and copies in encoding %s leave nothing behind',
    async (encoding) => {
      await expectNothingLeft((draw, scene) => prepareRound(encoding, draw, scene));
    },
  );

  test('rounds of morph targets and sizes leave nothing behind', async () => {
    await expectNothingLeft((draw, scene) => {
      const { root, mesh, clips } = createStick();
      mesh.geometry.morphAttributes.position = [new Float32BufferAttribute(new Float32Array(9).fill(0.1), 3)];
      mesh.geometry.morphTargetsRelative = true;
      mesh.updateMorphTargets();
      return () => {
        const crowd = SkinnedInstancedMesh.from(root, clips, 3);
        crowd.frustumCulled = false;
        scene.add(crowd);
        crowd.setMorphAt(0, mesh);
        draw();
        crowd.setCapacity(9);
        draw();
        scene.remove(crowd);
        crowd.dispose();
        draw();
      };
    });
  });
});

test('after context loss and restore the crowd is back, and moving', async () => {
  const { renderer, scene, read } = createView();
  const { root, clips } = createCoarseCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, 2);
  crowd.castShadow = true;
  crowd.setMatrixAt(1, new Matrix4().makeTranslation(0.8, 0, 0));
  crowd.play(0, 'Run').play(1, 'Wave');
  scene.add(crowd, new Object3D());
  crowd.update(0.1).play(0, 'Walk', { fade: 0.5 }).update(0.2);
  const before = read();
  expect(crowd.playback.fades.plain.image.height).toBe(1);

  await loseContext(renderer);
  await restoreContext(renderer);
  expect(read()).toEqual(before);
  crowd.update(0.1);
  const fading = read();
  expect(fading).not.toEqual(before);

  // what changes while there is no context is drawn when there is one again
  await loseContext(renderer);
  crowd.play(1, 'Dance', { fade: 1 }).update(0.1);
  await restoreContext(renderer);
  const afterwards = read();
  const fresh = createView();
  fresh.scene.add(crowd);
  expect(afterwards).toEqual(fresh.read());
  expect(afterwards).not.toEqual(fading);
  fresh.renderer.dispose();
  renderer.dispose();
});
