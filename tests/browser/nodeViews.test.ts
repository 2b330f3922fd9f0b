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
import { describe, expect, test, vi } from 'vitest';
import { TWINS } from '../support/captures.js';
import { createCoarseCharacter, createCoarsestCharacter } from '../support/coarseCharacter.js';
import { drawingOf, useDrawing } from '../support/drawings.js';
import { orderOf } from '../support/features.js';
import { nextFrame } from '../support/frames.js';
import { addLevel } from '../support/levels.js';
import {
  bakeCharacter,
  createLevel,
  InstanceUniforms,
  JointAttachment,
  readViewInfo,
  SkinnedInstancedMesh,
} from '../support/library.js';
import { aim, changedPixels, createStage } from '../support/pictures.js';
import { random } from '../support/random.js';

const COUNT = 70;
const MIDDLE = new Box3(new Vector3(-3, 0, -3), new Vector3(3, 2, 3));

/** Characters all around the stage, each with something of its own, and with hats, of which the last ones have none. */
function createCrowd(perObjectFrustumCulled: boolean): SkinnedInstancedMesh {
  const next = random(1);
  const { root, clips } = createCoarsestCharacter();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), COUNT);
  crowd.perObjectFrustumCulled = perObjectFrustumCulled;
  crowd.castShadow = crowd.receiveShadow = true;
  const hat = new JointAttachment(crowd, 'Head', new BoxGeometry(0.4, 0.2, 0.4), new MeshStandardMaterial());
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
  const drawing = useDrawing(twin, drawingOf);

  test.each([
    'instanced attributes of the user is drawn whole, and says so',
    'uniforms and poses of its instances in nodes of the user is culled',
  ])('a crowd that reads %s', async (name) => {
    const { instancedBufferAttribute, varying, vec3 } = await import('three/tsl');
    const { MeshStandardNodeMaterial } = await import('three/webgpu');
    const { instanceUniform, skinnedInstancePosition } = await import('skinned-instanced-mesh/webgpu');
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const { scene, camera } = createStage(MIDDLE);
    const numbers = new Float32Array(COUNT).map((_, i) => i / COUNT);
    const isWhole = name.includes('whole');
    const color = isWhole
      ? vec3(instancedBufferAttribute(new InstancedBufferAttribute(numbers, 1)) as never)
      : vec3(instanceUniform('shade', 'float'), varying(skinnedInstancePosition()).xy.fract());
    const pictures = [];
    for (const culled of [false, true]) {
      const crowd = createCrowd(culled);
      const uniforms = new InstanceUniforms(crowd, { shade: 'float' });
      for (let i = 0; i < COUNT; i++) uniforms.setAt(i, 'shade', numbers[i]);
      crowd.material = Object.assign(new MeshStandardNodeMaterial(), { colorNode: color });
      crowd.setVisibleAt(3, true);
      pictures.push(await drawing.draw(scene, camera, crowd));
      crowd.dispose();
    }
    expect(changedPixels(pictures[0], pictures[1], 0)).toBe(0);
    expect(warn.mock.calls.join().includes('instanced attribute')).toBe(isWhole);
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
      addLevel(crowd, createLevel(crowd, createCoarsestCharacter().root), 6, 0.3);
      addLevel(crowd, null, 14);
      const scene = new Scene().add(crowd);
      // Levels that are kept by hysteresis are others on the second look.
      for (const step of [0, 1, 1.5]) {
        for (const camera of looking) {
          camera.translateZ(step);
          renderer.render(scene, camera);
          const { visible, levels } = await readViewInfo(crowd, renderer, camera);
          const seen = crowd.views.of(camera, crowd.matrixWorld, -1);
          expect(visible).toBe(seen.visible);
          expect(levels).toEqual([...(seen.split?.atLevel.subarray(0, 3) ?? [])]);
          camera.translateZ(-step);
        }
      }
      crowd.dispose();
      crowd.boneTexture.dispose();
      for (const material of [crowd.material].flat()) material.dispose();
      held.push({ ...renderer.info.memory });
    }
    expect(held[2]).toEqual(held[1]);
  });
});

test('under WebGPU a camera for each frame takes no more memory', async () => {
  const { renderer } = await drawingOf('TSL on WebGPU');
  const crowd = createCrowd(true);
  const scene = new Scene().add(crowd);
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
  const { visible } = await readViewInfo(crowd, renderer, last);
  expect(visible).toBe(crowd.views.of(last, crowd.matrixWorld, -1).visible);
  crowd.dispose();
  renderer.dispose();
});

/** Characters in rows around the stage, in clips. */
function createRows(): SkinnedInstancedMesh {
  const { root, clips } = createCoarseCharacter();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 30);
  crowd.castShadow = crowd.receiveShadow = true;
  for (let i = 0; i < 30; i++) {
    const x = ((i % 6) - 2.5) * 3;
    crowd.setMatrixAt(i, new Matrix4().makeRotationY(i).setPosition(x, 0, (Math.floor(i / 6) - 2) * 3));
    crowd.play(i, i % clips.length, { time: i * 0.1 });
  }
  return crowd.update(0.3);
}

test('a bundle that is drawn again shows what the camera sees now, and the poses of now', async () => {
  const { BundleGroup } = await import('three/webgpu');
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const drawing = await drawingOf('TSL on WebGPU');
  const { scene, camera } = createStage(MIDDLE);
  const [plain, bundled] = [createRows(), createRows()];
  const bundle = new BundleGroup();
  bundle.add(bundled);
  let recorded = 0;
  const { onBeforeRender } = bundled;
  for (let frame = 0; frame < 4; frame++) {
    const expected = await drawing.draw(scene, camera, plain);
    const empty = await drawing.draw(scene, camera, new Object3D());
    expect(changedPixels(expected, empty)).toBeGreaterThan(500);
    expect(changedPixels(expected, await drawing.draw(scene, camera, bundle), 0), `frame ${frame}`).toBe(0);
    aim(camera, [Math.sin(frame) * 6, 2, Math.cos(frame) * 6], [0, 1, 0]);
    for (const crowd of [plain, bundled]) crowd.update(0.2);
  }
  expect(bundled.onBeforeRender).toBe(onBeforeRender);
  recorded = warn.mock.calls.filter(([text]) => String(text).includes('BundleGroup')).length;
  expect(recorded).toBe(0);
  orderOf(bundled).sortObjects = true;
  await drawing.draw(scene, camera, bundle);
  await drawing.draw(scene, camera, bundle);
  expect(warn.mock.calls.join()).toContain('BundleGroup');
  for (const crowd of [plain, bundled]) crowd.dispose();
  drawing.dispose();
});
