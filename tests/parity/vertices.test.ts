import { afterAll, beforeAll, describe, test } from 'vitest';
import { captureOf, TWINS } from '../support/captures.js';
import { BUILT_IN, describeCharacters, loadCharacter } from '../support/characters.js';
import { expectVertices } from '../support/encodings.js';

/** Half floats are another format of the same texels, for which two characters are enough with node materials. */
const HALVES = [BUILT_IN, 'CesiumMan.glb'];

describe.each(TWINS)('%s', (twin) => {
  let how: Awaited<ReturnType<typeof captureOf>>;
  beforeAll(async () => {
    how = await captureOf(twin);
  });
  afterAll(() => how.dispose());

  describeCharacters((name) => {
    test('vertices are where three.js puts them, in every encoding', async () => {
      const model = await loadCharacter(name);
      const thorough = twin === 'GLSL';
      // To a shader other clips are other numbers: the knight's 76 are all for the GLSL.
      const every = thorough || model.clips.length <= 20 ? 1 : 4;
      const precisions =
        thorough || HALVES.includes(name) ? (['float', 'half'] as const) : (['float'] as const);
      await expectVertices(how, name, model, precisions, every);
    });
  }, twin);
});
