import {
  Float32BufferAttribute,
  Group,
  Matrix4,
  type Object3D,
  PerspectiveCamera,
  Scene,
  WebGLRenderer,
} from 'three';
import { expect, test, vi } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { SkinnedInstance } from '../../lib/objects/SkinnedInstance.js';
import { warned } from '../../lib/utils/messages.js';
import { TWINS } from '../support/captures.js';
import { drawingOf } from '../support/drawings.js';
import { morphsOf } from '../support/features.js';
import {
  bakeBoneTexture,
  bakeCharacter,
  frames,
  SkinnedInstancedMesh,
  setBoneTexture,
} from '../support/library.js';
import { changedPixels, picture } from '../support/pictures.js';
import { Reference } from '../support/reference.js';
import { createStick, createStickCrowd } from '../support/stick.js';

test('a crowd that plays, is drawn and never updated is warned of', () => {
  const renderer = new WebGLRenderer();
  const { root, clips } = createStick();
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const crowds = [0, 1].map(() => new SkinnedInstancedMesh(bakeCharacter(root, clips), 2).playAll('Slide'));
  const scene = new Scene().add(...crowds);
  for (const crowd of crowds) crowd.frustumCulled = crowd.perObjectFrustumCulled = false;
  const draw = (frames: number) => {
    for (let i = 0; i < frames; i++) renderer.render(scene, new PerspectiveCamera());
  };
  crowds[0].update(0).pause(crowds[1].pause(crowds[1].all).all);
  draw(200);
  expect(warn).not.toHaveBeenCalled();
  crowds[1].resume(1);
  draw(200);
  const expected = [[expect.stringContaining('call crowd.update(delta) in each frame')]];
  expect(warn.mock.calls).toEqual(expected);
  // An action waits for its first update.
  warned.clear();
  warn.mockClear();
  scene.clear();
  const knight = new SkinnedInstance(new SkinnedInstancedMesh(bakeCharacter(root, clips), 0));
  knight.clipAction('Slide').play();
  scene.add(knight.crowd);
  draw(100);
  expect(warn.mock.calls).toEqual(expected);
  renderer.dispose();
});

test('a crowd that a device cannot hold says so in every frame, until it can', () => {
  const renderer = new WebGLRenderer();
  const max = renderer.capabilities.maxTextureSize;
  const { root, mesh, clips } = createStick({ Slide: 1, Long: 1000 });
  mesh.geometry.morphAttributes.position = [new Float32BufferAttribute(new Array(9).fill(1), 3)];
  mesh.geometry.morphTargetsRelative = true;
  mesh.updateMorphTargets();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips.slice(0, 1), { encoding: frames }), 2);
  crowd.frustumCulled = false;
  const scene = new Scene().add(crowd);
  const draw = () => renderer.render(scene, new PerspectiveCamera());
  draw();

  const fitting = crowd.boneTexture;
  setBoneTexture(crowd, bakeBoneTexture(root, clips, { encoding: frames, maxTextureSize: 1 << 20 }));
  for (let frame = 0; frame < 3; frame++) expect(draw).toThrow(`bake it with maxTextureSize: ${max}`);
  setBoneTexture(crowd, fitting);
  draw();

  morphsOf(crowd);

  crowd.setMorphAt(0, mesh);
  draw();
  crowd.setCapacity(max + 1);
  for (let frame = 0; frame < 3; frame++) {
    expect(draw).toThrow(
      `SkinnedInstancedMesh: morph weights of the instances need a texture of height ${max + 1}, this device takes ${max}; split the crowd.`,
    );
  }
  crowd.setCapacity(2);
  draw();
  renderer.dispose();
});

test('a crowd of whose poses a device has not room says so', () => {
  const renderer = new WebGLRenderer();
  // A device that takes no more; the tracks of the character fit.
  renderer.capabilities.maxTextureSize = 2048;
  const { root, clips } = createCharacter();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 140_000);
  crowd.frustumCulled = false;
  const scene = new Scene().add(crowd);
  const draw = () => renderer.render(scene, new PerspectiveCamera());
  for (let frame = 0; frame < 2; frame++) {
    expect(draw).toThrow(
      'this device has room for poses of 131072 instances of 21 joints, not of 140000; make several crowds',
    );
  }
  crowd.count = 2;
  crowd.setCapacity(2);
  draw();
  renderer.dispose();
});

test.each([
  ['GLSL', 262_200, 'actions of the instances need a texture of height 2052, this device takes 2048'],
  ['TSL on WebGPU', 2000, 'matrices of the instances need a buffer of size 128000, this device takes 65536'],
] as const)('a crowd of more instances than %s can tell of says so', async (twin, count, message) => {
  if (!TWINS.includes(twin)) return;
  const { renderer, draw } = await drawingOf(twin);
  // A device that takes no more.
  const { capabilities, backend } = renderer as unknown as {
    capabilities: { maxTextureSize: number };
    backend: { device: GPUDevice };
  };
  if (twin === 'GLSL') capabilities.maxTextureSize = 2048;
  else backend.device = withLimits(backend.device, { maxBufferSize: 65536 });
  const crowd = createStickCrowd(count);
  crowd.frustumCulled = false;
  crowd.count = 2;
  const drawOne = async () => draw(new Scene().add(crowd), new PerspectiveCamera(), new Group());
  for (let frame = 0; frame < 2; frame++)
    await expect(drawOne).rejects.toThrow(`${message}; split the crowd.`);
  crowd.setCapacity(2);
  await drawOne();
  renderer.dispose();
});

test.runIf(TWINS.includes('TSL on WebGPU'))('under WebGPU it says how to get larger buffers', async () => {
  const { renderer, draw } = await drawingOf('TSL on WebGPU');
  const { backend } = renderer as unknown as { backend: { device: GPUDevice } };
  backend.device = withLimits(backend.device, { maxStorageBufferBindingSize: 1 << 23 });
  const { root, clips } = createCharacter();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 20_000);
  crowd.frustumCulled = false;
  await expect(draw(new Scene().add(crowd), new PerspectiveCamera(), new Group())).rejects.toThrow(
    'room for poses of 7943 instances of 21 joints, not of 20000; make several crowds, or give WebGPURenderer requiredLimits: maxBufferSize and maxStorageBufferBindingSize of 21120000.',
  );
  renderer.dispose();
});

/** A device that says that it takes less. */
function withLimits(device: GPUDevice, less: Record<string, number>): GPUDevice {
  const limits: Record<string, number> = {};
  for (const key in device.limits) limits[key] = device.limits[key as keyof GPUSupportedLimits];
  Object.assign(limits, less);
  return new Proxy(device, {
    get(_, key) {
      if (key === 'limits') return limits;
      const value = Reflect.get(device, key);
      return typeof value === 'function' ? value.bind(device) : value;
    },
  });
}

test('mirrored instances look right in a crowd that is mirrored itself', () => {
  const renderer = new WebGLRenderer();
  const { root, clips } = createStick();
  const camera = new PerspectiveCamera(40, 1);
  camera.position.z = 4;
  const draw = (object: Object3D) => picture(renderer, new Scene(), camera, object);
  const mirrored = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
  mirrored.scale.x = -1;
  const expected = draw(new Reference(root, new Matrix4().makeScale(-1, 1, 1)).root);
  expect(changedPixels(expected, draw(new Group()))).toBeGreaterThan(1000);
  expect(draw(mirrored)).toEqual(expected);
  renderer.dispose();
});
