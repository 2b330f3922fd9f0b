import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { MAX_LAYOUTS } from '../../../lib/instances/UniformLayout.js';
import { numberOfSource, sourceOf, sourceOfNumber } from '../../../lib/sources/sources.js';
import { MAX_MOTIONS } from '../../../shaders/MotionProgram.js';
import { MAX_SOURCES, VARIANT_CODES, variantCode, variantOf } from '../../../shaders/ShaderVariant.js';
import { BoneTexture } from '../../support/library.js';

const encodings = ['matrix', 'quaternion', 'tracks'] as const;

test.each(encodings)('a bone texture of encoding %s is posed by the source of that name', (encoding) => {
  const { root, clips } = createCharacter();
  const boneTexture = BoneTexture.bake(root, clips, { encoding, fps: 5 });
  const source = sourceOf({ poseSource: null, boneTexture, palette: 'exact' });
  expect(source.name).toBe(encoding);
  expect(sourceOfNumber(numberOfSource(source))).toBe(source);
});

test.each(encodings)(
  'of encoding %s without clips, vertices read the rest pose and nothing else',
  (encoding) => {
    const { root } = createCharacter();
    const boneTexture = BoneTexture.bake(root, [], { encoding });
    const source = sourceOf({ poseSource: null, boneTexture, palette: 'exact' });
    expect(source.readsSlots).toBe(false);
    expect(source.name).toBe(encoding === 'tracks' ? encoding : `rest ${encoding}`);
    expect(sourceOfNumber(numberOfSource(source))).toBe(source);
  },
);

test('a source must be registered before a crowd is posed by it', () => {
  const { root, clips } = createCharacter();
  const boneTexture = BoneTexture.bake(root, clips, { fps: 5 });
  const poseSource = { ...sourceOf({ poseSource: null, boneTexture, palette: 'exact' }), name: 'other' };
  expect(sourceOf({ poseSource, boneTexture, palette: 'exact' })).toBe(poseSource);
  expect(() => numberOfSource(poseSource)).toThrow('the pose source "other" is not known');
});

test('a code stands for one variant', () => {
  const codes = new Set<number>();
  const layouts = [0, 1, 2, MAX_LAYOUTS - 1];
  const motions = [0, 1, MAX_MOTIONS - 1];
  for (const [uniforms, motion] of layouts.flatMap((one) => motions.map((other) => [one, other]))) {
    for (let source = 0; source < MAX_SOURCES; source++) {
      for (let flags = 0; flags < 24; flags++) {
        for (const influences of [1, 2, 4] as const) {
          const [interpolate, parts, morphs] = [1, 2, 4].map((bit) => (flags & bit) !== 0);
          const [view, fades] = [flags >= 8, flags >= 16];
          const variant = { source, interpolate, influences, parts, morphs, view, fades, uniforms, motion };
          const code = variantCode(variant);
          expect(code).toBeLessThan(VARIANT_CODES);
          expect(variantOf(code)).toEqual(variant);
          codes.add(code);
        }
      }
    }
  }
  expect(codes.size).toBe((VARIANT_CODES / MAX_LAYOUTS / MAX_MOTIONS) * layouts.length * motions.length);
  expect(VARIANT_CODES, 'shaders get them as float32, and add a half').toBeLessThan(2 ** 23);
});
