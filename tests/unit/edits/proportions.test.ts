import { AnimationMixer, type Mesh, NumberKeyframeTrack, type Object3D, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { addTargets } from '../../support/morphTargets.js';
import { characterHeight, drawnMeshes } from '../../support/reference.js';

/** Of the height: what instances have of their own is stored in float32. */
const EXACT = 1e-5;

/** The character with two morph targets, of which a clip moves the first. */
function createBuilt(count: number) {
  const { root, clips } = createCharacter();
  addTargets(root.getObjectByName('Body') as Mesh, ['Fat', 'Tall'], true, 7);
  const [walk] = clips;
  walk.tracks.push(new NumberKeyframeTrack('Body.morphTargetInfluences[Fat]', [0, 1], [0, 1]));
  const crowd = SkinnedInstancedMesh.from(root, clips, count, { encoding: 'tracks' });
  return { root, walk, crowd, height: characterHeight(root) };
}

/** How far an instance's vertices are from those of a mesh, at most. */
function worst(crowd: SkinnedInstancedMesh, index: number, mesh: Mesh): number {
  const expected = new Vector3();
  const actual = new Vector3();
  let worst = 0;
  for (let vertex = 0; vertex < mesh.geometry.getAttribute('position').count; vertex += 7) {
    mesh.getVertexPosition(vertex, expected).applyMatrix4(mesh.matrixWorld);
    worst = Math.max(worst, crowd.getVertexPositionAt(index, vertex, actual).distanceTo(expected));
  }
  return worst;
}

test('instances are built as a SkinnedMesh whose bones are scaled and whose influences are raised after mixer.update', () => {
  const { root, walk, crowd, height } = createBuilt(2);
  const mixer = new AnimationMixer(root);
  mixer.clipAction(walk).play();
  crowd.playAll(walk);
  const [mesh] = drawnMeshes(root) as Mesh[];
  const arm = 'LeftUpperArm';
  crowd.setProportionsAt(1, { joints: { Head: 1.4, [arm]: new Vector3(1, 1.3, 0.8) }, morphs: { Fat: 0.6 } });
  crowd.setProportionsAt(1, { morphs: { Tall: -0.3 } });
  for (const delta of [0.21, 0.13, 0.37]) {
    crowd.update(delta);
    mixer.update(delta);
    root.updateMatrixWorld(true);
    expect(worst(crowd, 0, mesh) / height).toBeLessThan(EXACT);

    const bones = ['Head', arm].map((name) => root.getObjectByName(name) as Object3D);
    const kept = bones.map(({ scale }) => scale.clone());
    const influences = mesh.morphTargetInfluences as number[];
    const morphed = [...influences];
    bones[0].scale.multiplyScalar(1.4);
    bones[1].scale.multiply(new Vector3(1, 1.3, 0.8));
    influences[0] += 0.6;
    influences[1] -= 0.3;
    root.updateMatrixWorld(true);
    expect(worst(crowd, 1, mesh) / height).toBeLessThan(EXACT);
    expect(worst(crowd, 0, mesh) / height).toBeGreaterThan(0.01);
    for (const [i, scale] of kept.entries()) bones[i].scale.copy(scale);
    for (const [i, value] of morphed.entries()) influences[i] = value;
  }
});

test('proportions stay under edits, follow their instance, and end with it', () => {
  const { crowd } = createBuilt(3);
  const at = (index: number) => crowd.getVertexPositionAt(index, 40, new Vector3()).toArray();
  const shaped = () => at(0);
  const plain = at(1);
  crowd.setProportionsAt({ start: 0, count: 3 }, (i) =>
    i === 0 ? { joints: { Hips: 1.5 }, morphs: { Tall: 1 } } : null,
  );
  const built = shaped();
  expect(built).not.toEqual(plain);
  expect(at(1)).toEqual(plain);

  crowd.setJointScaleAt(0, 'Hips', new Vector3(2, 2, 2));
  expect(shaped()).not.toEqual(built);
  crowd.clearJointEditsAt(0);
  expect(shaped()).toEqual(built);
  crowd.setJointScaleAt(0, 'Hips', new Vector3(2, 2, 2)).setJointScaleAt(0, 'Hips', null);
  expect(shaped()).toEqual(built);

  crowd.swapInstances(0, 2);
  expect([at(0), at(2)]).toEqual([plain, built]);
  const copy = crowd.clone();
  expect(copy.getVertexPositionAt(2, 40, new Vector3()).toArray()).toEqual(built);

  crowd.setProportionsAt(2, { joints: { Hips: 1 }, morphs: { Tall: null } });
  expect(at(2)).toEqual(plain);
  crowd.setProportionsAt(2, { joints: { Hips: 1.5 }, morphs: { Tall: 1 } });
  expect(at(2)).toEqual(built);
  crowd.setProportionsAt(2, null);
  expect(at(2)).toEqual(plain);
  crowd.setProportionsAt(2, { joints: { Hips: 1.5 }, morphs: { Tall: 1 } }).deleteInstance(2);
  expect(crowd.addInstance()).toBe(2);
  expect(at(2)).toEqual(plain);
});

test('bad input says what is wrong, and changes nothing', () => {
  const { root, walk, crowd } = createBuilt(1);
  const set = (proportions: unknown) => () => crowd.setProportionsAt(0, proportions as never);
  expect(set({ joints: { Tail: 2 } })).toThrow('no joint "Tail"');
  expect(set({ joints: { Head: 2 }, morphs: { Thin: 1 } })).toThrow(
    'SkinnedInstancedMesh.setProportionsAt: no morph target "Thin"; the crowd has "Fat", "Tall".',
  );
  expect(set({ joints: { Head: Number.NaN } })).toThrow('the scale of "Head" is NaN');
  expect(set({ joints: { Head: new Vector3(1, Infinity, 1) } })).toThrow('(1, Infinity, 1)');
  expect(set({ joints: { Head: undefined } })).toThrow('the scale of "Head" is undefined');
  expect(set({ morphs: { Fat: Number.NaN } })).toThrow('morphs.Fat');
  expect(set(2)).toThrow('2 are no proportions');
  expect(() => crowd.setProportionsAt(1, {})).toThrow('no instance 1');
  expect(crowd.crowd.edits.isUsed).toBe(false);
  expect(crowd.morphTexture).toBe(null);

  const baked = SkinnedInstancedMesh.from(root, [walk], 1, { encoding: 'matrix' });
  expect(() => baked.setProportionsAt(0, { joints: { Head: 2 } })).toThrow('bake with encoding "tracks"');
  expect(() => baked.setProportionsAt(0, { morphs: { Fat: 0.5 } })).not.toThrow();
});
