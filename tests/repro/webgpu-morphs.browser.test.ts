import {
  type DataTexture,
  Float32BufferAttribute,
  FloatType,
  NearestFilter,
  PerspectiveCamera,
  Scene,
  Vector3,
} from 'three';
import { RenderTarget, WebGPURenderer } from 'three/webgpu';
import { expect, test } from 'vitest';
import { asPoints, CAPTURE_WIDTH, captureGeometry } from '../support/capture.js';
import { captureNodeMaterial } from '../support/captureNodes.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

const MOST = 9;

test.each(['WebGPU', 'WebGL 2'])(
  'influences come from whatever texture the crowd has, on %s',
  async (backend) => {
    const renderer = new WebGPURenderer({ forceWebGL: backend === 'WebGL 2' });
    await renderer.init();
    const { root, mesh, clips } = createStick();
    mesh.geometry.morphAttributes.position = [new Float32BufferAttribute([0, 2, 0, 0, 2, 0, 0, 2, 0], 3)];
    mesh.geometry.morphTargetsRelative = true;
    mesh.updateMorphTargets();
    const crowd = SkinnedInstancedMesh.from(root, clips, 2);
    const influence = (index: number, value: number) => {
      crowd.setMorphAt(index, Object.assign(mesh, { morphTargetInfluences: [value] }));
      if (crowd.morphTexture) crowd.morphTexture.needsUpdate = true;
    };
    influence(1, 0.5);
    crowd.geometry = captureGeometry(crowd.geometry);
    const material = captureNodeMaterial(3);
    material.userData.captureHeight.value = MOST;
    crowd.material = material;
    crowd.frustumCulled = false;

    // One scene and one target throughout: for others three.js would build anew.
    const scene = new Scene();
    scene.add(crowd);
    const filter = { minFilter: NearestFilter, magFilter: NearestFilter } as const;
    const target = new RenderTarget(CAPTURE_WIDTH, MOST, { type: FloatType, depthBuffer: false, ...filter });
    const check = async (values: number[]) => {
      renderer.setRenderTarget(target);
      asPoints(crowd, () => renderer.render(scene, new PerspectiveCamera()));
      renderer.setRenderTarget(null);
      const pixels = await renderer.readRenderTargetPixelsAsync(target, 0, 0, CAPTURE_WIDTH, MOST);
      values.forEach((value, i) => {
        const twin = crowd.getVertexPositionAt(i, 0, new Vector3());
        expect(twin.y).toBeCloseTo(2 * value, 5);
        // WebGPU's first row is the top one.
        const row = backend === 'WebGPU' ? MOST - 1 - i : i;
        const drawn = new Vector3().fromArray(pixels as Float32Array, row * CAPTURE_WIDTH * 4);
        expect(drawn.distanceTo(twin), `instance ${i}`).toBeLessThan(1e-5);
      });
    };
    await check([0, 0.5]);
    const other = (crowd.morphTexture as DataTexture).clone();
    other.image = { width: 2, height: 2, data: new Float32Array([1, 0.75, 1, 0.25]) };
    other.needsUpdate = true;
    crowd.morphTexture = other;
    await check([0.75, 0.25]);
    crowd.setCapacity(MOST).count = 5;
    influence(4, 1);
    await check([0.75, 0.25, 0, 0, 1]);
    renderer.dispose();
  },
);
