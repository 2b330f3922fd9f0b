import { AnimationMixer, type Mesh, NumberKeyframeTrack, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { editsOf, morphsOf } from '../../support/features.js';
import {
  bakeCharacter,
  frames,
  getVertexPosition,
  JointEdits,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { addTargets } from '../../support/morphTargets.js';
import { characterHeight, drawnMeshes, offFrom } from '../../support/reference.js';

/** Of the height: what instances have of their own is stored in float32. */
const EXACT = 1e-5;

/** The character with two morph targets, of which a clip moves the first. */
function createBuilt(count: number) {
  const { root, clips } = createCharacter();
  addTargets(root.getObjectByName('Body') as Mesh, ['Fat', 'Tall'], true, 7);
  const [walk] = clips;
  walk.tracks.push(new NumberKeyframeTrack('Body.morphTargetInfluences[Fat]', [0, 1], [0, 1]));
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), count);
  return { root, walk, crowd, height: characterHeight(root) };
}

test('instances are built as a SkinnedMesh whose bones are scaled and whose influences are raised after mixer.update', () => {
  const { root, walk, crowd, height } = createBuilt(2);
  const mixer = new AnimationMixer(root);
  mixer.clipAction(walk).play();
  crowd.playAll(walk);
  const [mesh] = drawnMeshes(root) as Mesh[];
  const arm = 'LeftUpperArm';
  new JointEdits(crowd).setProportionsAt(1, { Head: 1.4, [arm]: new Vector3(1, 1.3, 0.8) });
  morphsOf(crowd).setInfluenceAt(1, 'Fat', 0.6).setInfluenceAt(1, 'Tall', -0.3);
  for (const delta of [0.21, 0.13, 0.37]) {
    crowd.update(delta);
    mixer.update(delta);
    root.updateMatrixWorld(true);
    expect(offFrom(root, crowd, 0) / height).toBeLessThan(EXACT);

    const bones = ['Head', arm].map((name) => root.getObjectByName(name)!);
    const kept = bones.map(({ scale }) => scale.clone());
    const influences = mesh.morphTargetInfluences as number[];
    const morphed = [...influences];
    bones[0].scale.multiplyScalar(1.4);
    bones[1].scale.multiply(new Vector3(1, 1.3, 0.8));
    influences[0] += 0.6;
    influences[1] -= 0.3;
    root.updateMatrixWorld(true);
    expect(offFrom(root, crowd, 1) / height).toBeLessThan(EXACT);
    expect(offFrom(root, crowd, 0) / height).toBeGreaterThan(0.01);
    for (const [i, scale] of kept.entries()) bones[i].scale.copy(scale);
    for (const [i, value] of morphed.entries()) influences[i] = value;
  }
});

test('bad input says what is wrong, and changes nothing', () => {
  const { root, walk, crowd } = createBuilt(1);
  const before = getVertexPosition(crowd, 0, 40, new Vector3()).toArray();
  const set = (proportions: unknown) => () => editsOf(crowd).setProportionsAt(0, proportions as never);
  expect(set({ Tail: 2 })).toThrow('no joint "Tail"');
  expect(set({ Hips: 2, Head: Number.NaN })).toThrow('The scale of "Head" is NaN');
  expect(set({ Head: new Vector3(1, Infinity, 1) })).toThrow('(1, Infinity, 1)');
  expect(set({ Head: undefined })).toThrow('The scale of "Head" is undefined');
  expect(() => editsOf(crowd).setProportionsAt(1, {})).toThrow('no instance 1');
  expect(getVertexPosition(crowd, 0, 40, new Vector3()).toArray()).toEqual(before);

  const baked = new SkinnedInstancedMesh(bakeCharacter(root, [walk], { encoding: frames }), 1);
  expect(() => editsOf(baked).setProportionsAt(0, { Head: 2 })).toThrow('bake with encoding "tracks"');
});
