import {
  AnimationClip,
  Euler,
  LoopOnce,
  LoopPingPong,
  Matrix4,
  Quaternion,
  QuaternionKeyframeTrack,
  Vector3,
  VectorKeyframeTrack,
} from 'three';
import { describe, expect, test } from 'vitest';
import {
  AnimationLayers,
  applyRootMotion,
  bakeCharacter,
  encodingOf,
  extractRootMotion,
  getSkinningMatrix,
  type RootMotionOptions,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { createStick } from '../../support/stick.js';

const KEYS = 41;

/** A clip in which the whole stick walks along a curve, bobbing and turning as it goes. */
function walk(name: string, duration: number, at: (share: number) => { position: Vector3; yaw: number }) {
  const times = Array.from({ length: KEYS }, (_, i) => (i / (KEYS - 1)) * duration);
  const places = times.map((time) => at(time / duration));
  return new AnimationClip(name, duration, [
    new VectorKeyframeTrack(
      'Base.position',
      times,
      places.flatMap(({ position }) => position.toArray()),
    ),
    new QuaternionKeyframeTrack(
      'Base.quaternion',
      times,
      places.flatMap(({ yaw }) => new Quaternion().setFromEuler(new Euler(0.2, yaw, 0.1, 'YXZ')).toArray()),
    ),
  ]);
}

function createWalker() {
  const stick = createStick();
  const clips = [
    walk('Straight', 2, (t) => ({ position: new Vector3(0.3, Math.sin(t * 12) * 0.1, 3 * t), yaw: 0 })),
    walk('Curve', 1, (t) => ({
      position: new Vector3(1 - Math.cos(t), 0.2, Math.sin(t)),
      yaw: t,
    })),
    walk('Spin', 1.5, (t) => ({ position: new Vector3(0, 0, 0), yaw: t * 4 * Math.PI })),
  ];
  return { ...stick, clips };
}

/** Moves a crowd on, with its instances. */
function advance(crowd: SkinnedInstancedMesh, delta: number, frames = 1): void {
  for (let i = 0; i < frames; i++) {
    crowd.update(delta);
    applyRootMotion(crowd, delta);
  }
}

/** How far an instance has come along z. */
function wayOf(crowd: SkinnedInstancedMesh, index: number): number {
  const matrix = new Matrix4();
  crowd.getMatrixAt(index, matrix);
  return matrix.elements[14];
}

describe.each(['frames', 'tracks'] as const)('root motion with encoding %s', (encoding) => {
  function createCrowd(count: number, motion: RootMotionOptions = {}, { root, clips } = createWalker()) {
    const options = { encoding: encodingOf(encoding), rootMotion: extractRootMotion(motion), fps: 40 };
    return new SkinnedInstancedMesh(bakeCharacter(root, clips, options), count);
  }

  test('in place the character stays over its spot, and keeps what is not motion over the ground', () => {
    const crowd = createCrowd(1);
    crowd.play(0, 'Straight');
    const bone = new Matrix4();
    let highest = -1;
    for (let i = 0; i < 80; i++) {
      crowd.update(1 / 40);
      const { elements } = getSkinningMatrix(crowd, 0, 'Base', bone);
      expect(elements[12]).toBeCloseTo(0.3, 5);
      expect(elements[14]).toBeCloseTo(0, 5);
      highest = Math.max(highest, elements[13]);
    }
    expect(highest).toBeCloseTo(0.1, 2);
    const before = crowd.instanceMatrix.version;
    applyRootMotion(crowd, 1 / 40);
    expect(crowd.instanceMatrix.version).toBe(before);
  });

  test.each([
    { delta: 1 / 60, timeScale: 1 },
    { delta: 0.31, timeScale: 2.5 },
    { delta: 7, timeScale: 1 },
  ])('loops add up, at $delta s a frame', ({ delta, timeScale }) => {
    const crowd = createCrowd(2, { yaw: true });
    crowd.play(0, 'Straight', { rootMotion: true, timeScale });
    crowd.play(1, 'Curve', { rootMotion: true, timeScale });
    const frames = Math.ceil(40 / delta);
    advance(crowd, delta, frames);
    expect(wayOf(crowd, 0)).toBeCloseTo(((frames * delta * timeScale) / 2) * 3, 2);
    // an arc of one radian and of radius one, again and again, leads around a circle
    const matrix = new Matrix4();
    crowd.getMatrixAt(1, matrix);
    const { x, z } = new Vector3().setFromMatrixPosition(matrix);
    expect(Math.hypot(x - 1, z)).toBeCloseTo(1, 1);
  });

  test('in reverse goes back, in a ping-pong there and back, and ends with the clip', () => {
    const crowd = createCrowd(4);
    crowd.play(0, 'Straight', { rootMotion: true, timeScale: -1, time: 2 });
    crowd.play(1, 'Straight', { rootMotion: true, loop: LoopPingPong });
    crowd.play(2, 'Straight', { rootMotion: true, loop: LoopOnce });
    crowd.play(3, 'Straight', { rootMotion: true, repetitions: 3 });
    const ways = () => [0, 1, 2, 3].map((i) => wayOf(crowd, i));
    advance(crowd, 0.1, 40);
    expect(ways().slice(0, 3)).toEqual([-6, 0, 3].map((z) => expect.closeTo(z, 3)));
    advance(crowd, 0.1, 60);
    expect(ways().slice(2)).toEqual([3, 9].map((z) => expect.closeTo(z, 3)));
  });

  test('begins where a listener has started a clip, or one is resumed', () => {
    const crowd = createCrowd(1).play(0, 'Straight', { rootMotion: true, loop: LoopOnce });
    crowd.addEventListener('finished', () => crowd.play(0, 'Straight', { rootMotion: true }));
    advance(crowd, 2.5);
    const before = wayOf(crowd, 0);
    expect(before).toBeLessThanOrEqual(3);
    advance(crowd, 1);
    expect(wayOf(crowd, 0) - before).toBeCloseTo(1.5, 3);
    // And where one is resumed that was paused in its first frame.
    const paused = createCrowd(1).play(0, 'Straight', { rootMotion: true }).pause(0).update(0.5).resume(0);
    applyRootMotion(paused, 0.5);
    expect(wayOf(paused, 0)).toBe(0);
  });

  test('fades from one speed to another', () => {
    const crowd = createCrowd(3);
    crowd.playAll('Straight', { rootMotion: true });
    advance(crowd, 1);
    expect(wayOf(crowd, 0)).toBeCloseTo(1.5, 4);
    // from 1.5 to 3 units a second, within a second; and to a standstill
    crowd.play(0, 'Straight', { rootMotion: true, timeScale: 2, fade: 1, restart: true });
    crowd.play(1, 'Spin', { fade: 1 });
    crowd.pause(2);
    advance(crowd, 0.01, 100);
    const ways = [1.5 + 2.25, 1.5 + 0.75, 1.5].map((z) => expect.closeTo(z, 3));
    expect([0, 1, 2].map((i) => wayOf(crowd, i))).toEqual(ways);
  });

  test('is taken from the joint, the clips and the axes that are asked for', () => {
    const walker = createWalker();
    const bake = (motion: RootMotionOptions) => createCrowd(1, motion, walker).boneTexture;
    const some = bake({ joint: 'Base', clips: ['Straight'], vertical: true, yaw: false });
    for (const { clips: baked } of [some, bake({ clips: [walker.clips[0]] })]) {
      expect(baked.map(({ rootMotion }) => rootMotion !== null)).toEqual([true, false, false]);
    }
    const { rootMotion, count } = some.clips[0];
    const quarter = Math.round((count - 1) / 4);
    expect(rootMotion?.[quarter * 4 + 1]).toBeCloseTo(Math.sin((quarter / (count - 1)) * 12) * 0.1, 2);
    expect(() => bake({ joint: 'Nose' })).toThrow(/rootMotion\.joint is "Nose".*"Base"/);
    expect(() => bake({ clips: ['Nope'] })).toThrow(/rootMotion\.clips names "Nope".*"Straight"/);
    const still = createStick({ A: 1 });
    still.clips[0].tracks[0].values.fill(1);
    expect(() => createCrowd(1, {}, still)).toThrow(/no clip changes the position of a joint/);
  });
});

test('clips of a layer move instances as far as the layer shows on the first joint', () => {
  const { root, clips } = createWalker();
  const layers = [
    { name: 'tip', mask: ['Tip'] },
    { name: 'whole', weight: 0.25 },
  ];
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips, { rootMotion: extractRootMotion() }), 4);
  new AnimationLayers(crowd, layers).setWeightAt(3, 'whole', 1);
  // It walks by 1.5 a second.
  for (const index of [0, 1, 3]) crowd.play(index, 'Straight', { rootMotion: true });
  crowd.play(0, 'Straight', { rootMotion: true, timeScale: 3, layer: 'tip' });
  crowd.play(1, 'Straight', { rootMotion: true, timeScale: 3, layer: 'whole' });
  crowd.play(2, 'Straight', { rootMotion: true, layer: 'whole', weight: 0.5 });
  // Weights that come to more than 1 are shares of what they come to.
  crowd.play(3, 'Straight', { rootMotion: true, layer: 'whole', weight: 0.8 });
  crowd.play(3, 'Spin', { layer: 'whole', weight: 0.7 });
  advance(crowd, 1 / 20, 30);
  const ways = [1.5, 0.75 * 1.5 + 0.25 * 4.5, 0.5 * 0.25 * 1.5, (0.8 / 1.5) * 1.5];
  expect([0, 1, 2, 3].map((i) => wayOf(crowd, i))).toEqual(ways.map((way) => expect.closeTo(1.5 * way, 4)));
});
