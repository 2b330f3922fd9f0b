import {
  AdditiveAnimationBlendMode,
  AnimationClip,
  AnimationMixer,
  type KeyframeTrack,
  Matrix4,
  NumberKeyframeTrack,
  QuaternionKeyframeTrack,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';
import { SkinnedInstancedMesh } from '../support/library.js';
import { createStick, type Stick } from '../support/stick.js';

const angle = (axis: string, times: number[], values: number[]) =>
  new NumberKeyframeTrack(`Base.rotation[${axis}]`, times, values) as KeyframeTrack;

/** Where the tip of the stick is at times of a clip, by three.js and by a crowd, farthest apart. */
function farthest(prepare: (stick: Stick) => void, tracks: () => KeyframeTrack[], additive = false): number {
  const clip = new AnimationClip('Turn', 1, tracks());
  if (additive) clip.blendMode = AdditiveAnimationBlendMode;
  const ours = createStick();
  prepare(ours);
  const crowd = SkinnedInstancedMesh.from(ours.root, [clip], 1, { fps: 20 });
  const theirs = createStick();
  prepare(theirs);
  const mixer = new AnimationMixer(theirs.root);
  mixer.clipAction(clip).play();
  let most = 0;
  for (let frame = 0; frame < 20; frame++) {
    const time = frame / 20;
    mixer.setTime(time);
    theirs.root.updateMatrixWorld(true);
    crowd.play(0, 0, { time });
    const expected = new Vector3().setFromMatrixPosition(theirs.bones[1].matrixWorld);
    const shown = new Vector3(-5, 0, 0).applyMatrix4(crowd.getSkinningMatrixAt(0, 'Tip', new Matrix4()));
    most = Math.max(most, shown.distanceTo(expected));
  }
  return most;
}

test.each(['x', 'y', 'z'])('a track of rotation[%s] turns all the way around', (axis) => {
  const about = (stick: Stick) => stick.bones[0].rotation.set(0.3, -0.2, 0.4);
  expect(farthest(about, () => [angle(axis, [0, 1], [0, 2 * Math.PI])])).toBeLessThan(1e-5);
});

test('the angles that no track moves stay as they were found', () => {
  const past = (stick: Stick) => stick.bones[0].rotation.set(2.5, 2, -3, 'ZYX');
  expect(farthest(past, () => [angle('y', [0, 1], [2, 9]), angle('z', [0, 1], [1, -6])])).toBeLessThan(1e-5);
});

test('additive tracks of one angle are added to it', () => {
  const past = (stick: Stick) => stick.bones[0].rotation.set(0.5, 2, -3);
  expect(farthest(past, () => [angle('y', [0, 1], [0, 9])], true)).toBeLessThan(1e-5);
});

test('a track of one angle goes on from what a track of the quaternion has set before', () => {
  const quaternions = [0, 0.6, 0, 0.8, 0.6, 0, 0, 0.8];
  for (const values of [quaternions, [...quaternions.slice(0, 4), ...quaternions.slice(0, 4)]]) {
    const turn = () => new QuaternionKeyframeTrack('Base.quaternion', [0, 1], values) as KeyframeTrack;
    expect(
      farthest(
        () => {},
        () => [turn(), angle('z', [0, 1], [0.1, 1.2])],
      ),
    ).toBeLessThan(1e-5);
  }
});

test('a track of a component that a property does not have moves nothing', () => {
  const tracks = ['Base.position[w]', 'Base.position[0]', 'Base.rotation[w]'].map(
    (name) => new NumberKeyframeTrack(name, [0, 1], [1, 2]) as KeyframeTrack,
  );
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(
    root,
    [new AnimationClip('None', 1, [...clips[0].tracks, ...tracks])],
    1,
  );
  crowd.play(0, 'None', { time: 0.5 });
  expect(crowd.getSkinningMatrixAt(0, 'Base', new Matrix4()).equals(new Matrix4())).toBe(true);
});
