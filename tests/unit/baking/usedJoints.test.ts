import { BoxGeometry, Matrix4, type Object3D, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { collectRig } from '../../../lib/baking/collectRig.js';
import { BoneTexture, LoopOnceOptions, SkinnedInstancedMesh } from '../../support/library.js';
import { nearestFrame } from '../../support/pair.js';
import { Reference } from '../../support/reference.js';
import { withUnusedBones } from '../../support/unusedBones.js';

const ENCODINGS = ['tracks', 'quaternion', 'matrix'] as const;

test.each(ENCODINGS)('joints that no vertex follows are left out, and poses are as ever: %s', (encoding) => {
  const { root, clips } = withUnusedBones();
  const options = { encoding, sockets: ['Slot'], fps: 48 };
  const all = SkinnedInstancedMesh.from(root, clips, 1, options);
  const used = SkinnedInstancedMesh.from(root, clips, 1, { ...options, joints: 'used' });
  const { jointNames } = used.boneTexture;
  expect(jointNames).toEqual([
    ...all.boneTexture.jointNames.filter((name) => !/Middle|Slot/.test(name)),
    'Slot',
  ]);

  const reference = new Reference(root, new Matrix4());
  const slot = reference.root.getObjectByName('Slot') as Object3D;
  const [position, expected] = [new Vector3(), new Vector3()];
  clips.forEach((clip, i) => {
    const time = nearestFrame(used.boneTexture, i, 0.37 * clip.duration);
    reference.pose(clip, time);
    used.play(0, i, { ...LoopOnceOptions, time });
    let most = 0;
    reference.forEachVertex((vertex, at) => {
      most = Math.max(most, used.getVertexPositionAt(0, vertex, position).distanceTo(at));
    });
    expect(most, clip.name).toBeLessThan(1e-5);
    expected.setFromMatrixPosition(slot.matrixWorld);
    const socket = used.getSocketMatrixAt(0, 'Slot', new Matrix4());
    expect(position.setFromMatrixPosition(socket).distanceTo(expected), clip.name).toBeLessThan(1e-5);
  });
  all.dispose();
  used.dispose();
});

test('what a joint that was left out is asked for says how to have it', () => {
  const { root, clips } = withUnusedBones();
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { joints: 'used' });
  const box = new BoxGeometry();
  expect(() => crowd.attachToJoint('Slot', box, crowd.material)).toThrow(/bake with sockets: \['Slot'\]/);
  expect(() => crowd.getSocketMatrixAt(0, 'Middle', new Matrix4())).toThrow(
    /bake with sockets: \['Middle'\]/,
  );
  expect(() => BoneTexture.bake(root, clips, { joints: 'some' as 'all' })).toThrow(
    'BoneTexture.bake: joints is "some"; use "all" or "used".',
  );
});

test('a bone texture that was baked before is recognised, whichever joints it has', () => {
  const { root, clips } = withUnusedBones();
  for (const joints of ['all', 'used'] as const) {
    const boneTexture = BoneTexture.bake(root, clips, { joints });
    const crowd = SkinnedInstancedMesh.from(root, clips, 1, { boneTexture });
    const fresh = SkinnedInstancedMesh.from(root, clips, 1, { joints });
    expect(crowd.geometry.attributes.skinIndex.array).toEqual(fresh.geometry.attributes.skinIndex.array);
    boneTexture.dispose();
  }
});

test('joints of levels of detail are found among those that are left', () => {
  const { root, clips } = withUnusedBones();
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { joints: 'used' });
  const level = crowd.addLevel(withUnusedBones().root, 5);
  expect(level.geometry.attributes.skinIndex.array).toEqual(crowd.geometry.attributes.skinIndex.array);
});

test('less is stored and posed', () => {
  const { root, clips } = withUnusedBones();
  const count = (joints: 'all' | 'used') => {
    const { data } = BoneTexture.bake(root, clips, { joints, encoding: 'tracks' });
    return { joints: data.jointNames.length, nodes: data.tracks?.parents.length ?? 0 };
  };
  const [all, used] = [count('all'), count('used')];
  expect(used.joints).toBe(all.joints - 2);
  // What is between a joint and the root is still turned.
  expect(used.nodes).toBe(all.nodes - 1);
  expect(collectRig(root, { joints: 'used' }).rig.jointNames).not.toContain('Slot');
});
