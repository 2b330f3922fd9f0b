import { WebGLRenderer } from 'three';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { BoneTexture } from '../support/library.js';
import { loadModel, modelNames } from '../support/models.js';
import { measureVertices, type VertexErrors, webGLCapture } from '../support/parity.js';

/** Share of the character's height by which a vertex may be off on a baked frame. */
const BOUND = { float: 1e-5, half: 1e-3 };

let renderer: WebGLRenderer;
beforeAll(() => {
  renderer = new WebGLRenderer();
});
afterAll(() => renderer.dispose());

function report(name: string, boneTexture: BoneTexture, errors: Map<string, VertexErrors>): VertexErrors {
  const worst: VertexErrors = { onFrames: 0, between: 0, twin: 0 };
  let worstClip = '';
  for (const [clip, one] of errors) {
    if (one.between > worst.between) worstClip = clip;
    for (const key of ['onFrames', 'between', 'twin'] as const) worst[key] = Math.max(worst[key], one[key]);
  }
  const { encoding, precision, layout } = boneTexture;
  console.log(
    `${name} ${encoding} ${precision} ${layout.width}x${layout.height}: on frames ${worst.onFrames.toExponential(1)}, ` +
      `between ${worst.between.toExponential(1)} (${worstClip}), twin ${worst.twin.toExponential(1)} of the height`,
  );
  return worst;
}

const models = await modelNames();
const encodings = [
  { encoding: 'matrix', precision: 'float' },
  { encoding: 'auto', precision: 'float' },
  { encoding: 'matrix', precision: 'half' },
  { encoding: 'auto', precision: 'half' },
] as const;

describe.each(['built-in', ...models])('%s', (name) => {
  test.each(encodings)(
    'vertices are where three.js puts them, $encoding $precision',
    async (options) => {
      const { root, clips } = name === 'built-in' ? createCharacter() : await loadModel(name);
      const boneTexture = BoneTexture.bake(root, clips, options);
      // a model that quaternions cannot hold: the same as 'matrix'
      if (options.encoding === 'auto' && boneTexture.encoding === 'matrix') return;
      const worst = report(
        name,
        boneTexture,
        await measureVertices(webGLCapture(renderer), root, clips, boneTexture),
      );
      expect(worst.onFrames).toBeLessThanOrEqual(BOUND[options.precision]);
      expect(worst.twin).toBeLessThanOrEqual(1e-5);
    },
    240_000,
  );
});
