import { expect, test } from 'vitest';
import { frameTexel, layoutTexture } from '../../../lib/encodings/textureLayout.js';

test('frames that fit are all below each other', () => {
  expect(layoutTexture(64, 10, 64, 'test')).toEqual({ width: 10, height: 64, stride: 10 });
});

test('one frame more makes a second column of the same height', () => {
  expect(layoutTexture(65, 10, 64, 'test')).toEqual({ width: 20, height: 33, stride: 10 });
});

test('a texture that is just full', () => {
  expect(layoutTexture(6 * 64, 10, 64, 'test')).toEqual({ width: 60, height: 64, stride: 10 });
  expect(layoutTexture(5, 64, 64, 'test')).toEqual({ width: 64, height: 5, stride: 64 });
});

test('one that is too full is an error with the size it would need', () => {
  expect(() => layoutTexture(6 * 64 + 1, 10, 64, 'test')).toThrow(
    'test: 385 frames of 10 texels need a texture of 70 × 55, but maxTextureSize is 64',
  );
  expect(() => layoutTexture(1, 65, 64, 'test')).toThrow('need a texture of 65 × 1');
});

test('no two frames share a texel, and all lie within the texture', () => {
  const layout = layoutTexture(131, 7, 50, 'test');
  const owner = new Int32Array(layout.width * layout.height).fill(-1);
  for (let frame = 0; frame < 131; frame++) {
    const first = frameTexel(layout, frame);
    expect((first % layout.width) + 7, 'within a row').toBeLessThanOrEqual(layout.width);
    for (let texel = first; texel < first + 7; texel++) {
      expect(owner[texel]).toBe(-1);
      owner[texel] = frame;
    }
  }
});
