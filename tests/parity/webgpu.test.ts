import { WebGPURenderer } from 'three/webgpu';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { captureNodeMaterial, captureNodes } from '../support/captureNodes.js';
import { BUILT_IN, describeCharacters, loadCharacter } from '../support/characters.js';
import { expectVertices } from '../support/encodings.js';
import type { Capture } from '../support/parity.js';

/** Half floats are another format of the same texels, for which two characters are enough. */
const HALVES = [BUILT_IN, 'CesiumMan.glb'];

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

  describeCharacters((name) => {
    test('vertices are where three.js puts them, in every encoding', async () => {
      const how: Capture = {
        material: (vertices) => captureNodeMaterial(vertices),
        read: (crowd, vertices, instances) => captureNodes(renderer, crowd, vertices, instances),
      };
      const model = await loadCharacter(name);
      // To a shader other clips are other numbers: the knight's 76 are all for the GLSL.
      const every = model.clips.length > 20 ? 4 : 1;
      const precisions = HALVES.includes(name) ? (['float', 'half'] as const) : (['float'] as const);
      await expectVertices(how, name, model, precisions, every);
    });
  });
});
