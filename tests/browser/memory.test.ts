import {
  BoxGeometry,
  Color,
  DirectionalLight,
  Fog,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  type Object3D,
  PerspectiveCamera,
  PointLight,
  Scene,
  SphereGeometry,
  SpotLight,
  WebGLRenderer,
} from 'three';
import { describe, expect, test, vi } from 'vitest';
import { TWINS, type Twin } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { countHeld, type Held } from '../support/countHeld.js';
import { partsOf } from '../support/features.js';
import { addLevel } from '../support/levels.js';
import {
  bakeBoneTexture,
  bakeCharacter,
  disposeCharacter,
  encodingOf,
  JointAttachment,
  SkinnedInstancedMesh,
  setBoneTexture,
} from '../support/library.js';
import { loseContext, passOverLost, restoreContext } from '../support/loseContext.js';
import { changedPixels } from '../support/pictures.js';
import { watchProblems } from '../support/problems.js';
import { createStick } from '../support/stick.js';
import { NIGHTLY, THOROUGH } from '../support/thorough.js';

const ROUNDS = 40;

/** How often what is unused is collected before objects that are there still count as held. */
const COLLECTIONS = 100;

/** How many of the objects something still holds, but for the last, in which the renderer may keep an interest. */
async function countAlive(refs: readonly WeakRef<Object3D>[]): Promise<number> {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('start the browser with --js-flags=--expose-gc');
  let alive = refs.length;
  for (let i = 0; i < COLLECTIONS && alive > 1; i++) {
    // A reference that was asked for holds its object until the task ends.
    await new Promise((resolve) => setTimeout(resolve, 20));
    gc();
    alive = refs.filter((ref) => ref.deref() !== undefined).length;
  }
  return alive;
}

// Under WebGPURenderer three.js 0.187 itself holds all that was drawn, plain InstancedMeshes too.
test('crowds that WebGLRenderer drew, and that were dropped without dispose, are collected', async () => {
  const renderer = new WebGLRenderer();
  const { root, mesh, clips } = createStick();
  const box = new BoxGeometry();
  const material = new MeshBasicMaterial();
  const boneTexture = bakeBoneTexture(root, clips);
  const scene = new Scene();
  const camera = new PerspectiveCamera();
  const drawAndDrop = (create: () => Object3D) =>
    Array.from({ length: ROUNDS }, () => {
      const object = create();
      object.traverse((node) => (node.frustumCulled = false));
      scene.add(object);
      renderer.render(scene, camera);
      scene.remove(object);
      renderer.render(scene, camera);
      return new WeakRef(object);
    });

  const still = drawAndDrop(() => new InstancedMesh(box, material, 2));
  const crowds = drawAndDrop(() => {
    const crowd = new SkinnedInstancedMesh(mesh.geometry, material, boneTexture, 2);
    partsOf(new JointAttachment(crowd, 'Tip', box, material)).setVisibleAt(0, 0, false);
    crowd.addEventListener('loop', () => crowd.stop(0));
    return crowd.play(0, 'Slide').update(0.1).play(0, 'Slide', { fade: 1 });
  });
  expect(renderer.info.render.frame).toBe(ROUNDS * 4);
  expect(await countAlive(still), 'InstancedMesh').toBeLessThanOrEqual(1);
  expect(await countAlive(crowds)).toBeLessThanOrEqual(1);
  renderer.dispose();
});

describe('lifecycle', () => {
  /** One thing a round that is not freed shows as so many. */
  const ROUNDS = THOROUGH ? 2 : 1;

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
    const held = device ? countDestroyed(device) : countHeld(gl!, webgl);
    const { memory } = renderer.info;
    return { renderer, held: (): Held => ({ ...held, geometries: memory.geometries }) };
  }

  function createScene(light: SpotLight | PointLight = new SpotLight(0xffffff, 20)) {
    light.position.set(2, 3, 3);
    light.castShadow = true;
    light.shadow.mapSize.set(32, 32);
    const scene = new Scene().add(light);
    const camera = new PerspectiveCamera(40, 1);
    camera.position.set(0, 1, 4);
    return { scene, camera };
  }

  function createView() {
    const renderer = new WebGLRenderer({ preserveDrawingBuffer: true });
    renderer.setSize(64, 64);
    renderer.shadowMap.enabled = true;
    const { scene, camera } = createScene(new PointLight(0xffffff, 20));
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
      const rounds = async (count: number) => {
        for (let i = 0; i < count; i++) round();
        // What a pass might still have read goes behind it.
        await Promise.resolve();
        return held();
      };
      const before = await rounds(2);
      const after = await rounds(ROUNDS);
      renderer.dispose();
      expect(before.textures).toBeGreaterThan(0);
      expect(after).toEqual(before);
    }

    const prepareRound = (encoding: 'frames' | 'tracks', draw: () => void, scene: Scene) => {
      const { root, clips } = createHatted();
      const box = new BoxGeometry(0.1, 0.6, 0.1);
      const material = new MeshStandardMaterial();
      const mine = bakeBoneTexture(root, clips, { fps: 8, encoding: encodingOf(encoding) });
      const other = new SphereGeometry(0.3, 6, 4);

      return () => {
        const character = bakeCharacter(root, clips, { fps: 5, encoding: encodingOf(encoding) });
        const crowd = new SkinnedInstancedMesh(character, 3);
        crowd.frustumCulled = false;
        crowd.castShadow = true;
        crowd.geometry.setDrawRange(0, 30);
        scene.add(crowd.playAll('Walk'));
        draw();
        // fades have a texture of their own
        crowd.update(0.1).play(0, 'Run', { fade: 0.5 }).update(0.1).play(0, 'Jump', { fade: 0.5 });
        draw();
        // parts and colours
        partsOf(crowd).setVisibleAt(1, 'Hat', false);
        crowd.setColorAt(0, new Color(1, 0, 0));
        partsOf(crowd).setColorAt(1, 'Body', new Color(0, 1, 0));
        draw();
        // what is attached, and attached to that
        const sword = new JointAttachment(crowd, 'RightHand', box, material);
        new JointAttachment(sword, 'RightHand', other, material);
        partsOf(sword.setColorAt(1, new Color(0, 0, 1))).setVisibleAt(2, 0, false);
        crowd.traverse((node) => (node.frustumCulled = false));
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
        setBoneTexture(crowd, mine);
        draw();
        sword.dispose();
        draw();
        scene.remove(crowd);
        crowd.dispose();
        disposeCharacter(character);
        draw();
      };
    };

    const usual = twin === 'GLSL' ? ('frames' as const) : ('tracks' as const);
    test.each(NIGHTLY ? (['frames', 'tracks'] as const) : [usual])(
      'rounds of fades, parts, attachments, sizes and copies in encoding %s leave nothing behind',
      async (encoding) => {
        await expectNothingLeft((draw, scene) => prepareRound(encoding, draw, scene));
      },
    );

    test('many small crowds, whose lists share textures, leave nothing behind', async () => {
      const { root, clips } = createCoarseCharacter();
      const character = bakeCharacter(root, clips);
      character.material = new MeshBasicMaterial();
      character.geometry.setDrawRange(0, 30);
      const aside = new Matrix4().makeTranslation(99, 0, 0);
      await expectNothingLeft((draw, scene) => () => {
        // As many as fill a texture.
        const crowds = Array.from({ length: 16 }, () => new SkinnedInstancedMesh(character, 255));
        for (const crowd of crowds) scene.add(crowd.setMatrixAt(1, aside));
        draw();
        for (const crowd of crowds) crowd.removeFromParent().dispose();
      });
    });
  });

  test('after a lost context a crowd has the browser warn of no more than an InstancedMesh does', async () => {
    const { root, clips } = createHatted();
    const plain = new InstancedMesh(new BoxGeometry(), new MeshStandardMaterial(), 2);
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 2).play(0, 'Run');
    new JointAttachment(crowd, 'Head', new BoxGeometry(), new MeshStandardMaterial());
    const warningsOf = async (mesh: InstancedMesh) => {
      const { renderer, scene, read } = createView();
      const problems = watchProblems(renderer);
      mesh.castShadow = mesh.receiveShadow = true;
      scene.add(mesh);
      read();
      await loseContext(renderer);
      await restoreContext(renderer);
      // That the context was lost is one.
      problems();
      read();
      crowd.update(0.1);
      read();
      const found = problems();
      problems.stop();
      const passedOver = passOverLost(renderer);
      mesh.dispose();
      renderer.dispose();
      return { found, passedOver };
    };
    const ofPlain = await warningsOf(plain);
    const ofCrowd = await warningsOf(crowd);
    expect(ofCrowd.found).toEqual(ofPlain.found);
    expect(ofPlain.passedOver).toHaveLength(3);
    expect(ofCrowd.passedOver).toEqual([]);
  });

  test('a renderer that lost its context, or was disposed, draws on, also poses that share a texture', async () => {
    const { renderer, scene, read } = createView();
    passOverLost(renderer);
    const empty = read();
    const { root, clips } = createHatted();
    for (let i = 0; i < 2; i++) {
      const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1).play(0, i);
      addLevel(crowd, crowd.geometry, i);
      scene.add(crowd.setMatrixAt(0, new Matrix4().makeTranslation(i, 0, 0)));
    }
    // From the second frame on levels are drawn right after their crowd.
    read();
    const before = read();
    expect(changedPixels(before, empty)).toBeGreaterThan(100);
    await loseContext(renderer);
    await restoreContext(renderer);
    expect(changedPixels(read(), before)).toBe(0);
    renderer.dispose();
    expect(changedPixels(read(), before)).toBe(0);
  });

  test.each([
    ['a point light', () => new PointLight(0xffffff, 20)],
    ['a directional light', () => new DirectionalLight()],
  ])('what is compiled ahead has the programs of poses and of shadow maps of %s', async (_, createLight) => {
    const { renderer, scene, camera, read } = createView();
    const { root, clips } = createHatted();
    const light = createLight();
    light.castShadow = true;
    light.position.set(2, 3, 3);
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 2).play(0, 'Run');
    crowd.castShadow = crowd.receiveShadow = true;
    scene.clear().add(light, crowd);
    scene.fog = new Fog(0xffffff, 1, 10);
    const link = vi.spyOn(renderer.getContext(), 'linkProgram');
    await renderer.compileAsync(scene, camera);
    // Of the picture and a shadow map, and both steps of the pass.
    const linked = link.mock.calls.length;
    expect(linked).toBeGreaterThan(3);
    read();
    expect(link).toHaveBeenCalledTimes(linked);
    renderer.dispose();
  });
});
