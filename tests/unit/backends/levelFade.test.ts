import { expect, test } from 'vitest';
import { instanceIndexGLSL } from '../../../shaders/instanceIndex.glsl.js';
import { fadeFragmentGLSL } from '../../../shaders/levelFade.glsl.js';

/** What the shader computes, as a function of where the pixel is. */
function thresholdOf(): (x: number, y: number) => number {
  const code = /int fadeThreshold\(\) \{([\s\S]*?)\}/.exec(fadeFragmentGLSL(''))?.[1] as string;
  const body = code.replace('ivec2 at = ivec2( gl_FragCoord.xy );', '').replace('int both', 'const both');
  return new Function('x', 'y', `const at = { x, y };${body}`) as (x: number, y: number) => number;
}

test('each threshold stands once in a square of 8 x 8, and neighbours are far from each other', () => {
  const threshold = thresholdOf();
  const square = Array.from({ length: 64 }, (_, i) => threshold(8 + (i & 7), 16 + (i >> 3)));
  expect([...square].sort((a, b) => a - b)).toEqual(Array.from({ length: 64 }, (_, i) => i));
  expect(square.slice(0, 8)).toEqual([0, 32, 8, 40, 2, 34, 10, 42]);
  // Half of the pixels are those of a chequerboard.
  for (let i = 0; i < 64; i++) expect(square[i] < 32).toBe(((i & 1) ^ ((i >> 3) & 1)) === 0);
});

test('a fragment shader that fades has the text of the one that does not, in which code is found', () => {
  const shader = 'uniform float a;\nvoid main() {\n  gl_FragColor = vec4( a );\n}';
  const fading = fadeFragmentGLSL(shader);
  expect(fading).toContain(shader);
  expect(fading.split('void main() {')).toHaveLength(2);
});

test('shaders of crowds whose levels do not fade know nothing of it', () => {
  expect(instanceIndexGLSL(true, false)).not.toMatch(/fade|entry/i);
  expect(instanceIndexGLSL(false, false)).not.toMatch(/fade|entry/i);
  expect(instanceIndexGLSL(true, true)).toContain('crowdFade = 0;');
});
