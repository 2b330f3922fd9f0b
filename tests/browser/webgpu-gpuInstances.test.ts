import { GPUInstances } from 'skinned-instanced-mesh/webgpu';
import { Box3, LoopOnce, Matrix4, Object3D, Raycaster, Vector3 } from 'three';
import { Fn, instanceIndex, int, storage, uniform, vec4 } from 'three/tsl';
import {
  type StorageBufferAttribute,
  StorageInstancedBufferAttribute,
  type WebGPURenderer,
} from 'three/webgpu';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { GAITS } from '../../demos/swarm/rules.js';
import { Swarm } from '../../demos/swarm/Swarm.js';
import { SwarmOnGPU } from '../../demos/swarm/SwarmOnGPU.js';
import { TWINS } from '../support/captures.js';
import { createCoarsestCharacter, createGaited } from '../support/coarseCharacter.js';
import { type Drawing, drawingOf, useDrawing } from '../support/drawings.js';
import { addLevel, levelsOf } from '../support/levels.js';
import {
  AnimationLayers,
  bakeCharacter,
  Impostor,
  readViewInfo,
  SkinnedInstancedMesh,
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
    const { scene, camera } = createStage(ALL, 'directional');
    const byCPU = createCrowd();
    const byGPU = createCrowd();
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
    const { scene, camera } = createStage(ALL, 'directional');
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
      scene.onBeforeRender = () => {
        Object.assign(by.renderer.info, { frame: 7 });
      };
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

  test('are impostors far away, in the clips that storage says', async () => {
    const { scene, camera } = createStage(ALL, 'directional');
    const [byCPU, byGPU] = [createCrowd(), createCrowd()];
    const matrices = new StorageInstancedBufferAttribute(COUNT, 16);
    const plays = new StorageInstancedBufferAttribute(COUNT, 4);
    const gpu = new GPUInstances(byGPU, { matrices, plays });
    for (let i = 0; i < COUNT; i++) {
      placeOf(i, 0).toArray(matrices.array, i * 16);
      byCPU.setMatrixAt(i, placeOf(i, 0));
    }
    const shown = uniform(0);
    const step = Fn(() => {
      storage(plays, 'vec4', COUNT)
        .element(instanceIndex)
        .assign(vec4(shown, 0, 1, 0));
    })().compute(COUNT);
    const impostors = [byCPU, byGPU].map((crowd) =>
      levelsOf(crowd).add(new Impostor({ clips: ['Run', 'Wave'] }), 6.5),
    );
    const pictures: Uint8Array[] = [];
    for (const clip of ['Run', 'Wave']) {
      byCPU.playAll(clip);
      shown.value = gpu.clip(clip);
      renderer.compute(step);
      await drawing.draw(scene, camera, byGPU);
      for (let frame = 0; frame < 3; frame++) {
        for (const crowd of [byCPU, byGPU]) crowd.update(0.13);
        for (const crowd of [byCPU, byGPU]) await drawing.draw(scene, camera, crowd);
      }
      while (impostors.some(({ isReady }) => !isReady))
        for (const crowd of [byCPU, byGPU]) await drawing.draw(scene, camera, crowd);
      const expected = await drawing.draw(scene, camera, byCPU);
      expect(changedPixels(await drawing.draw(scene, camera, byGPU), expected), clip).toBeLessThan(30);
      pictures.push(expected);
      const { levels } = await readViewInfo(byGPU, renderer, camera);
      expect(levels[2]).toBeGreaterThan(COUNT / 3);
    }
    expect(changedPixels(pictures[0], pictures[1])).toBeGreaterThan(500);
    for (const crowd of [byCPU, byGPU]) crowd.dispose();
  });

  test('play, fade, change their speed and hide as storage says, as if the CPU had been told', async () => {
    const { scene, camera } = createStage(ALL, 'directional');
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

  test('steer in compute as their twin on the CPU does, in crowds, round walls and stones, and fall or go by the same rules', async () => {
    const count = 600;
    const gaited = createGaited();
    const [character, random] = [bakeCharacter(gaited.root, gaited.clips), randomFrom(3)];
    const crowd = new SkinnedInstancedMesh(character, count);
    const onGPU = new SwarmOnGPU(count);
    const { matrices, plays, agents, traits } = onGPU;
    const gpu = new GPUInstances(crowd, { matrices, plays });
    onGPU.bind(gpu);
    const onCPU = new Swarm(count, new Float32Array(count * 16));
    const read = async (buffer: StorageBufferAttribute | StorageInstancedBufferAttribute) =>
      new Float32Array(await renderer.getArrayBufferAsync(buffer));
    /** Of how many agents a number is not the twin's: those just at a speed from which on they do something else. */
    const apart = (a: Float32Array, b: Float32Array) =>
      new Set(
        [...a.keys()]
          .filter((i) => Math.abs(a[i] - b[i]) > 1e-3)
          .map((i) => Math.floor((i * count) / a.length)),
      ).size;
    const codes = [
      ...GAITS.map(([clip]) => gpu.clip(clip, { inStep: true })),
      gpu.clip('Fall', { once: true }),
    ];
    const seen = new Set<number>();
    let pushed = 0;
    for (let step = 0; step < 90; step++) {
      if (step % 15 === 0) onGPU.light.value.set(random() * 40 - 20, random() * 40 - 20);
      const delta = 0.01 + 0.02 * random();
      onGPU.delta.value = delta;
      const compared = step % 10 === 9;
      const isBlast = step % 20 === 19;
      onGPU.blast.value.set(random() * 20 - 10, random() * 20 - 10, isBlast ? 1 : 0);
      onCPU.blast.splice(0, 3, ...onGPU.blast.value.toArray());
      if (compared) {
        // From the same state, since a swarm makes much of what is rounded otherwise.
        onCPU.agents.set(await read(agents));
        onCPU.matrices.set(await read(matrices));
        onCPU.traits.set(await read(traits));
      }
      renderer.compute(onGPU.steps);
      if (!compared) continue;
      const { x, y } = onGPU.light.value;
      const before = onCPU.agents.slice();
      onCPU.step(delta, x, y);
      expect(apart(await read(agents), onCPU.agents), `step ${step}`).toBeLessThan(count / 100);
      expect(apart(await read(matrices), onCPU.matrices), `step ${step}`).toBeLessThan(count / 100);
      expect(apart(await read(traits), onCPU.traits), `step ${step}`).toBeLessThan(count / 100);
      const told = await read(plays);
      let others = 0;
      for (let i = 0; i < count; i++) {
        const gait = codes.indexOf(told[i * 4]);
        seen.add(gait);
        if (gait !== onCPU.gaits[i * 2] || told[i * 4 + 2] !== onCPU.gaits[i * 2 + 1]) others++;
        const [ax, az] = [
          onCPU.agents[i * 4 + 2] - before[i * 4 + 2],
          onCPU.agents[i * 4 + 3] - before[i * 4 + 3],
        ];
        if (Math.hypot(ax, az) > 0.01) pushed++;
      }
      // At the very speed at which one clip is left for another, or a step for the next.
      expect(others, `step ${step}`).toBeLessThan(count / 100);
    }
    expect([...seen].sort()).toEqual([0, 1, 2, 3]);
    expect(pushed).toBeGreaterThan(100);
    crowd.dispose();
  });

  test('names storage that is too small, and what cannot be', () => {
    const crowd = createCrowd();
    const matrices = new StorageInstancedBufferAttribute(COUNT - 1, 16);
    expect(() => new GPUInstances(crowd, { matrices })).toThrow(
      `StorageInstancedBufferAttribute(${COUNT}, 16)`,
    );
    new GPUInstances(crowd, {
      matrices: new StorageInstancedBufferAttribute(COUNT, 16),
      plays: new StorageInstancedBufferAttribute(COUNT, 4),
    });
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
