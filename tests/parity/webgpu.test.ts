import { WebGPURenderer } from 'three/webgpu';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { captureNodeMaterial, captureNodes } from '../support/captureNodes.js';
import { BoneTexture } from '../support/library.js';
import { loadModel, modelNames } from '../support/models.js';
import { type Capture, measureVertices } from '../support/parity.js';

const BOUND = { float: 1e-5, half: 1e-3 };
const models = await modelNames();
const encodings = [
  { encoding: 'matrix', precision: 'float' },
  { encoding: 'auto', precision: 'float' },
] as const;
/** Half floats are another format of the same texels, for which two characters are enough. */
const halves = [
  { encoding: 'matrix', precision: 'half' },
  { encoding: 'auto', precision: 'half' },
] as const;

describe.each(['WebGPU', 'WebGL 2'])('WebGPURenderer on %s', (backend) => {
  let renderer: WebGPURenderer;
  beforeAll(async () => {
    renderer = new WebGPURenderer({ forceWebGL: backend === 'WebGL 2' });
    await renderer.init();
    expect((renderer.backend as { isWebGPUBackend?: boolean }).isWebGPUBackend === true).toBe(
      backend === 'WebGPU',
    );
  });
  afterAll(() => renderer.dispose());

  describe.each(['built-in', ...models])('%s', (name) => {
    const some = name === 'built-in' || name === models[0] ? [...encodings, ...halves] : encodings;
    test.each(some)('vertices are where three.js puts them, $encoding $precision', async (options) => {
      const { root, clips } = name === 'built-in' ? createCharacter() : await loadModel(name);
      const boneTexture = BoneTexture.bake(root, clips, options);
      // a model that quaternions cannot hold: the same as 'matrix'
      if (options.encoding === 'auto' && boneTexture.encoding === 'matrix') return;
      const how: Capture = {
        material: (vertices) => captureNodeMaterial(vertices),
        read: (crowd, vertices, instances) => captureNodes(renderer, crowd, vertices, instances),
      };
      for (const [clip, errors] of await measureVertices(how, root, clips, boneTexture)) {
        expect(errors.onFrames, `${clip}, on frames`).toBeLessThanOrEqual(BOUND[options.precision]);
        expect(errors.twin, `${clip}, CPU twin`).toBeLessThanOrEqual(1e-5);
      }
    });
  });
});
