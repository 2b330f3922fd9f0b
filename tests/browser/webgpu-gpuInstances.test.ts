import {
  GPUInstances,
  NeighbourGrid,
  pickGPUInstance,
  selectGPUInstances,
} from 'skinned-instanced-mesh/webgpu';
import {
  Box2,
  Box3,
  BoxGeometry,
  LoopOnce,
  Matrix4,
  MeshBasicMaterial,
  Object3D,
  type PerspectiveCamera,
  Raycaster,
  Vector2,
  Vector3,
} from 'three';
import { Fn, instanceIndex, int, storage, uniform, vec4 } from 'three/tsl';
import { StorageInstancedBufferAttribute, type WebGPURenderer } from 'three/webgpu';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { TWINS } from '../support/captures.js';
import { createCoarsestCharacter, createFigure } from '../support/coarseCharacter.js';
import { type Drawing, drawingOf, useDrawing } from '../support/drawings.js';
import { addLevel, levelsOf } from '../support/levels.js';
import {
  AnimationLayers,
  bakeCharacter,
  CrowdKinds,
  JointAttachment,
  pickInstance,
  readViewInfo,
  SkinnedInstancedMesh,
  selectInstances,
  setBoneTexture,
} from '../support/library.js';
import { aim, changedPixels, createStage } from '../support/pictures.js';
import { random as randomFrom } from '../support/random.js';

const COUNT = 300;
const ALL = new Box3(new Vector3(-9, 0, -9), new Vector3(9, 2, 9));
const { root, clips } = createCoarsestCharacter();
const character = bakeCharacter(root, clips);

/** Where an instance stands at a time. */
const placeOf = (id: number, time: number) => {
  const angle = id * 2.4;
  const radius = 0.55 * Math.sqrt(id);
  return new Matrix4()
    .makeRotationY(angle)
    .setPosition(Math.sin(angle) * radius + time, 0, Math.cos(angle) * radius);
};

/** How far into its length an instance's clip is. */
const shareAt = (crowd: SkinnedInstancedMesh, id: number) =>
  crowd.getTimeAt(id) /
  character.boneTexture.clips[character.boneTexture.clipIndex(crowd.getClipAt(id) ?? 0)].duration;

function createCrowd(): SkinnedInstancedMesh {
  const crowd = new SkinnedInstancedMesh(character, COUNT);
  crowd.castShadow = crowd.receiveShadow = true;
  addLevel(crowd, crowd.geometry, 6);
  return crowd;
}

describe.runIf(TWINS.includes('TSL on WebGPU'))('instances on the GPU', () => {
  const drawing = useDrawing('TSL on WebGPU', drawingOf);
  let renderer: WebGPURenderer;
  beforeAll(() => {
    renderer = drawing.renderer as WebGPURenderer;
  });

  test('stand where compute has written them, culled, with levels and shadows as if the CPU had', async () => {
    const { scene, camera } = createStage(ALL);
    const [byCPU, byGPU] = [createCrowd(), createCrowd()];
    for (const crowd of [byCPU, byGPU]) {
      const kinds = new CrowdKinds(crowd);
      const other = kinds.add(bakeCharacter(createFigure(0xcc4422, 0.4).root, []));
      for (let i = 0; i < COUNT; i += 3) kinds.setKindAt(i, other);
      new JointAttachment(crowd, 'Head', new BoxGeometry(0.3, 0.3, 0.3), new MeshBasicMaterial());
    }
    const matrices = new StorageInstancedBufferAttribute(COUNT, 16);
    const gpu = new GPUInstances(byGPU, { matrices });
    const bases = new StorageInstancedBufferAttribute(COUNT, 16);
    for (let i = 0; i < COUNT; i++) placeOf(i, 0).toArray(bases.array, i * 16);
    const time = uniform(0);
    const step = Fn(() => {
      const element = int(instanceIndex).mul(4).toVar();
      const [from, to] = [bases, matrices].map((buffer) => storage(buffer, 'vec4', COUNT));
      for (let column = 0; column < 4; column++) {
        const value = from.element(element.add(column));
        to.element(element.add(column)).assign(column < 3 ? value : value.add(vec4(time, 0, 0, 0)));
      }
    })().compute(COUNT);
    for (let i = 0; i < COUNT; i++)
      for (const crowd of [byCPU, byGPU]) crowd.play(i, i % clips.length, { time: i * 0.13 });
    const empty = await drawing.draw(scene, camera, new Object3D());
    for (let frame = 0; frame < 5; frame++) {
      for (const crowd of [byCPU, byGPU]) {
        levelsOf(crowd).dissolve = frame < 2 ? 0 : 0.5;
        if (frame === 4) levelsOf(crowd).add(null, 6);
      }
      time.value = frame;
      aim(
        camera,
        [Math.sin(frame) * 5, 1.5, Math.cos(frame) * 5],
        [Math.sin(frame + 2) * 3, 1, Math.cos(frame + 2) * 3],
      );
      for (let i = 0; i < COUNT; i++) byCPU.setMatrixAt(i, placeOf(i, frame));
      byCPU.instanceMatrix.needsUpdate = true;
      for (const crowd of [byCPU, byGPU]) crowd.update(0.1);
      const expected = await drawing.draw(scene, camera, byCPU);
      expect(changedPixels(expected, empty)).toBeGreaterThan(3000);
      renderer.compute(step);
      const picture = await drawing.draw(scene, camera, byGPU);
      expect(changedPixels(picture, expected), `frame ${frame}`).toBeLessThan(14);
      const seen = await readViewInfo(byGPU, renderer, camera);
      const { posed: _, ...counted } = await readViewInfo(byCPU, renderer, camera);
      expect(seen).toEqual(counted);
      if (frame < 4) expect(seen.levels[0] + seen.levels[1] > seen.visible).toBe(frame >= 2);
      expect(seen.visible).toBeLessThan(COUNT);
    }

    // What the CPU asks for comes back later.
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const raycaster = new Raycaster(new Vector3(20, 1, 0), new Vector3(-1, 0, 0));
    expect(raycaster.intersectObject(byGPU)).toEqual([]);
    expect(warn.mock.calls.flat().join()).toContain('GPUInstances.raycast');
    const asking = gpu.raycast(renderer, raycaster);
    byGPU.update(0.5);
    const hit = await asking;
    const { matrices: read } = await gpu.readMatrices(renderer);
    const { x, z } = new Vector3().setFromMatrixPosition(placeOf(hit?.instanceId ?? -1, 4));
    expect(read[(hit?.instanceId ?? 0) * 16 + 12]).toBeCloseTo(x, 4);
    expect(Math.abs(z)).toBeLessThan(1.5);
    expect(x).toBeGreaterThan(7);
    expect(hit?.age).toBeCloseTo(0.5);

    const eye = camera as PerspectiveCamera;
    const box = new Box2(new Vector2(-0.5, -0.8), new Vector2(0.6, 0.7));
    const selected = await selectGPUInstances(gpu, renderer, eye, box);
    expect([...selected]).toEqual([...selectInstances(byCPU, eye, box)].sort((a, b) => a - b));
    expect(selected.length).toBeGreaterThan(3);
    for (let k = 0; k < 10; k++) {
      const pointer = new Vector2(Math.sin(k), Math.cos(3 * k));
      const picked = await pickGPUInstance(gpu, renderer, eye, pointer, { height: 200 });
      const expected = pickInstance(byCPU, eye, pointer, { height: 200 });
      expect(picked?.instanceId).toBe(expected?.instanceId);
    }

    // Without it, the CPU says it again.
    gpu.dispose();
    for (const crowd of [byCPU, byGPU]) {
      for (let i = 0; i < COUNT; i++) crowd.setMatrixAt(i, placeOf(i, 1));
      crowd.instanceMatrix.needsUpdate = true;
    }
    byCPU.update(0.5);
    const expected = await drawing.draw(scene, camera, byCPU);
    expect(changedPixels(await drawing.draw(scene, camera, byGPU), expected, 0)).toBe(0);
    for (const crowd of [byCPU, byGPU]) crowd.dispose();
  });

  test('stand where places say, and go on in another renderer after the device was lost', async () => {
    const { scene, camera } = createStage(ALL);
    const byCPU = createCrowd();
    const byGPU = createCrowd();
    const places = new StorageInstancedBufferAttribute(COUNT, 4);
    const plays = new StorageInstancedBufferAttribute(COUNT, 4);
    const gpu = new GPUInstances(byGPU, { places, plays });
    const x = uniform(0);
    const given = new StorageInstancedBufferAttribute(COUNT, 4);
    for (let i = 0; i < COUNT; i++) {
      const radius = 0.5 * Math.sqrt(i);
      given.setXYZW(i, Math.sin(i * 2.4) * radius, Math.cos(i * 2.4) * radius, i * 0.7, 0.5 + (i % 3) * 0.3);
    }
    const walk = gpu.clip(1);
    const step = Fn(() => {
      const [from, to, played] = [given, places, plays].map((buffer) => storage(buffer, 'vec4', COUNT));
      to.element(instanceIndex).assign(from.element(instanceIndex).add(vec4(x, 0, 0, 0)));
      played.element(instanceIndex).assign(vec4(walk, 0, 1, 0));
    })().compute(COUNT);
    const compare = async (by: Drawing, time: number) => {
      x.value = time;
      const turned = new Matrix4();
      for (let i = 0; i < COUNT; i++) {
        const size = given.getW(i);
        turned.makeRotationY(given.getZ(i)).scale(new Vector3(size, size, size));
        byCPU.setMatrixAt(i, turned.setPosition(given.getX(i) + time, 0, given.getY(i)));
      }
      byCPU.instanceMatrix.needsUpdate = true;
      const expected = await by.draw(scene, camera, byCPU);
      expect(changedPixels(expected, await by.draw(scene, camera, new Object3D()))).toBeGreaterThan(3000);
      (by.renderer as WebGPURenderer).compute(step);
      // Renderers count their frames by the browser's, so that those of two may have one number.
      scene.onBeforeRender = () => Object.assign(by.renderer.info, { frame: 7 });
      expect(changedPixels(await by.draw(scene, camera, byGPU), expected)).toBeLessThan(14);
      scene.onBeforeRender = () => {};
    };
    byCPU.playAll(1, { timeScale: 1 });
    const first = await drawingOf('TSL on WebGPU');
    await compare(first, 0);
    ((first.renderer as WebGPURenderer).backend as unknown as { device: GPUDevice }).device.destroy();
    const second = await drawingOf('TSL on WebGPU');
    await compare(second, 1);
    const { matrices } = await gpu.readMatrices(second.renderer as WebGPURenderer);
    expect(matrices[7 * 16 + 12]).toBeCloseTo(given.getX(7) + 1, 4);
    for (const crowd of [byCPU, byGPU]) crowd.dispose();
    second.dispose();
  });

  test('play, fade, change their speed and hide as storage says, as if the CPU had been told', async () => {
    const { scene, camera } = createStage(ALL);
    const [byCPU, byGPU] = [createCrowd(), createCrowd()];
    for (const crowd of [byCPU, byGPU]) crowd.castShadow = false;
    const random = randomFrom(7);
    const plays = new StorageInstancedBufferAttribute(COUNT, 4);
    for (let i = 0; i < COUNT; i++) {
      for (const crowd of [byCPU, byGPU]) crowd.setMatrixAt(i, placeOf(i, 0)).play(i, 0, { time: i * 0.1 });
    }
    const gpu = new GPUInstances(byGPU, { plays });
    const empty = await drawing.draw(scene, camera, new Object3D());
    const told = new Map<number, { clip: number }>();
    const pick = (count: number) => Math.floor(random() * count);
    for (let frame = 0; frame < 16; frame++) {
      for (let i = pick(4); i < COUNT; i += 1 + pick(4)) {
        const speed = pick(3) === 0 ? 0 : random() * 2;
        const fade = pick(3) === 0 ? 0 : 0.1 + random();
        const clip = pick(8) === 0 ? -1 : pick(clips.length);
        const once = pick(4) === 0;
        const hidden = pick(6) === 0;
        const last = told.get(i);
        const inStep = last !== undefined && last.clip > 0 && pick(2) === 0;
        const code = clip < 0 ? 0 : gpu.clip(clip, { once, inStep }) + (frame + 1) * 2 ** 18;
        if (last !== undefined && last.clip > 0 && pick(3) === 0) {
          plays.setXYZW(i, last.clip, fade, speed, hidden ? 1 : 0);
          byCPU.setTimeScaleAt(i, speed);
        } else {
          // Nothing was told yet: its clip goes on.
          if (code === (last?.clip ?? 0)) continue;
          plays.setXYZW(i, code, fade, speed, hidden ? 1 : 0);
          told.set(i, { clip: code });
          if (clip < 0) byCPU.stop(i, { fade });
          else
            byCPU.play(i, clip, {
              fade,
              restart: true,
              timeScale: speed,
              time: inStep ? shareAt(byCPU, i) * character.boneTexture.clips[clip].duration : 0,
              ...(once ? { loop: LoopOnce, clampWhenFinished: true } : {}),
            });
        }
        byCPU.setVisibleAt(i, !hidden);
      }
      plays.needsUpdate = true;
      // Over the ends of epochs, too, and one that is long past.
      const delta = frame === 12 ? 100 : 0.9 * random();
      const picture = await drawing.draw(scene, camera, byGPU);
      const expected = await drawing.draw(scene, camera, byCPU);
      expect(changedPixels(expected, empty)).toBeGreaterThan(3000);
      expect(changedPixels(picture, expected), `frame ${frame}`).toBeLessThan(14);
      for (const crowd of [byCPU, byGPU]) crowd.update(delta);
    }
    for (const crowd of [byCPU, byGPU]) crowd.dispose();
  });

  test('a grid finds who is in the cells around a place, also outside of it', async () => {
    const [random, cells] = [randomFrom(3), 8];
    const array = Float32Array.from({ length: COUNT * 2 }, () => (random() - 0.5) * 10);
    const places = storage(new StorageInstancedBufferAttribute(array, 2), 'vec2', COUNT);
    const grid = new NeighbourGrid({ count: COUNT, cell: 1, cells, placeOf: (id) => places.element(id) });
    const sums = new StorageInstancedBufferAttribute(COUNT, 1);
    const step = Fn(() => {
      const sum = int(0).toVar();
      grid.forEach(places.element(instanceIndex), (id) => sum.addAssign(id.add(1000)));
      storage(sums, 'float', COUNT).element(instanceIndex).assign(sum.toFloat());
    })().compute(COUNT);
    renderer.compute([...grid.steps, step]);
    const found = new Float32Array(await renderer.getArrayBufferAsync(sums));
    const cellAt = (at: number) => Math.max(0, Math.min(Math.floor(array[at]) + cells / 2, cells - 1));
    const isNear = (a: number, b: number) => Math.abs(cellAt(a) - cellAt(b)) < 2;
    for (let id = 0; id < COUNT; id++)
      for (let i = 0; i < COUNT; i++)
        if (isNear(2 * id, 2 * i) && isNear(2 * id + 1, 2 * i + 1)) found[id] -= i + 1000;
    expect(found).toEqual(new Float32Array(COUNT));
    grid.dispose();
  });

  test('names storage that is too small, and what cannot be', () => {
    const crowd = createCrowd();
    const matrices = new StorageInstancedBufferAttribute(COUNT - 1, 16);
    expect(() => new GPUInstances(crowd, { matrices })).toThrow(
      `StorageInstancedBufferAttribute(${COUNT}, 16)`,
    );
    const kinds = new CrowdKinds(crowd);
    const plays = new StorageInstancedBufferAttribute(COUNT, 4);
    const addWide = () => kinds.add(bakeCharacter(root, []), { scale: 2 });
    const wide = addWide();
    expect(() => new GPUInstances(crowd, { plays })).toThrow('AnimationLayers and such kinds');
    wide.dispose();
    new GPUInstances(crowd, { matrices: new StorageInstancedBufferAttribute(COUNT, 16), plays });
    expect(addWide).toThrow('for kinds of other proportions leave out plays');
    kinds.dispose();
    const refused = /cannot change places, get more room, or play on layers/;
    expect(() => crowd.setCapacity(COUNT + 1)).toThrow(refused);
    expect(() => crowd.addInstance()).toThrow(refused);
    expect([crowd.capacity, crowd.count]).toEqual([COUNT, COUNT]);
    expect(() => crowd.swapInstances(0, 1)).toThrow(refused);
    expect(() => new AnimationLayers(crowd, [{ name: 'upper', mask: ['Spine'] }])).toThrow(refused);
    const { boneTexture } = bakeCharacter(root, [
      ...clips,
      Object.assign(clips[0].clone(), { name: 'More' }),
    ]);
    expect(() => setBoneTexture(crowd, boneTexture)).toThrow(`tracks of ${clips.length} clips`);
    crowd.dispose();
  });
});
