import { Group, Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { describeCharacters, loadCharacter } from '../../support/characters.js';
import {
  assembleCharacter,
  bakeBoneTexture,
  bakeCharacter,
  getSocketMatrix,
  LoopOnceOptions,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { nearestFrame } from '../../support/pair.js';
import { characterHeight, Reference } from '../../support/reference.js';

describeCharacters((name) => {
  test('sockets are where the bones are', async () => {
    const { root, clips } = await loadCharacter(name);
    const height = characterHeight(root);
    const place = new Matrix4().makeRotationY(0.7).setPosition(0.2 * height, 0, -height);
    const boneTexture = bakeBoneTexture(root, clips, { clips: clips.slice(0, 3).map((clip) => clip.name) });
    const crowd = new SkinnedInstancedMesh(assembleCharacter(root, boneTexture), 1);
    crowd.setMatrixAt(0, place);
    const reference = new Reference(root, place);
    const matrix = new Matrix4();
    const seen = new Set<string>();
    let worst = 0;
    for (const [i, clip] of clips.slice(0, 3).entries()) {
      const time = nearestFrame(crowd.boneTexture, i, 0.4 * clip.duration);
      crowd.play(0, i, { ...LoopOnceOptions, time });
      reference.pose(clip, time);
      for (const joint of new Set(boneTexture.jointNames)) {
        const bone = reference.root.getObjectByName(joint);
        if (bone === undefined) continue;
        seen.add(joint);
        getSocketMatrix(crowd, 0, joint, matrix);
        const off = new Vector3()
          .setFromMatrixPosition(matrix)
          .distanceTo(new Vector3().setFromMatrixPosition(bone.matrixWorld));
        worst = Math.max(worst, off / height);
        const axes = bone.matrixWorld.elements
          .slice(0, 11)
          .map((value, k) => Math.abs(value - matrix.elements[k]));
        expect(Math.max(...axes) / bone.matrixWorld.getMaxScaleOnAxis()).toBeLessThan(1e-4);
      }
    }
    console.log(`${name}: ${seen.size} sockets, off by ${worst.toExponential(1)} of the height at most`);
    expect(seen.size).toBeGreaterThan(15);
    expect(worst).toBeLessThan(2e-5);
  });
});

test('a node that is no joint is a socket when baked as one', () => {
  const { root, clips } = createCharacter();
  const grip = new Group();
  grip.name = 'Grip';
  grip.position.set(0, -0.1, 0.05);
  root.getObjectByName('RightHand')?.add(grip);
  expect(() =>
    getSocketMatrix(new SkinnedInstancedMesh(bakeCharacter(root, clips), 1), 0, 'Grip', new Matrix4()),
  ).toThrow(/There is no joint "Grip" to attach to; there are "Hips".*sockets: \['Grip'\]/);
  expect(() => bakeBoneTexture(root, clips, { sockets: ['Grab'] })).toThrow('sockets names "Grab"');

  const boneTexture = bakeBoneTexture(root, clips, { sockets: ['Grip'], fps: 48 });
  const crowd = new SkinnedInstancedMesh(assembleCharacter(root, boneTexture), 1);
  crowd.play(0, 1, { ...LoopOnceOptions, time: 0.5 });
  const reference = new Reference(root, new Matrix4()).pose(clips[1], 0.5);
  const expected = new Vector3();
  reference.root.getObjectByName('Grip')?.getWorldPosition(expected);
  const drawn = new Vector3().setFromMatrixPosition(getSocketMatrix(crowd, 0, 'Grip', new Matrix4()));
  expect(drawn.distanceTo(expected)).toBeLessThan(1e-5);
});
