import { WebGLRenderer } from 'three';
import { afterAll, beforeAll, test } from 'vitest';
import { describeCharacters, loadCharacter } from '../support/characters.js';
import { expectVertices } from '../support/encodings.js';
import { webGLCapture } from '../support/parity.js';

let renderer: WebGLRenderer;
beforeAll(() => {
  renderer = new WebGLRenderer();
});
afterAll(() => renderer.dispose());

describeCharacters((name) => {
  test('vertices are where three.js puts them, in every encoding', async () => {
    await expectVertices(webGLCapture(renderer), name, await loadCharacter(name), ['float', 'half']);
  });
});
