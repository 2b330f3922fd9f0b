import { BoxGeometry, type Material, Mesh, MeshBasicMaterial, MeshStandardMaterial } from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { addLevel } from '../../support/levels.js';
import {
  assembleCharacter,
  bakeBoneTexture,
  bakeCharacter,
  createLevel,
  disposeCharacter,
  JointAttachment,
  mergeMaterials,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { createStick, createStickCrowd } from '../../support/stick.js';

test('crowds free nothing of their character, which disposeCharacter frees', () => {
  const { root, clips } = createCharacter({ detail: 0.3 });
  const hat = new Mesh(new BoxGeometry(), new MeshStandardMaterial({ color: 0xff0000 }));
  hat.castShadow = hat.receiveShadow = true;
  root.getObjectByName('Head')?.add(hat);
  const character = bakeCharacter(root, clips, { mergeMaterials: mergeMaterials(), fps: 5 });
  const crowd = new SkinnedInstancedMesh(character, 1);
  const level = createLevel(crowd, root, { mergeMaterials: mergeMaterials({ maxSize: 64 }) });
  addLevel(crowd, level, 10);
  const freed: string[] = [];
  for (const [name, resource] of Object.entries({
    geometry: character.geometry,
    material: character.material as Material,
    boneTexture: character.boneTexture,
    level: level.geometry,
    own: hat.geometry,
  })) {
    resource.addEventListener('dispose', () => freed.push(name));
  }
  crowd.clone().dispose();
  crowd.dispose();
  expect(freed).toEqual([]);
  disposeCharacter(level);
  expect(freed).toEqual(['level']);
  disposeCharacter(character);
  expect(freed.sort()).toEqual(['boneTexture', 'geometry', 'level', 'material']);
});

test('a bone texture that a character was assembled for is not freed with it', () => {
  const { root, clips } = createStick();
  const boneTexture = bakeBoneTexture(root, clips);
  let disposed = 0;
  boneTexture.addEventListener('dispose', () => disposed++);
  disposeCharacter(assembleCharacter(root, boneTexture));
  expect(disposed).toBe(0);
});

test('materials are taken away after dispose(), with null or undefined', () => {
  for (const nothing of [null, undefined]) {
    const crowd = createStickCrowd(1);
    new JointAttachment(crowd, 'Tip', new BoxGeometry(), new MeshBasicMaterial());
    const meshes = [crowd.attachments[0], crowd];
    crowd.dispose();
    for (const mesh of meshes) {
      Object.assign(mesh, { material: nothing });
      expect(mesh.material).toBe(nothing);
    }
  }
});
