import { Box3, Group, Matrix4, Object3D, Vector3 } from 'three';
import { expect, test, vi } from 'vitest';
import { TWINS } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { drawingOf } from '../support/drawings.js';
import { bakeCharacter, SkinnedInstancedMesh } from '../support/library.js';
import { changedPixels, createStage } from '../support/pictures.js';

const COUNT = 20;

test.runIf(TWINS.includes('TSL on WebGPU'))(
  'under WebGPU 20 crowds of one character make no more pipelines than one, and show the same',
  async () => {
    const compute = vi.spyOn(GPUDevice.prototype, 'createComputePipeline');
    const modules = vi.spyOn(GPUDevice.prototype, 'createShaderModule');
    const { renderer, draw } = await drawingOf('TSL on WebGPU');
    const { scene, camera } = createStage(
      new Box3(new Vector3(-3, 0, -3), new Vector3(3, 2, 3)),
      'directional',
    );
    const { root, clips } = createCoarseCharacter();
    const whole = new SkinnedInstancedMesh(bakeCharacter(root, clips), COUNT);
    const { geometry, material, boneTexture } = whole;
    const crowds = new Group();
    for (let i = 0; i < COUNT; i++) {
      // Of another size each, behind somebody who is not seen.
      const crowd = new SkinnedInstancedMesh(geometry, material, boneTexture, 2 + i);
      crowd.count = 2;
      crowd.setMatrixAt(0, new Matrix4().makeTranslation(0, 0, 1000));
      const matrix = new Matrix4().makeRotationY(i).setPosition((i % 5) - 2, 0, Math.floor(i / 5) - 2);
      for (const [to, index] of [
        [crowd, 1],
        [whole, i],
      ] as const) {
        to.setMatrixAt(index, matrix);
        to.play(index, i % clips.length, { time: i * 0.13 });
      }
      crowds.add(crowd);
    }
    const all = [whole, ...(crowds.children as SkinnedInstancedMesh[])];
    for (const crowd of all) crowd.castShadow = crowd.receiveShadow = true;
    const empty = await draw(scene, camera, new Object3D());
    for (const delta of [0.2, 0.3]) {
      for (const crowd of all) crowd.update(delta);
      const expected = await draw(scene, camera, whole);
      expect(changedPixels(expected, empty)).toBeGreaterThan(2000);
      const made = [compute.mock.calls.length, modules.mock.calls.length];
      expect(made[0]).toBeGreaterThan(0);
      const picture = await draw(scene, camera, crowds);
      expect([compute.mock.calls.length, modules.mock.calls.length]).toEqual(made);
      expect(changedPixels(picture, expected, 0)).toBe(0);
    }
    for (const crowd of all) crowd.dispose();
    renderer.dispose();
  },
);
