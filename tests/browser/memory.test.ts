import {
  BoxGeometry,
  Color,
  DirectionalLight,
  Float32BufferAttribute,
  Fog,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  Object3D,
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
import { morphsOf, partsOf } from '../support/features.js';
import {
  bakeBoneTexture,
  bakeCharacter,
  disposeCharacter,
  encodingOf,
  JointAttachment,
  SkinnedInstancedMesh,
  setBoneTexture,
} from '../support/library.js';
import { loseContext, restoreContext } from '../support/loseContext.js';
import { changedPixels } from '../support/pictures.js';
import { createStick } from '../support/stick.js';
import { THOROUGH } from '../support/thorough.js';

const ROUNDS = 40;

/** How often what is unused is collected before objects that are there still count as held. */
const COLLECTIONS = 100;

/** How many of the objects something still holds, but for the last, in which the renderer may keep an interest. */
async function countAlive(refs: readonly WeakRef<Object3D>[]): Promise<number> {
  const { gc } = globalThis as { gc?: () => void };
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
      object.traverse((node) => {
        node.frustumCulled = false;
      });
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

describe('what WebGLRenderer holds', () => {
  /** A renderer that counts what it makes and has not let go of. */
  function createCounting() {
    const renderer = new WebGLRenderer();
    const kinds = ['Buffer', 'Texture', 'VertexArray'];
    const pairs = kinds.map((kind) => [kind, [`create${kind}`, `delete${kind}`] as const]);
    const held = countHeld(renderer.getContext(), Object.fromEntries(pairs));
    return { renderer, held };
  }

  function withMorph(geometry: BoxGeometry): BoxGeometry {
    const { count } = geometry.getAttribute('position');
    geometry.morphAttributes.position = [new Float32BufferAttribute(new Array(count * 3).fill(1), 3)];
    geometry.morphTargetsRelative = true;
    return geometry;
  }

  const { root, mesh, clips } = createStick();
  const others = [4, 8].map((fps) => bakeBoneTexture(root, clips, { fps }));
  const second = new SkinnedInstancedMesh(bakeCharacter(root, clips), 5);
  second.play(0, 'Slide').play(0, 'Slide', { fade: 9 });

  const changes: Record<string, (crowd: SkinnedInstancedMesh, round: number) => void> = {
    'its capacity': (crowd, round) => crowd.setCapacity(round % 2 === 0 ? 300 : 3),
    'its geometry': (crowd) => {
      crowd.geometry = mesh.geometry;
    },
    'what it is a copy of': (crowd) => crowd.copy(second, false),
    'its bone texture': (crowd, round) => {
      setBoneTexture(crowd, others[round % 2]);
    },
  };
  test.each(Object.entries(changes))('does not grow when a crowd changes %s', (_, change) => {
    const { renderer, held } = createCounting();
    const scene = new Scene();
    const camera = new PerspectiveCamera();
    renderer.render(scene, camera);
    const draw = () => {
      scene.traverse((node) => {
        node.frustumCulled = false;
      });
      renderer.render(scene, camera);
      expect(renderer.getContext().getError()).toBe(0);
      // Three meshes, and the two steps of their pass where anything has changed.
      expect([3, 5]).toContain(renderer.info.render.calls);
    };
    const character = bakeCharacter(root, clips);
    const crowd = new SkinnedInstancedMesh(character, 3);
    const hat = new JointAttachment(crowd, 'Tip', withMorph(new BoxGeometry()), new MeshBasicMaterial());
    const feather = new JointAttachment(hat, 'Tip', new BoxGeometry(), new MeshBasicMaterial());
    morphsOf(hat);
    hat.setMorphAt(0, Object.assign(new Mesh(), { morphTargetInfluences: [1] }));
    feather.setColorAt(0, new Color('red'));
    partsOf(crowd).setVisibleAt(0, 0, false);
    crowd.play(0, 'Slide').play(0, 'Slide', { fade: 9 });
    scene.add(crowd);
    for (let round = 0; round < 4; round++) {
      change(crowd, round);
      draw();
    }
    const before = { ...held, ...renderer.info.memory };
    for (let round = 0; round < 20; round++) {
      change(crowd, round);
      draw();
    }
    expect({ ...held, ...renderer.info.memory }).toEqual(before);
    crowd.dispose();
    disposeCharacter(character);
    for (const texture of [...others, second.boneTexture]) texture.dispose();
    expect(held).toEqual({ Buffer: 0, Texture: 0, VertexArray: 0 });
    renderer.dispose();
  });
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

    // Node materials free the same whatever poses are stored as.
    test.each(twin === 'GLSL' || THOROUGH ? (['frames', 'tracks'] as const) : (['tracks'] as const))(
      'rounds of fades, parts, attachments, sizes and copies in encoding %s leave nothing behind',
      async (encoding) => {
        await expectNothingLeft((draw, scene) => prepareRound(encoding, draw, scene));
      },
    );
  });

  test('after context loss and restore the crowd is back, and moving', async () => {
    const { renderer, scene, read } = createView();
    const { root, clips } = createCoarseCharacter();
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 2);
    crowd.castShadow = true;
    crowd.setMatrixAt(1, new Matrix4().makeTranslation(0.8, 0, 0));
    crowd.play(0, 'Run').play(1, 'Wave');
    scene.add(crowd, new Object3D());
    crowd.update(0.1).play(0, 'Walk', { fade: 0.5 }).update(0.2);
    const before = read();

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

  test('a crowd that was compiled ahead is drawn right in its first frame, in the programs that there are', async () => {
    const { renderer, scene, camera, read } = createView();
    const { root, clips } = createCoarseCharacter();
    const character = bakeCharacter(root, clips);
    character.material = new MeshBasicMaterial();
    const create = () => new SkinnedInstancedMesh(character, 2).play(0, 'Run').play(1, 'Wave').update(0.3);
    // What three.js compiles ahead knows nothing of the shadows of lights.
    scene.clear().add(create());
    const expected = read();
    renderer.dispose();
    const fresh = createView();
    fresh.scene.clear().add(create());
    await fresh.renderer.compileAsync(fresh.scene, camera);
    const before = fresh.renderer.info.programs?.length;
    expect(changedPixels(expected, fresh.read(), 0)).toBe(0);
    expect(fresh.renderer.info.programs?.length).toBe(before);
    fresh.renderer.dispose();
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
