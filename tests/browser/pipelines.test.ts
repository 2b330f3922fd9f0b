import { Box3, Group, Matrix4, Object3D, PointLight, Quaternion, Vector3 } from 'three';
import { expect, test, vi } from 'vitest';
import { createNodeRenderer, TWINS } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { drawingOf } from '../support/drawings.js';
import { editsOf, withLayers } from '../support/features.js';
import { addLevel } from '../support/levels.js';
import { bakeCharacter, createLevel, SkinnedInstancedMesh } from '../support/library.js';
import { changedPixels, createStage } from '../support/pictures.js';

const COUNT = 20;

/** What devices are asked for that takes them long. */
const MAKERS = [
  'createShaderModule',
  'createComputePipeline',
  'createComputePipelineAsync',
  'createRenderPipeline',
  'createRenderPipelineAsync',
] as const;

/** Counts it from now on, until the mocks are restored. */
function countMade(): () => number {
  const spies = MAKERS.map((name) => vi.spyOn(GPUDevice.prototype, name));
  return () => spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
}

test.runIf(TWINS.includes('TSL on WebGPU'))(
  'under WebGPU 20 crowds of one character share pipelines',
  async () => {
    const made = countMade();
    const { renderer, draw } = await drawingOf('TSL on WebGPU');
    const { scene, camera } = createStage(new Box3(new Vector3(-3, 0, -3), new Vector3(3, 2, 3)));
    const { root, clips } = createCoarseCharacter();
    const whole = withLayers(new SkinnedInstancedMesh(bakeCharacter(root, clips), COUNT), [{ name: 'Top' }]);
    const { geometry, material, boneTexture } = whole;
    const crowds = new Group();
    for (let i = 0; i < COUNT; i++) {
      // Of another size each, behind somebody who is not seen.
      const crowd = new SkinnedInstancedMesh(geometry, material, boneTexture, 2 + i);
      withLayers(crowd, [{ name: 'Top' }]).count = 2;
      crowd.setMatrixAt(0, new Matrix4().makeTranslation(0, 0, 1000));
      const matrix = new Matrix4().makeRotationY(i).setPosition((i % 5) - 2, 0, Math.floor(i / 5) - 2);
      for (const [to, index] of [
        [crowd, 1],
        [whole, i],
      ] as const) {
        to.setMatrixAt(index, matrix);
        to.play(index, i % clips.length, { time: i * 0.13 });
        to.play(index, (i + 1) % clips.length, { layer: 'Top', weight: 0.4 });
        editsOf(to).setRotationAt(index, 'Head', new Quaternion(0, 0, i / 40).normalize());
      }
      crowds.add(crowd);
    }
    const all = [whole, ...(crowds.children as SkinnedInstancedMesh[])];
    for (const crowd of all) crowd.castShadow = crowd.receiveShadow = true;
    const empty = await draw(scene, camera, new Object3D());
    const passes = vi.spyOn(GPUCommandEncoder.prototype, 'beginComputePass');
    for (const delta of [0.2, 0.3]) {
      for (const crowd of all) crowd.update(delta);
      const expected = await draw(scene, camera, whole);
      expect(changedPixels(expected, empty)).toBeGreaterThan(2000);
      const before = made();
      expect(before).toBeGreaterThan(0);
      const picture = await draw(scene, camera, crowds);
      // From the second time on all but who was not drawn in the frame before are posed at once.
      expect(passes).toHaveBeenCalledTimes(delta === 0.2 ? 1 + COUNT : 3 + COUNT);
      expect(made()).toBe(before);
      expect(changedPixels(picture, expected, 0)).toBe(0);
    }
    for (const crowd of all) crowd.dispose();
    renderer.dispose();
  },
);

test.runIf(TWINS.includes('TSL on WebGPU'))(
  'under WebGPU what is compiled ahead has all pipelines of the first frame, those of shadow maps too, and a turn of the camera finds what it needs',
  async () => {
    const renderer = await createNodeRenderer('TSL on WebGPU');
    renderer.shadowMap.enabled = true;
    const { scene, camera } = createStage(new Box3(new Vector3(-1, 0, -1), new Vector3(1, 2, 1)));
    // What draws the canvas in the end is no crowd's. Then something is loaded, for more frames than three.js keeps lists.
    renderer.render(scene, camera);
    for (let frame = 0; frame < 14; frame++) await new Promise(requestAnimationFrame);
    const made = countMade();
    const { root, clips } = createCoarseCharacter();
    const character = bakeCharacter(root, clips);
    const light = new PointLight();
    light.castShadow = true;
    light.position.set(1, 4, 0);
    const crowds = [1, 2].map((count) => new SkinnedInstancedMesh(character, count).play(0, 0));
    for (const crowd of crowds) crowd.castShadow = crowd.receiveShadow = true;
    addLevel(crowds[1], createLevel(crowds[1], root), 100);
    scene.add(light, ...crowds);
    const warnings = vi.spyOn(console, 'warn');
    const walks = vi.spyOn(scene, 'traverseVisible');
    await renderer.compileAsync(scene, camera);
    // However many crowds cast shadows.
    expect(walks).toHaveBeenCalledTimes(1);
    expect(warnings).not.toHaveBeenCalled();
    const before = made();
    expect(before).toBeGreaterThan(8);
    for (const crowd of crowds) crowd.update(0.1);
    renderer.render(scene, camera);
    expect(made()).toBe(before);
    const passes = vi.spyOn(GPUCommandEncoder.prototype, 'beginComputePass');
    const passesOfTurn = () => {
      passes.mockClear();
      camera.rotateY(0.01);
      renderer.render(scene, camera);
      return passes.mock.calls.length;
    };
    // Whoever was seen is seen still.
    expect(passesOfTurn()).toBe(0);
    for (const crowd of crowds) crowd.dispose();
    renderer.dispose();
  },
);
