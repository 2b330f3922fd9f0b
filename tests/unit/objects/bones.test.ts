import { SkinnedInstance } from 'skinned-instanced-mesh';
import { type AnimationClip, AnimationMixer, Bone, Mesh, Object3D, Scene, Vector3 } from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { placeError } from '../../support/boneErrors.js';
import { editsOf } from '../../support/features.js';
import { bakeCharacter, encodingOf, SkinnedInstancedMesh } from '../../support/library.js';
import { characterHeight } from '../../support/reference.js';

/** A scene with a crowd of one, and a clone that does the same. */
function createPair(encoding: 'tracks' | 'frames' = 'tracks') {
  const { root, clips } = createCharacter();
  const walk = clips.find(({ name }) => name === 'Walk') as AnimationClip;
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, [walk], { encoding: encodingOf(encoding) }), 0);
  const scene = new Scene().add(crowd);
  editsOf(crowd);
  const knight = new SkinnedInstance(crowd);
  const clone = SkeletonUtils.clone(root) as Object3D;
  const mixer = new AnimationMixer(clone);
  mixer.clipAction(walk).play();
  crowd.play(knight.instanceId, walk);
  const update = (delta: number) => {
    crowd.update(delta);
    mixer.update(delta);
    scene.updateMatrixWorld();
    clone.updateMatrixWorld(true);
  };
  update(0.4);
  return { root, walk, crowd, scene, knight, clone, update, height: characterHeight(root) };
}

test('what is written stays as long as clips do not move the joint, adds up, and ends by clearEdits', () => {
  const { crowd, knight, walk } = createPair();
  const bone = knight.getObjectByName('LeftUpperArm') as (typeof knight.bones)[number];
  crowd.stop(knight.instanceId);
  const rest = bone.rotation.y;
  for (let i = 0; i < 40; i++) {
    crowd.update(0.1);
    // Beyond a quarter of a turn, where angles that are read from a quaternion would go back.
    bone.rotation.y += 0.1;
  }
  expect(bone.rotation.y).toBeCloseTo(rest + 4, 10);
  expect(crowd.crowd.poseEdits).not.toBeNull();
  const turned = bone.getWorldQuaternion(bone.quaternion.clone());
  bone.clearEdits();
  expect(bone.rotation.y).toBeCloseTo(rest, 5);
  expect(bone.getWorldQuaternion(bone.quaternion.clone()).angleTo(turned)).toBeGreaterThan(0.5);

  bone.scale.setScalar(2);
  editsOf(crowd).setScaleAt(knight.instanceId, 'LeftUpperArm', new Vector3(3, 3, 3));
  expect(bone.scale.x).toBe(3);
  crowd.play(knight.instanceId, walk).update(0.2);
  expect(bone.scale.x).toBe(3);
  bone.scale.setScalar(2);
  bone.rotation.y = 1;
  crowd.update(0.1);
  // The clip turns the arm, and has no track for its scale.
  expect([bone.scale.x, bone.rotation.y]).not.toContain(1);
  expect(bone.scale.x).toBe(2);
  knight.clearEdits();
  expect(bone.scale.x).toBe(1);
});

test('an instance has a skeleton, proportions, and clones of its bones are bones', () => {
  const { knight, clone } = createPair();
  const { skeleton } = knight;
  expect(skeleton.bones).toEqual(knight.bones);
  expect(skeleton.getBoneByName('Head')).toBe(knight.getObjectByName('Head'));
  const mesh = clone.getObjectByName('Body') as Mesh & { skeleton: typeof skeleton };
  for (const [i, bone] of mesh.skeleton.bones.entries()) {
    const at = skeleton.bones.findIndex(({ name }) => name === bone.name);
    const [ours, theirs] = [skeleton.boneInverses[at], mesh.skeleton.boneInverses[i]];
    expect(placeError(ours, theirs, 1), bone.name).toBeLessThan(1e-5);
  }
  const head = skeleton.getBoneByName('Head') as Bone;
  expect(knight.setProportions({ Head: 1.5 })).toBe(knight);
  expect(head.scale.x).toBe(1);
  expect(head.matrixWorld.getMaxScaleOnAxis()).toBeCloseTo(1.5);
  knight.clearEdits();
  expect(head.matrix.getMaxScaleOnAxis()).toBeCloseTo(1.5);

  head.add(new Mesh());
  const twin = knight.clone();
  expect(twin.children.length).toBe(knight.children.length);
  const theirs = twin.skeleton.getBoneByName('Head') as Bone;
  expect([theirs.children.length, theirs.constructor]).toEqual([1, head.constructor]);
  expect(theirs).not.toBe(head);
  expect(theirs.matrix.getMaxScaleOnAxis()).toBeCloseTo(1.5);
  const copy = head.clone();
  expect([copy.constructor, copy.name, copy.children.length]).toEqual([Bone, 'Head', 1]);
  expect(copy.position.distanceTo(head.position)).toBe(0);
});

test('traverse finds the bones by their names, whether or not somebody has asked for them', () => {
  const { crowd, scene, knight, clone } = createPair();
  const found = (from: Object3D) => {
    const names: string[] = [];
    from.traverse(({ name }) => names.push(name));
    return names.filter((name) => clone.getObjectByName(name) instanceof Bone);
  };
  const expected = found(clone);
  const other = new SkinnedInstance(crowd);
  // Thousands that stand in a crowd are not to have bones because somebody looks for lights.
  crowd.traverse(() => {});
  expect(other.children).toEqual([]);
  const hat = new Object3D();
  other.getObjectByName('Head')?.add(hat);
  const met: Object3D[] = [];
  crowd.traverse((object) => met.push(object));
  expect(met.includes(hat)).toBe(true);
  expect(met.filter((object) => (object as Partial<Bone>).isBone)).toEqual([]);
  expect(expected.length).toBeGreaterThan(0);
  expect(found(other)).toEqual(expected);
  expect(found(other)).toEqual(expected);
  scene.add(knight);
  expect(found(knight)).toEqual(expected);
});
