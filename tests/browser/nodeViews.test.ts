import {
  ArrayCamera,
  Box3,
  BoxGeometry,
  Color,
  InstancedBufferAttribute,
  Matrix4,
  MeshStandardMaterial,
  Object3D,
  PerspectiveCamera,
  Scene,
  Vector3,
  Vector4,
} from 'three';
import type { WebGPURenderer } from 'three/webgpu';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { TWINS } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { type Drawing, drawingOf } from '../support/drawings.js';
import { createEverything } from '../support/everything.js';
import { nextFrame } from '../support/frames.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { changedPixels, createStage, type LightKind } from '../support/pictures.js';
import { random } from '../support/random.js';

const COUNT = 70;
const MIDDLE = new Box3(new Vector3(-3, 0, -3), new Vector3(3, 2, 3));

/** Characters all around the stage, each with something of its own, and with hats, of which the last ones have none. */
function createCrowd(perObjectFrustumCulled: boolean): SkinnedInstancedMesh {
  const next = random(1);
  const { root, clips } = createCoarseCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, COUNT, { encoding: 'tracks' });
  crowd.perObjectFrustumCulled = perObjectFrustumCulled;
  crowd.castShadow = crowd.receiveShadow = true;
  const hat = crowd.attachToJoint('Head', new BoxGeometry(0.4, 0.2, 0.4), new MeshStandardMaterial());
  const matrix = new Matrix4();
  const color = new Color();
  for (let i = 0; i < COUNT; i++) {
    crowd.setMatrixAt(i, matrix.makeRotationY(i).setPosition(next() * 24 - 12, 0, next() * 24 - 12));
    crowd.setColorAt(i, color.setHSL(next(), 0.8, 0.6));
    hat.setColorAt(i, color.setHSL(next(), 0.8, 0.6));
    crowd.play(i, i % clips.length, { time: next() });
  }
  crowd.setVisibleAt(3, false);
  hat.count = COUNT - 20;
  crowd.update(0.4);
  return crowd;
}

// What WebGLRenderer does is in views.test.ts.
describe.each(TWINS.filter((twin) => twin !== 'GLSL'))('%s', (twin) => {
  let drawing: Drawing;
  beforeAll(async () => {
    drawing = await drawingOf(twin);
  });
  afterAll(() => drawing.renderer.dispose());

  test.each<LightKind>(['directional', 'spot', 'point'])(
    'pictures with a %s light are the same to the byte whether instances that are not seen are drawn or not',
    async (kind) => {
      const { scene, camera } = createStage(MIDDLE, kind);
      const [all, culled] = [createCrowd(false), createCrowd(true)];
      const empty = await drawing.draw(scene, camera, new Object3D());
      for (let frame = 0; frame < 2; frame++) {
        const picture = await drawing.draw(scene, camera, culled);
        const expected = await drawing.draw(scene, camera, all);
        expect(changedPixels(expected, empty), `frame ${frame} shows something`).toBeGreaterThan(2000);
        expect(changedPixels(expected, picture, 0), `frame ${frame}`).toBe(0);
        camera.position.set(4, 2, -5);
        camera.lookAt(0, 1, 0);
        camera.updateMatrixWorld();
        for (const crowd of [all, culled]) {
          crowd.update(0.1);
          crowd.setMatrixAt(5, new Matrix4().makeTranslation(0.3, 0, 0.4));
          crowd.instanceMatrix.needsUpdate = true;
          crowd.setVisibleAt(3, true).setVisibleAt(11, false);
        }
      }
      const { visible } = await culled.readViewInfo(drawing.renderer, camera);
      expect(visible).toBeGreaterThan(5);
      expect(visible).toBeLessThan(COUNT / 2);
      if (twin === 'TSL on WebGPU') {
        expect(culled.matrices, 'no copy of where instances stand').toBeNull();
        expect(culled.colorTexels).not.toBeNull();
      }
      for (const crowd of [all, culled]) crowd.dispose();
    },
  );

  test('so are those of several materials, with influences and textures of each instance', async () => {
    const { root, clips, materials } = createEverything();
    for (const material of materials) material.side = 2;
    const { scene, camera } = createStage(
      new Box3(new Vector3(-1, 0, -1), new Vector3(3, 1, 1)),
      'directional',
    );
    const pictures = [];
    for (const culled of [false, true]) {
      const crowd = SkinnedInstancedMesh.from(root, clips, 9, { encoding: 'quaternion' });
      crowd.perObjectFrustumCulled = culled;
      crowd.castShadow = true;
      for (const material of [crowd.material].flat()) material.transparent = true;
      for (let i = 0; i < 9; i++) {
        crowd.setMatrixAt(i, new Matrix4().makeRotationY(i).setPosition((i - 4) * 2, 0, 0));
        crowd.play(i, 0, { time: i * 0.1 });
      }
      pictures.push(await drawing.draw(scene, camera, crowd));
      const { visible } = await crowd.readViewInfo(drawing.renderer, camera);
      if (culled) expect(visible).toBeLessThan(9);
      crowd.dispose();
    }
    expect(changedPixels(pictures[0], await drawing.draw(scene, camera, new Object3D()))).toBeGreaterThan(
      500,
    );
    expect(changedPixels(pictures[0], pictures[1], 0)).toBe(0);
  });

  test('a crowd that reads instanced attributes of the user is drawn whole, and says so', async () => {
    const { instancedBufferAttribute, vec3 } = await import('three/tsl');
    const { MeshStandardNodeMaterial } = await import('three/webgpu');
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const { scene, camera } = createStage(MIDDLE, 'directional');
    const numbers = new InstancedBufferAttribute(
      new Float32Array(COUNT).map((_, i) => i / COUNT),
      1,
    );
    const pictures = [];
    for (const culled of [false, true]) {
      const crowd = createCrowd(culled);
      const material = new MeshStandardNodeMaterial();
      material.colorNode = vec3(instancedBufferAttribute(numbers) as never);
      crowd.material = material;
      crowd.setVisibleAt(3, true);
      pictures.push(await drawing.draw(scene, camera, crowd));
      crowd.dispose();
    }
    expect(changedPixels(pictures[0], pictures[1], 0)).toBe(0);
    expect(warn.mock.calls.join()).toContain('instanced attribute');
    warn.mockRestore();
  });

  test('what cameras see is what the CPU finds, and nothing is kept of crowds that are gone', async () => {
    const { renderer } = drawing;
    const next = random(2);
    const cameras = Array.from({ length: 6 }, () => {
      const camera = new PerspectiveCamera(20 + next() * 60, 1, 0.1, 10 + next() * 20);
      camera.position.set(next() * 10 - 5, next() * 5, next() * 10 - 5);
      camera.lookAt(next() * 10 - 5, 0, next() * 10 - 5);
      return camera;
    });
    const eyes = cameras.slice(0, 2).map((eye, i) => {
      eye.updateMatrixWorld();
      return Object.assign(eye.clone(), { viewport: new Vector4(i * 100, 0, 100, 100) });
    });
    const looking = [...cameras, new ArrayCamera(eyes)];
    const held = [];
    for (let round = 0; round < 3; round++) {
      const crowd = createCrowd(true);
      crowd.setCapacity(COUNT + round * 300);
      crowd.count = COUNT - round;
      crowd.addLevel(createCoarseCharacter().root, 6, 0.3);
      crowd.addLevel(null, 14);
      const scene = new Scene().add(crowd) as Scene;
      // Levels that are kept by hysteresis are others on the second look.
      for (const step of [0, 1, 1.5]) {
        for (const camera of looking) {
          camera.translateZ(step);
          renderer.render(scene, camera);
          const { visible, levels } = await crowd.readViewInfo(renderer, camera);
          const seen = crowd.views.of(camera, crowd.matrixWorld, -1);
          expect(visible).toBe(seen.of(null).count);
          expect(levels).toEqual([0, 1, 2].map((level) => seen.of(level).count));
          camera.translateZ(-step);
        }
      }
      crowd.dispose();
      for (const material of [crowd.material].flat()) material.dispose();
      held.push({ ...(renderer as WebGPURenderer).info.memory });
    }
    expect(held[2]).toEqual(held[1]);
  });
});

test.runIf(TWINS.length > 1)('under WebGPU a camera for each frame takes no more memory', async () => {
  const { renderer } = await drawingOf('TSL on WebGPU');
  const crowd = createCrowd(true);
  const scene = new Scene().add(crowd) as Scene;
  const held: number[] = [];
  for (let frame = 0; frame < 80; frame++) {
    await nextFrame();
    const camera = new PerspectiveCamera(40, 1, 0.1, 50);
    camera.position.set(frame / 80, 1, 5);
    renderer.render(scene, camera);
    held.push((renderer as WebGPURenderer).info.memory.total);
  }
  expect(held[79]).toBe(held[39]);
  const last = new PerspectiveCamera(40, 1, 0.1, 50);
  last.position.z = 3;
  renderer.render(scene, last);
  const { visible } = await crowd.readViewInfo(renderer, last);
  expect(visible).toBe(crowd.views.of(last, crowd.matrixWorld, -1).of(null).count);
  crowd.dispose();
  renderer.dispose();
});

test.runIf(TWINS.length > 1)(
  'under WebGPU only what a camera sees is posed, and what comes into view at once, whatever its rate',
  async () => {
    const { posePassOf } = await import('../../lib/backends/webgpu/nodePoses.js');
    const renderer = (await drawingOf('TSL on WebGPU')).renderer as WebGPURenderer;
    const { root, clips } = createCoarseCharacter();
    const crowd = SkinnedInstancedMesh.from(root, clips, 2, { encoding: 'tracks' });
    for (let i = 0; i < 2; i++) {
      crowd.setMatrixAt(i, new Matrix4().makeTranslation(0, 0, i === 0 ? -5 : 5));
      crowd.play(i, 1, { time: i });
      crowd.setPoseRateAt(i, 2);
    }
    const { palette } = posePassOf(crowd).posesOn(true);
    const joint = crowd.boneTexture.jointNames.length - 1;
    const scene = new Scene().add(crowd) as Scene;
    const camera = new PerspectiveCamera(40, 1, 0.1, 50);
    camera.position.y = 1;
    /** By how much the matrix of a joint on the GPU differs from what an instance should show now. */
    const off = async (instance: number, look: number) => {
      camera.rotation.y = look * Math.PI;
      await nextFrame();
      renderer.render(scene, camera);
      const rows = new Float32Array(await renderer.getArrayBufferAsync(palette.attributes[0]));
      const { elements } = crowd.getSkinningMatrixAt(instance, joint, new Matrix4());
      const at = (instance * (joint + 1) + joint) * 12;
      return Math.max(
        ...rows.subarray(at, at + 12).map((x, i) => Math.abs(x - elements[(i % 4) * 4 + (i >> 2)])),
      );
    };
    const posed = 1e-4;
    crowd.update(0.3);
    expect(await off(0, 0)).toBeLessThan(posed);
    expect(await off(1, 0)).toBeGreaterThan(posed);
    expect(await off(1, 1)).toBeLessThan(posed);
    // Not due yet: it keeps the pose that it has.
    crowd.update(0.1);
    expect(await off(1, 1)).toBeGreaterThan(posed);
    crowd.update(2.77);
    expect(await off(0, 1), 'unseen').toBeGreaterThan(posed);
    expect(await off(1, 1)).toBeLessThan(posed);
    expect(await off(0, 0)).toBeLessThan(posed);
    // What is hidden is not posed, and is once it is shown.
    crowd.setVisibleAt(0, false);
    crowd.update(2.77);
    expect(await off(0, 0), 'hidden').toBeGreaterThan(posed);
    crowd.setVisibleAt(0, true);
    expect(await off(0, 0)).toBeLessThan(posed);
    crowd.dispose();
    renderer.dispose();
  },
);
