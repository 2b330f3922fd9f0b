import {
  AnimationClip,
  AnimationMixer,
  type KeyframeTrack,
  LoopRepeat,
  Matrix4,
  type Object3D,
  type SkinnedMesh,
  Vector3,
  VectorKeyframeTrack,
} from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { expect, test, vi } from 'vitest';
import { VertexTexture } from '../../lib/vertexTextures.js';
import { BoneTexture, SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

/** As FBXLoader makes them: Mixamo's files hold a take without curves beside the one with the move. */
const empty = () => new AnimationClip('Take 001', -1, []);

test.each(['tracks', 'quaternion', 'matrix'] as const)(
  '%s: clips without tracks are the rest pose',
  (encoding) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const { root, clips } = createStick();
    clips.unshift(empty());
    const crowd = SkinnedInstancedMesh.from(root, clips, 2, { encoding });
    expect(crowd.boneTexture.clips.map(({ name, duration }) => [name, duration])).toEqual([
      ['Take 001', 0],
      ['Slide', 1],
    ]);

    const clone = SkeletonUtils.clone(root) as Object3D;
    const mixer = new AnimationMixer(clone);
    const mesh = clone.getObjectByName('StickMesh') as SkinnedMesh;
    const slide = mixer.clipAction(clips[1]).setLoop(LoopRepeat, Infinity).play();
    crowd.setMatrixAt(0, new Matrix4()).setMatrixAt(1, new Matrix4());
    crowd.play(0, 'Slide');
    const check = (instance: number) => {
      clone.updateMatrixWorld(true);
      for (let vertex = 0; vertex < 3; vertex++) {
        const expected = mesh.getVertexPosition(vertex, new Vector3()).applyMatrix4(mesh.matrixWorld);
        expect(crowd.getVertexPositionAt(instance, vertex, new Vector3()).distanceTo(expected)).toBeLessThan(
          1e-5,
        );
      }
    };
    const step = (delta: number) => {
      crowd.update(delta);
      mixer.update(delta);
      check(0);
    };
    step(0.5);
    // Fading out into it: whoever has less than all of the weight is mixed with how it stood before.
    crowd.play(0, 'Take 001', { fade: 0.4 });
    mixer.clipAction(clips[0]).play().crossFadeFrom(slide, 0.4, false);
    if (encoding === 'tracks') for (const delta of [0.1, 0.2]) step(delta);
    else for (const delta of [0.1, 0.2]) [crowd, mixer].forEach((one) => one.update(delta));
    step(0.2);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  },
);

test('vertex textures hold them too', () => {
  const { root, clips } = createStick();
  const texture = VertexTexture.bake(root, [empty(), ...clips]);
  expect(texture.clips.map(({ name }) => name)).toEqual(['Take 001', 'Slide']);
});

test('those that have a duration keep it', () => {
  const pause = new AnimationClip('Pause', 2, []);
  const track = new VectorKeyframeTrack('Tip.position', [0, 1], [0, 0, 0, 1, 0, 0]) as KeyframeTrack;
  const texture = BoneTexture.bake(createStick().root, [pause, new AnimationClip('Slide', 1, [track])]);
  expect(texture.clips.map(({ duration }) => duration)).toEqual([2, 1]);
});
