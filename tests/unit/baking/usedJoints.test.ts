import { BoxGeometry, Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { crowdArguments } from '../../support/crowdArguments.js';
import {
  bakeCharacter,
  ENCODINGS,
  encodingOf,
  getSocketMatrix,
  JointAttachment,
  LoopOnceOptions,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { nearestFrame } from '../../support/pair.js';
import { offFrom, Reference } from '../../support/reference.js';
import { withUnusedBones } from '../../support/unusedBones.js';

test.each(ENCODINGS)('joints that no vertex follows are left out, and poses are as ever: %s', (encoding) => {
  const { root, clips } = withUnusedBones();
  const options = { encoding: encodingOf(encoding), sockets: ['Slot'], fps: 48 };
  const all = new SkinnedInstancedMesh(...crowdArguments(root, clips, 1, options));
  const used = new SkinnedInstancedMesh(...crowdArguments(root, clips, 1, { ...options, joints: 'used' }));
  const { jointNames } = used.boneTexture;
  expect(jointNames).toEqual([
    ...all.boneTexture.jointNames.filter((name) => !/Middle|Slot/.test(name)),
    'Slot',
  ]);

  const reference = new Reference(root, new Matrix4());
  const slot = reference.root.getObjectByName('Slot')!;
  const [position, expected] = [new Vector3(), new Vector3()];
  clips.forEach((clip, i) => {
    const time = nearestFrame(used.boneTexture, i, 0.37 * clip.duration);
    reference.pose(clip, time);
    used.play(0, i, { ...LoopOnceOptions, time });
    expect(offFrom(reference.root, used), clip.name).toBeLessThan(1e-5);
    expected.setFromMatrixPosition(slot.matrixWorld);
    const socket = getSocketMatrix(used, 0, 'Slot', new Matrix4());
    expect(position.setFromMatrixPosition(socket).distanceTo(expected), clip.name).toBeLessThan(1e-5);
  });
  all.dispose();
  used.dispose();
});

test('what a joint that was left out is asked for says how to have it', () => {
  const { root, clips } = withUnusedBones();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips, { joints: 'used' }), 1);
  const box = new BoxGeometry();
  expect(() => new JointAttachment(crowd, 'Slot', box, crowd.material)).toThrow(
    /bake with sockets: \["Slot"\]/,
  );
  expect(() => getSocketMatrix(crowd, 0, 'Middle', new Matrix4())).toThrow(/bake with sockets: \["Middle"\]/);
});
