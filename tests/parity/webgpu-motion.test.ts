import { defineMotion } from 'skinned-instanced-mesh';
import {
  FloatType,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  NearestFilter,
  type Object3D,
  PerspectiveCamera,
  Scene,
} from 'three';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createNodeRenderer, TWINS } from '../support/captures.js';
import { drawInNewFrame } from '../support/frames.js';
import { bakeCharacter, SkinnedInstancedMesh } from '../support/library.js';
import { bladeRoot } from '../support/meadow.js';
import { moveBy } from '../support/moveBy.js';

const SIZE = 64;
/** How far apart motion vectors may be, in the half widths of the picture that they are given in. */
const BOUND = 1e-4;

/** Rises by `speed` units a second. */
const rise = defineMotion({
  name: 'rise',
  uniforms: { speed: 1 },
  reach: 4,
  glsl: 'position.y += speed * time;',
  tsl: ({ position, time, uniforms, vec3 }) => position.add(vec3(0, time.mul(uniforms.speed), 0)),
});

describe.each(TWINS.filter((twin) => twin !== 'GLSL'))('%s', (twin) => {
  let draw: (object: Object3D) => Promise<Float32Array>;
  let dispose: () => void;
  beforeAll(async () => {
    await import('skinned-instanced-mesh/webgpu');
    const { RenderTarget } = await import('three/webgpu');
    const { mrt, output, velocity } = await import('three/tsl');
    const renderer = await createNodeRenderer(twin as 'TSL on WebGPU');
    const target = new RenderTarget(SIZE, SIZE, {
      count: 2,
      type: FloatType,
      minFilter: NearestFilter,
      magFilter: NearestFilter,
    });
    target.textures[0].name = 'output';
    target.textures[1].name = 'velocity';
    renderer.setMRT(mrt({ output, velocity }));
    const camera = new PerspectiveCamera(60, 1, 0.1, 20);
    camera.position.set(0.5, 0.5, 4);
    draw = async (object) => {
      const scene = new Scene().add(object);
      await drawInNewFrame(renderer, () => {
        renderer.setRenderTarget(target);
        renderer.render(scene, camera);
      });
      const pixels = await renderer.readRenderTargetPixelsAsync(target, 0, 0, SIZE, SIZE, 1);
      renderer.setRenderTarget(null);
      return (pixels as Float32Array).slice();
    };
    dispose = () => renderer.dispose();
  });
  afterAll(() => dispose());

  test('motion vectors have the way since the frame before, by the clock and by the uniforms of then', async () => {
    const material = new MeshBasicMaterial({ side: 2 });
    const [blade] = bladeRoot().children as Mesh[];
    const still = new Mesh(blade.geometry, material);
    const crowd = new SkinnedInstancedMesh(bakeCharacter(bladeRoot(), []), 1);
    crowd.material = material;
    const place = new Matrix4().makeScale(5, 1, 5);
    crowd.setMatrixAt(0, place);
    const rising = rise();
    moveBy(crowd, rising);
    still.matrixAutoUpdate = false;

    const heights = [0, 0.2, 0.5, 0.5];
    let most = 0;
    let off = 0;
    let before = 0;
    for (const [frame, height] of heights.entries()) {
      still.matrix.makeTranslation(0, height, 0).multiply(place);
      // The last way is made by a uniform: the clock goes on to 1, at half the speed.
      crowd.update(frame === 3 ? 1 - before : height - before);
      before = height;
      if (frame === 3) rising.uniforms.speed.value = 0.5;
      const expected = await draw(still);
      const vectors = await draw(crowd);
      for (let i = 0; i < vectors.length; i++) {
        if (i % 4 > 1) continue;
        off = Math.max(off, Math.abs(vectors[i] - expected[i]));
        most = Math.max(most, Math.abs(vectors[i]));
      }
    }
    expect(off).toBeLessThan(BOUND);
    expect(most).toBeGreaterThan(0.05);
  });
});
