import { BoxGeometry, LoopOnce, LoopPingPong, MeshBasicMaterial } from 'three';
import { expect, test, vi } from 'vitest';
import {
  type BoneTexture,
  bakeBoneTexture,
  bakeCharacter,
  JointAttachment,
  SkinnedInstancedMesh,
  setBoneTexture,
} from '../../support/library.js';
import { createStick, REST_X, tipOf } from '../../support/stick.js';

const ALL = { Idle: 2, Slide: 1, Glide: 3 };

/** A crowd, and bone textures of the same character: the clips in another order, at other frames per second. */
function createCrowd(count: number) {
  const { root, clips } = createStick(ALL);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips, { fps: 30 }), count);
  const bake = (...names: (keyof typeof ALL)[]) => bakeBoneTexture(root, clips, { fps: 48, clips: names });
  return { crowd, root, clips, bake };
}

test('instances go on in the clips of the same names, as far into them and as fast', () => {
  const { crowd, bake } = createCrowd(5);
  crowd
    .play(0, 'Slide', { time: 0.25 })
    .play(1, 'Glide', { timeScale: -0.5, time: 2 })
    .play(2, 'Slide', { loop: LoopPingPong, repetitions: 3 })
    .play(3, 'Glide', { loop: LoopOnce, clampWhenFinished: true, time: 2.9 });
  crowd.update(1.125);
  const finished: number[] = [];
  crowd.addEventListener('finished', ({ instanceId }) => finished.push(instanceId));
  const shown = () => Array.from({ length: 5 }, (_, i) => tipOf(crowd, i));
  const before = shown();
  expect(before).toEqual([0.375, 1.4375, 0.875, 3, REST_X].map((x) => expect.closeTo(x, 4)));
  const scales = crowd.getTimeScaleAt(1);

  setBoneTexture(crowd, bake('Glide', 'Slide'));
  expect(shown()).toEqual(before.map((x) => expect.closeTo(x, 4)));
  expect([0, 1, 2, 3, 4].map((i) => crowd.getClipAt(i))).toEqual(['Slide', 'Glide', 'Slide', 'Glide', null]);
  expect(crowd.getTimeScaleAt(1)).toBeCloseTo(scales, 9);
  expect(crowd.isPlayingAt(3)).toBe(false);
  crowd.update(1);
  expect(shown().slice(0, 4)).toEqual([0.375, 0.9375, 0.125, 3].map((x) => expect.closeTo(x, 4)));
  expect(finished, 'that the one had finished is no news').toEqual([]);
  crowd.update(1);
  expect(finished).toEqual([2]);
});

test('a clip that is not there gives way to the rest pose, and is named', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { crowd, bake } = createCrowd(3);
  crowd
    .play(0, 'Idle')
    .play(1, 'Slide', { time: 0.5 })
    .play(2, 'Idle')
    .play(2, 'Slide', { fade: 1 })
    .update(0.25);
  setBoneTexture(crowd, bake('Slide'));
  expect(crowd.getClipAt(0)).toBe(null);
  expect(tipOf(crowd, 0)).toBeCloseTo(REST_X, 5);
  expect(tipOf(crowd, 1)).toBeCloseTo(0.75, 4);
  expect(tipOf(crowd, 2)).toBeCloseTo(0.75 * REST_X + 0.25 * 0.25, 4);
  expect(warn.mock.calls).toEqual([
    [
      'SkinnedInstancedMesh: the new bone texture has no "Idle"; instances that played it stand in the rest pose.',
    ],
  ]);
});

test('what cannot take its place is refused, and nothing changes', () => {
  const { crowd, bake } = createCrowd(1);
  const { root, clips } = createStick(ALL);
  const before = crowd.boneTexture;
  const assign = (value: BoneTexture) => () => setBoneTexture(crowd, value);
  root.getObjectByName('Tip')?.traverse((node) => (node.name = 'Point'));
  for (const clip of clips) for (const track of clip.tracks) track.name = track.name.replace('Tip', 'Point');
  expect(assign(bakeBoneTexture(root, clips))).toThrow(
    'The bone texture was baked for another skeleton: its joint 1 is "Point", and the geometry\'s is "Tip"',
  );
  const { root: plain, clips: same } = createStick(ALL);
  const socketed = new SkinnedInstancedMesh(bakeCharacter(plain, same, { sockets: ['StickMesh'] }), 1);
  new JointAttachment(socketed, 'StickMesh', new BoxGeometry(), new MeshBasicMaterial());
  expect(() => setBoneTexture(socketed, bake('Slide'))).toThrow('no joint "StickMesh"; there are');
  expect(crowd.boneTexture).toBe(before);
});
