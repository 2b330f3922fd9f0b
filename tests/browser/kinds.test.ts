import { Box3, Matrix4, type Mesh, Vector3 } from 'three';
import { describe, expect, test, vi } from 'vitest';
import { TWINS } from '../support/captures.js';
import { createFigure } from '../support/coarseCharacter.js';
import { drawingOf, useDrawing } from '../support/drawings.js';
import {
  bakeCharacter,
  CrowdKinds,
  loadPlayback,
  SkinnedInstancedMesh,
  savePlayback,
} from '../support/library.js';
import { changedPixels, createStage } from '../support/pictures.js';

const COUNT = 12;
const SPACE = new Box3(new Vector3(-3, 0, -2), new Vector3(3, 2, 2));

/** A crowd of two kinds. */
function createCrowd() {
  const { root, clips } = createFigure(0x22aa44, 0.1);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), COUNT);
  crowd.castShadow = crowd.receiveShadow = true;
  for (let i = 0; i < COUNT; i++) {
    crowd.setMatrixAt(i, new Matrix4().setPosition((i % 6) - 2.5, 0, Math.floor(i / 6) * 2 - 1));
    crowd.play(i, i % 3, { time: i * 0.1 });
  }
  const kinds = new CrowdKinds(crowd);
  const first = kinds.add(bakeCharacter(createFigure(0xcc4422, 0.4).root, []));
  for (const i of [1, 4, 7]) kinds.setKindAt(i, first);
  return { crowd, kinds };
}

describe.each(TWINS)('kinds, %s', (twin) => {
  const drawing = useDrawing(twin, drawingOf);

  test('one that is added while the crowd is drawn compiles nothing', async () => {
    const { renderer, draw } = drawing;
    const { scene, camera } = createStage(SPACE);
    const { crowd, kinds } = createCrowd();
    // WebGLRenderer draws the shadows of its first frame before it has counted the lights, and has other programs for them afterwards.
    await draw(scene, camera, crowd);
    kinds.add(bakeCharacter(createFigure(0, 0.2).root, []));
    const before = await draw(scene, camera, crowd);
    const spies =
      twin === 'TSL on WebGPU'
        ? (['createShaderModule', 'createRenderPipeline', 'createComputePipeline'] as const).map((name) =>
            vi.spyOn(GPUDevice.prototype, name),
          )
        : [vi.spyOn(WebGL2RenderingContext.prototype, 'linkProgram')];
    const made = () => spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    const added = kinds.add(bakeCharacter(createFigure(0x2244cc, 0.3).root, []));
    for (const i of [2, 7, 8]) kinds.setKindAt(i, added);
    const picture = await draw(scene, camera, crowd);
    expect(changedPixels(picture, before)).toBeGreaterThan(500);
    expect(made()).toBe(0);
    kinds.remove(added);
    kinds.setKindAt(7, 1);
    expect(changedPixels(await draw(scene, camera, crowd), before, 0)).toBe(0);
    expect(made()).toBe(0);
    // It counts: a material of another class is compiled.
    const other = createFigure(0xffffff, 0.3).root;
    const { MeshToonMaterial } = await import('three');
    for (const mesh of other.getObjectsByProperty('isMesh', true) as Mesh[])
      mesh.material = new MeshToonMaterial();
    kinds.setKindAt(2, kinds.add(bakeCharacter(other, [])));
    await draw(scene, camera, crowd);
    expect(made()).toBeGreaterThan(0);
    crowd.dispose();
    expect(renderer.info.memory.geometries).toBeLessThan(20);
  });

  test('what they take is given back with them', async () => {
    const { renderer, draw } = drawing;
    const { scene, camera } = createStage(SPACE);
    const character = bakeCharacter(createFigure(0x2244cc, 0.3).root, []);
    const { crowd, kinds } = createCrowd();
    const held: object[] = [];
    await draw(scene, camera, crowd);
    for (let round = 0; round < 3; round++) {
      const added = kinds.add(character);
      for (const i of [0, 3, 5]) kinds.setKindAt(i, added);
      await draw(scene, camera, crowd);
      if (round === 1) kinds.remove(added);
      else added.dispose();
      await draw(scene, camera, crowd);
      held.push({ ...renderer.info.memory });
    }
    expect(held[1]).toEqual(held[0]);
    expect(held[2]).toEqual(held[0]);
    kinds.dispose();
    await draw(scene, camera, crowd);
    expect(renderer.info.memory.geometries).toBeLessThan((held[0] as { geometries: number }).geometries);
    crowd.dispose();
  });

  test('a game that is saved goes on in another crowd of the same kinds', async () => {
    const { draw } = drawing;
    const { scene, camera } = createStage(SPACE);
    const { crowd, kinds } = createCrowd();
    crowd.deleteInstance(4);
    crowd.setVisibleAt(2, false).pause(1).update(0.4);
    crowd.play(7, 'Run', { fade: 0.5 }).update(0.2);
    const saved = JSON.parse(JSON.stringify(savePlayback(crowd)));
    const kindsOf = (of: CrowdKinds) =>
      Array.from({ length: COUNT }, (_, i) => (i === 4 ? 0 : of.getKindAt(i)));
    const other = createCrowd();
    loadPlayback(other.crowd, saved);
    expect(kindsOf(other.kinds)).toEqual(kindsOf(kinds));
    for (const one of [crowd, other.crowd]) one.update(0.1);
    const expected = await draw(scene, camera, crowd);
    expect(changedPixels(await draw(scene, camera, other.crowd), expected)).toBe(0);
    for (const one of [crowd, other.crowd]) one.dispose();
  });
});
