import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { BoneTexture, SkinnedInstancedMesh } from '../../support/library.js';

test('dispose leaves a bone texture that was passed in, and frees one that from baked', () => {
  const { root, clips } = createCharacter();
  const boneTexture = BoneTexture.bake(root, clips, { fps: 5 });
  let disposed = 0;
  boneTexture.addEventListener('dispose', () => disposed++);
  SkinnedInstancedMesh.from(root, clips, 1, { boneTexture }).dispose();
  expect(disposed).toBe(0);
  const own = SkinnedInstancedMesh.from(root, clips, 1, { fps: 5 });
  own.boneTexture.addEventListener('dispose', () => disposed++);
  own.dispose();
  expect(disposed).toBe(1);
});
