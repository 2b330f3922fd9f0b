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

describe.each(['frames', 'tracks'] as const)('root motion with encoding %s', (encoding) => {
  test('in place the character stays over its spot, and keeps what is not motion over the ground', () => {
    const { root, clips } = createWalker();
    const crowd = new SkinnedInstancedMesh(
      bakeCharacter(root, clips, {
        encoding: encodingOf(encoding),
        rootMotion: extractRootMotion(),
        fps: 40,
      }),
      1,
    );
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
    const { root, clips } = createWalker();
    const crowd = new SkinnedInstancedMesh(
      bakeCharacter(root, clips, {
        encoding: encodingOf(encoding),
        rootMotion: extractRootMotion({ yaw: true }),
      }),
      2,
    );
    crowd.play(0, 'Straight', { rootMotion: true, timeScale });
    crowd.play(1, 'Curve', { rootMotion: true, timeScale });
    let elapsed = 0;
    while (elapsed < 40) {
      crowd.update(delta);
      applyRootMotion(crowd, delta);
      elapsed += delta;
    }
    const matrix = new Matrix4();
    const position = new Vector3();
    crowd.getMatrixAt(0, matrix);
    expect(position.setFromMatrixPosition(matrix).z).toBeCloseTo(((elapsed * timeScale) / 2) * 3, 2);
    // an arc of one radian and of radius one, again and again, leads around a circle
    crowd.getMatrixAt(1, matrix);
    position.setFromMatrixPosition(matrix);
    expect(Math.hypot(position.x - 1, position.z)).toBeCloseTo(1, 1);
  });

  test('in reverse goes back, in a ping-pong there and back, and ends with the clip', () => {
    const { root, clips } = createWalker();
    const crowd = new SkinnedInstancedMesh(
      bakeCharacter(root, clips, { encoding: encodingOf(encoding), rootMotion: extractRootMotion() }),
      4,
    );
    crowd.play(0, 'Straight', { rootMotion: true, timeScale: -1, time: 2 });
    crowd.play(1, 'Straight', { rootMotion: true, loop: LoopPingPong });
    crowd.play(2, 'Straight', { rootMotion: true, loop: LoopOnce });
    crowd.play(3, 'Straight', { rootMotion: true, repetitions: 3 });
    for (let i = 0; i < 40; i++) {
      crowd.update(0.1);
      applyRootMotion(crowd, 0.1);
    }
    const matrix = new Matrix4();
    const z = (index: number) => {
      crowd.getMatrixAt(index, matrix);
      return matrix.elements[14];
    };
    expect(z(0)).toBeCloseTo(-6, 3);
    expect(z(1)).toBeCloseTo(0, 3);
    expect(z(2)).toBeCloseTo(3, 3);
    for (let i = 0; i < 60; i++) {
      crowd.update(0.1);
      applyRootMotion(crowd, 0.1);
    }
    expect(z(3)).toBeCloseTo(9, 3);
    expect(z(2)).toBeCloseTo(3, 3);
  });

  test('fades from one speed to another', () => {
    const { root, clips } = createWalker();
    const crowd = new SkinnedInstancedMesh(
      bakeCharacter(root, clips, { encoding: encodingOf(encoding), rootMotion: extractRootMotion() }),
      3,
    );
    const matrix = new Matrix4();
    const z = (index = 0) => {
      crowd.getMatrixAt(index, matrix);
      return matrix.elements[14];
    };
    crowd.playAll('Straight', { rootMotion: true });
    crowd.update(1);
    applyRootMotion(crowd, 1);
    expect(z()).toBeCloseTo(1.5, 4);
    // from 1.5 to 3 units a second, within a second; and to a standstill
    crowd.play(0, 'Straight', { rootMotion: true, timeScale: 2, fade: 1 });
    crowd.play(1, 'Spin', { fade: 1 });
    crowd.pause(2);
    for (let i = 0; i < 100; i++) {
      crowd.update(0.01);
      applyRootMotion(crowd, 0.01);
    }
    expect(z(0)).toBeCloseTo(1.5 + 2.25, 3);
    expect(z(1)).toBeCloseTo(1.5 + 0.75, 3);
    expect(z(2)).toBeCloseTo(1.5, 4);
  });

  test('is taken from the joint, the clips and the axes that are asked for', () => {
    const { root, clips } = createWalker();
    const bake = (rootMotion: object) =>
      new SkinnedInstancedMesh(
        bakeCharacter(root, clips, {
          encoding: encodingOf(encoding),
          rootMotion: extractRootMotion(rootMotion),
        }),
        1,
      ).boneTexture;
    const some = bake({ joint: 'Base', clips: ['Straight'], vertical: true, yaw: false });
    for (const { clips: baked } of [some, bake({ clips: [clips[0]] })]) {
      expect(baked.map(({ rootMotion }) => rootMotion !== null)).toEqual([true, false, false]);
    }
    const { rootMotion, count } = some.clips[0];
    const quarter = Math.round((count - 1) / 4);
    expect(rootMotion?.[quarter * 4 + 1]).toBeCloseTo(Math.sin((quarter / (count - 1)) * 12) * 0.1, 2);
    expect(() => bake({ joint: 'Nose' })).toThrow(/rootMotion\.joint is "Nose".*"Base"/);
    expect(() => bake({ clips: ['Nope'] })).toThrow(/rootMotion\.clips names "Nope".*"Straight"/);
    const still = createStick({ A: 1 });
    still.clips[0].tracks[0].values.fill(1);
    expect(
      () =>
        new SkinnedInstancedMesh(
          bakeCharacter(still.root, still.clips, {
            encoding: encodingOf(encoding),
            rootMotion: extractRootMotion(),
          }),
          1,
        ),
    ).toThrow(/no clip changes the position of a joint/);
  });
});

test('clips of a layer move instances as far as the layer shows on the first joint', () => {
  const { root, clips } = createWalker();
  const layers = [
    { name: 'tip', mask: ['Tip'] },
    { name: 'whole', weight: 0.25 },
  ];
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips, { rootMotion: extractRootMotion() }), 3);
  new AnimationLayers(crowd, layers);
  const wayOf = (index: number) => {
    const matrix = new Matrix4();
    crowd.getMatrixAt(index, matrix);
    return matrix.elements[14];
  };
  // It walks by 1.5 a second.
  crowd.play({ start: 0, count: 2 }, 'Straight', { rootMotion: true });
  crowd.play(0, 'Straight', { rootMotion: true, timeScale: 3, layer: 'tip' });
  crowd.play(1, 'Straight', { rootMotion: true, timeScale: 3, layer: 'whole' });
  crowd.play(2, 'Straight', { rootMotion: true, layer: 'whole', weight: 0.5 });
  for (let i = 0; i < 30; i++) {
    crowd.update(1 / 20);
    applyRootMotion(crowd, 1 / 20);
  }
  expect(wayOf(0)).toBeCloseTo(1.5 * 1.5, 4);
  expect(wayOf(1)).toBeCloseTo(1.5 * (0.75 * 1.5 + 0.25 * 4.5), 4);
  expect(wayOf(2)).toBeCloseTo(1.5 * 0.5 * 0.25 * 1.5, 4);
});
