import { Box3, Color, Matrix4, Object3D, Vector3 } from 'three';
import type { WebGPURenderer } from 'three/webgpu';
import { describe, expect, test, vi } from 'vitest';
import { TWINS } from '../support/captures.js';
import { createCoarsestCharacter } from '../support/coarseCharacter.js';
import { drawingOf, useDrawing } from '../support/drawings.js';
import { addLevel } from '../support/levels.js';
import { bakeCharacter, readViewInfo, SkinnedInstancedMesh } from '../support/library.js';
import { aim, changedPixels, lookAround } from '../support/pictures.js';

const COUNT = 1600;
const SIDE = 40;
/** Around it the light sees more than the camera, and less than half. */
const MIDDLE = new Box3(new Vector3(-5, 0, -5), new Vector3(5, 2, 5));
/** Few triangles: many instances are drawn, and only where they are posed matters. */
const { root, clips } = createCoarsestCharacter();
const character = bakeCharacter(root, clips);
const MATRIX_BYTES = 48;
const WHOLE = COUNT * (character.boneTexture.data.tracks?.jointNodes.length ?? 0) * MATRIX_BYTES;

/** @param reach How far from the middle, along x and z, the instances stand that there are, but for the first, in a corner. */
function createCrowd(reach: number, perObjectFrustumCulled: boolean): SkinnedInstancedMesh {
  const places: { id: number; x: number; z: number }[] = [];
  for (let id = 0; id < COUNT; id++) {
    const place = (id * 37) % COUNT;
    const [x, z] = [((place % SIDE) - SIDE / 2) * 2, (Math.floor(place / SIDE) - SIDE / 2) * 2];
    if (id === 0 || Math.max(Math.abs(x), Math.abs(z)) <= reach) places.push({ id, x, z });
  }
  const crowd = new SkinnedInstancedMesh(character, places.length);
  crowd.perObjectFrustumCulled = perObjectFrustumCulled;
  crowd.castShadow = true;
  const matrix = new Matrix4();
  const color = new Color();
  places.forEach(({ id, x, z }, i) => {
    crowd.setMatrixAt(i, matrix.makeRotationY(id).setPosition(x, 0, z));
    crowd.setColorAt(i, color.setHSL(id / COUNT, 0.8, 0.6));
    crowd.play(i, id % 2, { time: id * 0.1 });
  });
  return crowd;
}

/** Of the buffers that are made from now on. three.js uses one descriptor for all, which later says another size. */
function sizesOfBuffers(): number[] {
  const sizes: number[] = [];
  const { createBuffer } = GPUDevice.prototype;
  vi.spyOn(GPUDevice.prototype, 'createBuffer').mockImplementation(function (this: GPUDevice, descriptor) {
    sizes.push(descriptor.size);
    return createBuffer.call(this, descriptor);
  });
  return sizes;
}

describe.runIf(TWINS.includes('TSL on WebGPU'))('rows of the palette under WebGPU', () => {
  const drawing = useDrawing('TSL on WebGPU', drawingOf);

  test('poses take memory for those whom cameras see, and these look as in a crowd that is posed whole', async () => {
    const { draw } = drawing;
    const sizes = sizesOfBuffers();
    const { scene, camera, look } = lookAround(MIDDLE);
    const culled = createCrowd(Number.POSITIVE_INFINITY, true);
    // Whoever may be seen, or throw a shadow that is: few enough to be posed whole.
    const plain = createCrowd(20, false);
    for (const crowd of [culled, plain]) addLevel(crowd, crowd.geometry, 6);
    const compare = async (when: string) => {
      const expected = await draw(scene, camera, plain);
      const picture = await draw(scene, camera, culled);
      expect(changedPixels(picture, expected, 0), when).toBe(0);
      return expected;
    };
    const empty = await draw(scene, camera, new Object3D());
    for (let i = 0; i < 5; i++) {
      look(i * 1.5, i % 3 === 0 ? 12 : 7);
      if (i !== 2) for (const crowd of [culled, plain]) crowd.update(0.05);
      const picture = await compare(`frame ${i}`);
      expect(changedPixels(picture, empty), `frame ${i}`).toBeGreaterThan(500);
    }
    // Somebody comes from far away to where the camera looks.
    const near = new Matrix4().makeTranslation(Math.sin(6) * 10, 0.5, Math.cos(6) * 10);
    for (const crowd of [culled, plain]) crowd.setMatrixAt(0, near);
    const before = await draw(scene, camera, new Object3D());
    expect(changedPixels(await compare('moved'), before)).toBeGreaterThan(500);
    expect(Math.max(...sizes)).toBeLessThan(WHOLE / 2);
    for (const crowd of [culled, plain]) crowd.dispose();
  });

  test('rows are given to everybody where everybody is seen, and given back', async () => {
    const { draw } = drawing;
    const renderer = drawing.renderer as WebGPURenderer;
    const { scene, camera, look } = lookAround(MIDDLE);
    const culled = createCrowd(Number.POSITIVE_INFINITY, true);
    const plain = createCrowd(Number.POSITIVE_INFINITY, false);
    for (const crowd of [culled, plain]) crowd.castShadow = false;
    const compare = async (when: string) => {
      for (const crowd of [culled, plain]) crowd.update(0.1);
      const expected = await draw(scene, camera, plain);
      expect(changedPixels(await draw(scene, camera, culled), expected, 0), when).toBe(0);
    };
    look(0, 7);
    await compare('few');
    camera.far = 500;
    aim(camera, [0, 70, 70], [0, 0, 0]);
    await compare('all at once');
    const sizes = sizesOfBuffers();
    look(0, 7);
    scene.add(culled);
    for (let i = 0; i < 125; i++) {
      culled.update(0.01);
      renderer.render(scene, camera);
      await new Promise(requestAnimationFrame);
    }
    scene.remove(culled);
    plain.update(1.25);
    await compare('few again');
    expect(sizes.length).toBeGreaterThan(0);
    expect(Math.max(...sizes)).toBeLessThan(WHOLE / 2);
    for (const crowd of [culled, plain]) crowd.dispose();
  });

  test('whoever has lost its row while nobody saw it is posed as it comes back, at any rate', async () => {
    const { draw } = drawing;
    const renderer = drawing.renderer as WebGPURenderer;
    const { scene, camera, look } = lookAround(MIDDLE);
    const seldom = createCrowd(Number.POSITIVE_INFINITY, true);
    const always = createCrowd(20, true);
    for (let i = 0; i < COUNT; i++) seldom.setPoseRateAt(i, 0.01);
    // A light would see those whom the camera does not.
    for (const crowd of [seldom, always]) crowd.castShadow = false;
    for (const turn of [0, 2, 4, 0, 3, 0]) {
      look(turn, 12);
      for (const crowd of [seldom, always]) crowd.update(0.05);
      const expected = await draw(scene, camera, always);
      expect(changedPixels(await draw(scene, camera, seldom), expected, 0), `${turn}`).toBe(0);
      const { posed, visible } = await readViewInfo(seldom, renderer, camera);
      expect(posed, `${turn}`).toBe(visible);
    }
    for (const crowd of [seldom, always]) crowd.dispose();
  });
});
