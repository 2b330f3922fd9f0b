import { BoxGeometry, type Material, MeshBasicMaterial } from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { BoneTexture, SkinnedInstancedMesh } from '../../support/library.js';
import { createStick } from '../../support/stick.js';

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

test('materials that others took the place of forget the crowd, unless they come back', () => {
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
  const frames = (count: number) => {
    for (let i = 0; i < count; i++) crowd.skeleton.update();
  };
  const [one, other] = [new MeshBasicMaterial(), new MeshBasicMaterial()];
  /** The codes of the variants that a material's programs hold. */
  const codesOf = (material: Material) => /attributes (\S*)/.exec(material.customProgramCacheKey())?.[1];
  crowd.material = one;
  frames(1);
  const { version } = one;
  const codes = codesOf(one);
  expect(codes).not.toBe('');
  for (let i = 0; i < 100; i++) {
    crowd.material = other;
    frames(1);
    crowd.material = one;
    frames(1);
  }
  expect([codesOf(one), one.version]).toEqual([codes, version]);
  crowd.material = other;
  frames(100);
  expect([codesOf(one), codesOf(other)]).toEqual(['', codes]);
  crowd.material = one;
  frames(1);
  expect(codesOf(one)).toBe(codes);
  crowd.dispose();
  expect([codesOf(one), codesOf(other)]).toEqual(['', '']);
});

test('materials are taken away after dispose(), with null or undefined', () => {
  for (const nothing of [null, undefined]) {
    const { root, clips } = createStick();
    const crowd = SkinnedInstancedMesh.from(root, clips, 1);
    crowd.attachToJoint('Tip', new BoxGeometry(), new MeshBasicMaterial());
    const meshes = [crowd.attachments[0], crowd];
    crowd.dispose();
    for (const mesh of meshes) {
      Object.assign(mesh, { material: nothing });
      expect(mesh.material).toBe(nothing);
    }
  }
});
