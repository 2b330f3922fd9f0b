import {
  AmbientLight,
  Color,
  DirectionalLight,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  PerspectiveCamera,
  PlaneGeometry,
  Scene,
  WebGLRenderer,
} from 'three';
import type { RenderTarget, WebGPURenderer } from 'three/webgpu';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createPeople } from '../../demos/people.js';
import { TWINS, type Twin } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { drawingOf } from '../support/drawings.js';
import { drawInNewFrame } from '../support/frames.js';
import { levelsOf } from '../support/levels.js';
import {
  bakeCharacter,
  encodingOf,
  getViewInfo,
  Impostor,
  type ImpostorMesh,
  type ImpostorOptions,
  InstanceParts,
  SkinnedInstancedMesh,
} from '../support/library.js';
import { loseContext, passOverLost, restoreContext } from '../support/loseContext.js';
import { NIGHTLY, THOROUGH } from '../support/thorough.js';

const SIZE = 96;
/** Pixels that the figure is tall. */
const TALL = 24;
const HEIGHT = 1.8;
/** By so much the figure is turned whose picture is as far off as an impostor may be. */
const TURN = Math.PI / 12;
const CLIPS = ['Idle', 'Walk', 'Run', 'Dance'];
/** Frames per second of clips that have few phases, and so few tiles. */
const FEW = 4;

/** Which tests have which renderer where not everything is tested. */
const TURNS: Record<Twin, number[]> = { GLSL: [0, 1], 'TSL on WebGPU': [2, 4], 'TSL on WebGL 2': [0] };

/** As a canvas shows what is in a render target. */
const toSRGB = Array.from({ length: 256 }, (_, value) => {
  const share = value / 255;
  return Math.round(255 * (share < 0.0031308 ? share * 12.92 : 1.055 * share ** (1 / 2.4) - 0.055));
});

/** Draws small pictures. */
async function createRenderer(twin: Twin) {
  const { renderer, dispose } = await drawingOf(twin);
  let target: RenderTarget | null = null;
  if (renderer instanceof WebGLRenderer) renderer.setSize(SIZE, SIZE);
  else target = new (await import('three/webgpu')).RenderTarget(SIZE, SIZE);
  const draw = (scene: Scene, camera: PerspectiveCamera) => {
    if (target === null) renderer.render(scene, camera);
    else {
      renderer.setRenderTarget(target as never);
      renderer.render(scene, camera);
      renderer.setRenderTarget(null);
    }
  };
  const read = async (scene: Scene, camera: PerspectiveCamera): Promise<Uint8Array> => {
    if (target === null) {
      draw(scene, camera);
      const pixels = new Uint8Array(SIZE * SIZE * 4);
      const gl = (renderer as WebGLRenderer).getContext();
      gl.readPixels(0, 0, SIZE, SIZE, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
      return pixels;
    }
    const nodes = renderer as WebGPURenderer;
    await drawInNewFrame(nodes, () => draw(scene, camera));
    const linear = (await nodes.readRenderTargetPixelsAsync(target, 0, 0, SIZE, SIZE)) as Uint8Array;
    return linear.map((value) => toSRGB[value]);
  };
  return {
    renderer,
    draw,
    read,
    dispose: () => {
      target?.dispose();
      dispose();
    },
  };
}

type Small = Awaited<ReturnType<typeof createRenderer>>;

/** A figure on ground in the sun, drawn as it is or as an impostor. */
function createView(
  first: Small,
  encoding: 'tracks' | 'frames' = 'tracks',
  options: ImpostorOptions = { clips: CLIPS },
  fps = FEW,
) {
  let small = first;
  const scene = new Scene();
  scene.background = new Color(0x556677);
  const sun = new DirectionalLight(0xffffff, 2.5);
  sun.position.set(2, 4, 3);
  sun.castShadow = true;
  sun.shadow.bias = -0.002;
  Object.assign(sun.shadow.camera, { left: -2, right: 2, top: 2, bottom: -2, near: 0.5, far: 12 });
  const ground = new Mesh(new PlaneGeometry(40, 40), new MeshStandardMaterial({ color: 0x889966 }));
  ground.rotation.x = -Math.PI / 2;
  ground.receiveShadow = true;
  scene.add(sun, new AmbientLight(0xffffff, 0.8), ground);

  const { root, clips } = createCoarseCharacter();
  const character = bakeCharacter(root, clips, { encoding: encodingOf(encoding), fps });
  const crowd = new SkinnedInstancedMesh(character, 1);
  crowd.castShadow = crowd.receiveShadow = true;
  crowd.frustumCulled = false;
  scene.add(crowd);
  const impostor = levelsOf(crowd).add(new Impostor(options), { screenShare: 0.9 });
  const camera = new PerspectiveCamera(20, 1, 0.1, 200);

  const look = (azimuth: number, elevation: number) => {
    const distance = (HEIGHT / (2 * Math.tan(Math.PI / 18))) * (SIZE / TALL);
    camera.position.setFromSphericalCoords(
      distance,
      Math.PI / 2 - (elevation * Math.PI) / 180,
      (azimuth * Math.PI) / 180,
    );
    camera.position.y += HEIGHT / 2;
    camera.lookAt(0, HEIGHT / 2, 0);
    camera.updateMatrixWorld();
  };
  const read = () => small.read(scene, camera);
  const draw = () => small.draw(scene, camera);
  /** Draws until all tiles are there; returns in how many frames. */
  const fill = (mesh: ImpostorMesh = impostor) => {
    let frames = 0;
    while (!mesh.isReady && frames < 200) {
      draw();
      frames++;
    }
    expect(mesh.isReady).toBe(true);
    return frames;
  };
  const readAs = (level: 'mesh' | 'impostor') => {
    levelsOf(crowd).levels[1].screenShare = level === 'mesh' ? 1e-6 : 0.9;
    return read();
  };
  const dispose = () => {
    crowd.dispose();
    sun.dispose();
    if (small !== first) small.dispose();
  };
  const use = (other: Small) => (small = other);
  look(20, 15);
  return { use, scene, sun, crowd, impostor, camera, look, read, draw, readAs, fill, dispose };
}

/** Root of the mean square of differences. */
function rms(a: Uint8Array, b: Uint8Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] - b[i]) ** 2;
  return Math.sqrt(sum / a.length);
}

/** Mean colour where two pictures differ. */
function meanColor(picture: Uint8Array, empty: Uint8Array): number[] {
  const sum = [0, 0, 0];
  for (let at = 0; at < picture.length; at += 4)
    if (Math.abs(picture[at] - empty[at]) + Math.abs(picture[at + 2] - empty[at + 2]) > 40)
      for (let i = 0; i < 3; i++) sum[i] += picture[at + i];
  return sum;
}

describe.each(TWINS)('impostors, %s', (twin) => {
  let small: Small;
  beforeAll(async () => {
    small = await createRenderer(twin);
  });
  afterAll(() => small.dispose());
  // Tiles take long to draw: each test has one of the renderers in turn, and where not everything is tested two have each.
  beforeEach(({ task, skip }) => {
    const at = task.suite?.tasks.indexOf(task) ?? 0;
    const isTurn = THOROUGH ? at === 0 || (at % 2 === 1) === (twin === 'GLSL') : TURNS[twin].includes(at);
    skip(!NIGHTLY && !isTurn);
  });

  test.each(NIGHTLY ? (['tracks', 'frames'] as const) : (['tracks'] as const))(
    'impostors of %s look like the figure, with its shadow, from all around and in the phase of its clip',
    async (encoding) => {
      const options = { clips: ['Walk', 'Run', 'Dance'] };
      const { crowd, look, readAs, read, fill, dispose } = createView(small, encoding, options, 30);
      fill();
      const errors = { impostor: 0, turned: 0, none: 0 };
      for (const [azimuth, elevation] of [
        [0, 8],
        [37, 12],
        [101, 25],
        [160, 45],
        [222, 5],
        [290, 33],
        [345, 65],
      ]) {
        look(azimuth, elevation);
        crowd.visible = false;
        const empty = await read();
        crowd.visible = true;
        for (const [clip, share] of [
          ['Walk', 0.3],
          ['Run', 0.55],
          ['Dance', 0.1],
        ] as const) {
          const { duration } = crowd.boneTexture.clips[crowd.boneTexture.clipIndex(clip)];
          const pose = (at: number) => crowd.play(0, clip, { time: at * duration, timeScale: 0 }).update(0);
          pose(share);
          const mesh = await readAs('mesh');
          errors.impostor += rms(await readAs('impostor'), mesh);
          errors.none += rms(empty, mesh);
          crowd.setMatrixAt(0, new Matrix4().makeRotationY(TURN));
          crowd.instanceMatrix.needsUpdate = true;
          errors.turned += rms(await readAs('mesh'), mesh);
          crowd.setMatrixAt(0, new Matrix4());
          crowd.instanceMatrix.needsUpdate = true;
        }
      }
      expect(errors.impostor / errors.turned).toBeLessThan(1);
      expect(errors.impostor / errors.none).toBeLessThan(0.55);
      dispose();
    },
  );

  test('an impostor follows the clock, speed and pauses of its instance, and the clip that weighs most', async () => {
    const { crowd, look, readAs, fill, dispose } = createView(small, 'tracks', { clips: ['Idle', 'Run'] });
    fill();
    look(80, 10);
    const { duration } = crowd.boneTexture.clips[crowd.boneTexture.clipIndex('Run')];
    const at = async (time: number) => {
      crowd.play(0, 'Run', { time, timeScale: 0 }).update(0);
      return readAs('impostor');
    };
    const early = await at(duration * 0.1);
    const late = await at(duration * 0.6);
    expect(rms(early, late)).toBeGreaterThan(2);
    crowd.play(0, 'Run', { time: duration * 0.1, timeScale: 2 }).update(duration * 0.25);
    expect(await readAs('impostor')).toEqual(late);
    crowd.pause(0).update(duration * 0.2);
    expect(await readAs('impostor')).toEqual(late);
    crowd.resume(0);
    crowd.play(0, 'Idle', { fade: 1, time: 0, timeScale: 0 }).update(0.9);
    const fading = await readAs('impostor');
    crowd.play(0, 'Idle', { time: 0, timeScale: 0 }).update(0);
    expect(fading).toEqual(await readAs('impostor'));
    dispose();
  });

  test('an impostor has the colour of its instance, and nobody is posed for it', async () => {
    const { crowd, camera, readAs, read, fill, dispose } = createView(small, 'tracks', { clips: ['Idle'] });
    fill();
    crowd.visible = false;
    const empty = await read();
    crowd.visible = true;
    crowd.setColorAt(0, new Color(1, 0.1, 0.1));
    const colors = [meanColor(await readAs('mesh'), empty), meanColor(await readAs('impostor'), empty)];
    const [mesh, impostor] = colors.map(([red, green]) => red / green);
    expect(impostor).toBeGreaterThan(1.5);
    expect(Math.abs(impostor / mesh - 1)).toBeLessThan(0.2);
    crowd.update(0.1);
    await read();
    expect(getViewInfo(crowd, camera)).toMatchObject({ levels: [0, 1], posed: 0, triangles: 2 });
    dispose();
  });

  test('an impostor has the colours of the parts of its instance, and those that one instance shows', async () => {
    const { scene, crowd: other, look, read, draw, dispose } = createView(small);
    other.visible = false;
    const { root, clips } = createPeople({ detail: 0.3, clothed: false });
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips, { fps: FEW }), 2).setVisibleAt(
      0,
      false,
    );
    scene.add(crowd);
    const impostor = levelsOf(crowd).add(new Impostor({ clips: ['Idle'], instance: 1 }), {
      screenShare: 0.9,
    });
    const [, level] = levelsOf(crowd).levels;
    const fill = () => {
      for (let frame = 0; frame < 60 && !impostor.isReady; frame++) draw();
      expect(impostor.isReady).toBe(true);
    };
    fill();
    look(0, 10);
    const parts = new InstanceParts(crowd);
    parts
      .setColorAt(1, 'Shirt', new Color(1, 0.05, 0.05))
      .setColorAt(1, 'Trousers', new Color(0.05, 0.05, 1));
    await read();
    expect(impostor.isReady).toBe(false);
    fill();
    crowd.visible = false;
    const empty = await read();
    crowd.visible = true;
    const compare = async () => {
      const picture = await read();
      level.screenShare = 1e-6;
      const mesh = await read();
      level.screenShare = 0.9;
      const ratio = rms(picture, mesh) / rms(mesh, empty);
      return { picture, ratio };
    };
    const { picture, ratio } = await compare();
    // Tiles of nodes have fewer texels, see `nodeTiles`.
    const most = twin === 'GLSL' ? 0.55 : 0.58;
    expect(ratio).toBeLessThan(most);
    // Another capacity has another texture of parts, with the same colours.
    crowd.setCapacity(40);
    expect(await read()).toEqual(picture);
    parts.setColorAt(1, 'Shirt', new Color(0.05, 1, 0.05));
    expect(rms(await read(), picture)).toBeGreaterThan(2);
    expect((await compare()).ratio).toBeLessThan(most);

    parts.setVisibleAt(1, 'Trousers', false);
    const before = (await compare()).ratio;
    impostor.refresh();
    fill();
    expect((await compare()).ratio).toBeLessThan(before * 0.9);
    parts.dispose();
    await read();
    fill();
    // A figure in white, of which few pixels differ from each other.
    expect((await compare()).ratio).toBeLessThan(0.65);
    crowd.dispose();
    dispose();
  });

  test('where levels dissolve, each pixel is that of the mesh or that of the impostor', async () => {
    const { crowd, camera, look, read, readAs, fill, dispose } = createView(small, 'tracks', {
      clips: ['Run'],
    });
    fill();
    look(50, 12);
    crowd.castShadow = crowd.receiveShadow = false;
    crowd.play(0, 'Run', { time: 0.2, timeScale: 0 }).update(0);
    // WebGPURenderer has drawn the shadows of this frame.
    await read();
    const mesh = await readAs('mesh');
    const impostor = await readAs('impostor');
    const levels = levelsOf(crowd);
    levels.dissolve = 0.5;
    const shares: number[] = [];
    for (let share = 0.15; share < 0.5; share *= 1.08) {
      levels.levels[1].screenShare = share;
      const picture = await read();
      if (getViewInfo(crowd, camera)?.levels.join() !== '1,1') continue;
      let own = 0;
      let others = 0;
      for (let at = 0; at < picture.length; at += 4) {
        const isLike = (other: Uint8Array) =>
          [0, 1, 2].every((i) => Math.abs(picture[at + i] - other[at + i]) <= 1);
        if (!isLike(mesh) && !isLike(impostor)) others++;
        else if (!isLike(mesh)) own++;
      }
      expect(others).toBe(0);
      shares.push(own);
    }
    // More and more of them are the impostor's.
    expect(shares.length).toBeGreaterThan(3);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect(shares[shares.length - 1]).toBeGreaterThan(4 * Math.max(shares[0], 5));
    dispose();
  });

  test('tiles are drawn over frames, in at most 16 MB for four clips, and all is freed', async () => {
    const one = { clips: ['Idle'] };
    const { scene, crowd, impostor, camera, fill, read, dispose } = createView(small, 'tracks', one);
    fill();
    await read();
    levelsOf(crowd).remove(impostor);
    await read();
    const { memory } = small.renderer.info;
    const before = { ...memory };
    const again = levelsOf(crowd).add(new Impostor({ clips: CLIPS }), { screenShare: 0.9 });
    await read();
    // Until they are there, the figure is drawn as before.
    expect(getViewInfo(crowd, camera)?.levels).toEqual([1, 0]);
    expect(fill(again)).toBeGreaterThan(20);
    await read();
    expect(getViewInfo(crowd, camera)?.levels).toEqual([0, 1]);
    expect(again.byteLength).toBeGreaterThan(1e6);
    expect(again.byteLength).toBeLessThan(16e6);
    again.dispose();
    await read();
    expect(memory).toEqual(before);
    expect(scene.children).toContain(crowd);
    dispose();
  });

  test('tiles are drawn anew for another material, for a copy of the crowd, and after the context or the device was lost', async () => {
    const first = await createRenderer(twin);
    const { scene, crowd, impostor, camera, readAs, fill, read, use, dispose } = createView(
      first,
      'tracks',
      { clips: ['Idle'] },
      1,
    );
    fill();
    const before = await readAs('impostor');

    const copy = crowd.clone();
    scene.remove(crowd).add(copy);
    const [, { object }] = levelsOf(copy).levels;
    expect(object).not.toBe(impostor);
    fill(object as ImpostorMesh);
    expect(rms(await read(), before)).toBeLessThan(0.1);
    scene.remove(copy).add(crowd);
    copy.dispose();

    const { material } = crowd;
    crowd.material = new MeshStandardMaterial({ color: 0xff2200 });
    await read();
    expect(impostor.isReady).toBe(false);
    fill();
    expect(rms(await read(), before)).toBeGreaterThan(2);
    crowd.material = material;
    await read();
    fill();
    expect(rms(await read(), before)).toBeLessThan(0.1);

    if (first.renderer instanceof WebGLRenderer) {
      passOverLost(first.renderer);
      await loseContext(first.renderer);
      await restoreContext(first.renderer);
    } else {
      // Nothing gives a device back: another renderer goes on.
      const { device } = first.renderer.backend as { device?: GPUDevice };
      device?.destroy();
      use(await createRenderer(twin));
    }
    await read();
    expect(impostor.isReady).toBe(false);
    fill();
    expect(rms(await read(), before)).toBeLessThan(0.1);
    expect(getViewInfo(crowd, camera)?.levels).toEqual([0, 1]);
    dispose();
    first.dispose();
  });
});

test('clips that are not there, and too many of them, are errors', () => {
  const { root, clips } = createCoarseCharacter();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
  const add = (options?: ImpostorOptions) =>
    levelsOf(crowd).add(new Impostor(options), { screenShare: 0.03 });
  expect(() => add({ clips: ['Fly'] })).toThrow('There is no clip "Fly"');
  if (clips.length > 8) expect(() => add()).toThrow('say which ones are seen from afar');
  crowd.dispose();
});
