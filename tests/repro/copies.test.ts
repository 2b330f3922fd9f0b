import {
  BoxGeometry,
  Group,
  type InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  Sphere,
  Vector3,
} from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { TEXTURE_PARTS } from '../../lib/constants.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { createStick, tipOf } from '../support/stick.js';

function createCrowd(count = 2, durations?: Record<string, number>) {
  const { root, clips } = createStick(durations);
  return SkinnedInstancedMesh.from(root, clips, count);
}

test('bounds that a crowd computed follow the instances of its clone', () => {
  const crowd = createCrowd();
  crowd.computeBoundingBox();
  crowd.computeBoundingSphere();
  const clone = crowd.clone();
  clone.setMatrixAt(0, new Matrix4().makeTranslation(500, 0, 0));
  clone.instanceMatrix.needsUpdate = true;
  clone.updateMatrixWorld();
  clone.computeBoundingSphere();
  expect((clone.boundingSphere as Sphere).radius).toBeGreaterThan(240);
  expect(clone.boundingBox).toBe(null);
  expect((crowd.boundingSphere as Sphere).radius).toBeLessThan(20);
});

test('bounds that the user set are copied, and stay', () => {
  const crowd = createCrowd();
  crowd.boundingSphere = new Sphere(new Vector3(1, 2, 3), 40);
  crowd.computeBoundingBox();
  const clone = crowd.clone();
  expect(clone.boundingSphere).toEqual(crowd.boundingSphere);
  clone.instanceMatrix.needsUpdate = true;
  clone.updateMatrixWorld();
  expect(clone.boundingSphere?.radius).toBe(40);
});

test('a sphere that was computed does not make a box that the user set the crowd’s', () => {
  const crowd = createCrowd();
  crowd.computeBoundingBox();
  const own = (crowd.boundingBox as NonNullable<InstancedMesh['boundingBox']>).clone();
  crowd.boundingBox = own;
  crowd.computeBoundingSphere();
  crowd.instanceMatrix.needsUpdate = true;
  crowd.updateMatrixWorld();
  expect(crowd.boundingBox).toBe(own);
  expect(crowd.boundingSphere).toBe(null);
});

test('a crowd may become a copy of another character', () => {
  const { root, clips } = createCharacter();
  const big = SkinnedInstancedMesh.from(root, clips, 5, { influences: 2, shadowInfluences: 1, fps: 5 });
  big.setMatrixAt(4, new Matrix4().makeTranslation(1, 2, 3));
  big.play(4, 'Run', { time: 0.2 }).setPartVisibleAt(3, 0, false);
  const small = createCrowd(2);
  small.computeBoundingSphere();
  small.copy(big);
  expect(small).toMatchObject({ boneTexture: big.boneTexture, influences: 2, shadowInfluences: 1 });
  expect(small).toMatchObject({ capacity: 5, count: 5, partNames: big.partNames });
  expect(small.getClipAt(4)).toBe('Run');
  expect(small.getPartVisibleAt(3, 0)).toBe(false);
  const vertices = big.geometry.getAttribute('position').count;
  const expected = new Vector3();
  const copied = new Vector3();
  for (let vertex = 0; vertex < vertices; vertex += 7) {
    big.getVertexPositionAt(4, vertex, expected);
    expect(small.getVertexPositionAt(4, vertex, copied)).toEqual(expected);
  }
  small.computeBoundingSphere();
  big.computeBoundingSphere();
  expect(small.boundingSphere).toEqual(big.boundingSphere);
});

test('what a crowd made is freed with it, and nothing of the one it became a copy of', () => {
  const small = createCrowd();
  const big = createCrowd();
  const freed: string[] = [];
  small.boneTexture.addEventListener('dispose', () => freed.push('small'));
  big.boneTexture.addEventListener('dispose', () => freed.push('big'));
  small.copy(big).dispose();
  expect(freed).toEqual(['small']);
  big.dispose();
  expect(freed).toEqual(['small', 'big']);
});

test('copy leaves what was attached, and brings copies of what the source has', () => {
  const target = createCrowd(2);
  const other = new Group();
  target.add(other);
  const hat = target.attachToJoint('Tip', new BoxGeometry(), new MeshBasicMaterial());
  const source = createCrowd(6);
  const sword = source.attachToJoint('Base', new BoxGeometry(), new MeshBasicMaterial());
  sword.setPartVisibleAt(5, 0, false);
  sword.count = 4;
  target.copy(source);
  expect(target.children.slice(0, 2)).toEqual([other, hat]);
  const copied = target.children[2] as SkinnedInstancedMesh;
  for (const mesh of [hat, copied]) {
    expect(mesh.playback).toBe(target.playback);
    expect(mesh.instanceMatrix).toBe(target.instanceMatrix);
    expect(mesh).toMatchObject({ capacity: 6, boneTexture: source.boneTexture });
  }
  expect([hat.count, copied.count]).toEqual([6, 4]);
  expect(copied.getPartVisibleAt(5, 0)).toBe(false);
  expect(source.children).toEqual([sword]);
});

test('copy says what it cannot do, before it does any of it', () => {
  const { root, clips } = createCharacter();
  const big = SkinnedInstancedMesh.from(root, clips, 1, { fps: 5 });
  const stick = createCrowd();
  const hat = stick.attachToJoint('Tip', new BoxGeometry(), new MeshBasicMaterial());
  const before = stick.boneTexture;
  expect(() => stick.copy(big)).toThrow('SkinnedInstancedMesh.copy: no joint "Tip" to attach to');
  expect(stick.boneTexture).toBe(before);
  expect(() => hat.copy(hat.clone())).toThrow('JointAttachment.copy: this mesh is attached to another');
  expect(hat.playback).toBe(stick.playback);
});

test('SkeletonUtils.clone gives a clone that draws with its own textures', () => {
  const crowd = createCrowd();
  crowd.setPartVisibleAt(0, 0, false);
  const clone = SkeletonUtils.clone(crowd) as SkinnedInstancedMesh;
  clone.setPartVisibleAt(0, 0, true);
  expect(clone.skeleton).not.toBe(crowd.skeleton);
  const texture = (mesh: SkinnedInstancedMesh) => mesh.skeleton.textures[TEXTURE_PARTS];
  expect(texture(clone)).toBe(clone.parts?.texture.plain);
  expect(texture(crowd)).toBe(crowd.parts?.texture.plain);
});

test('a clone plays on by itself, with a clip that fades', () => {
  const crowd = createCrowd(1, { Slide: 1, Glide: 2 });
  crowd.play(0, 'Slide').update(0.25).play(0, 'Glide', { fade: 1, time: 1 }).update(0.25);
  const clone = crowd.clone();
  expect(tipOf(clone, 0)).toBeCloseTo(tipOf(crowd, 0), 6);
  clone.update(0.25);
  expect(tipOf(clone, 0)).toBeCloseTo(0.5 * 0.75 + 0.5 * 1.5, 5);
});

test('what was made for a crowd is freed with the last of its copies', () => {
  const { root, clips } = createCharacter({ detail: 0.3 });
  const hat = new Mesh(new BoxGeometry(), new MeshStandardMaterial({ color: 0xff0000 }));
  root.getObjectByName('Head')?.add(hat);
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { mergeMaterials: true, fps: 5 });
  const level = crowd.addLevel(root, 10, 0, { mergeMaterials: true });
  const freed: string[] = [];
  for (const [name, resource] of Object.entries({
    material: crowd.material as MeshStandardMaterial,
    texture: crowd.boneTexture,
    level: level.material as MeshStandardMaterial,
  })) {
    resource.addEventListener('dispose', () => freed.push(name));
  }
  const copy = crowd.clone();
  const copyOfCopy = copy.clone();
  copy.dispose().dispose();
  crowd.dispose();
  expect(freed, 'a copy draws with them').toEqual([]);
  copyOfCopy.dispose();
  expect(freed.sort()).toEqual(['level', 'material', 'texture']);
});
