import {
  AdditiveAnimationBlendMode,
  AnimationClip,
  InterpolateSmooth,
  type KeyframeTrack,
  Matrix4,
  NumberKeyframeTrack,
  QuaternionKeyframeTrack,
  Vector3,
  VectorKeyframeTrack,
} from 'three';
import { expect, test } from 'vitest';
import { LoopOnceOptions, SkinnedInstancedMesh } from '../support/library.js';
import { Reference } from '../support/reference.js';
import { createMorphingStick } from '../support/stick.js';

const ENCODINGS = ['tracks', 'matrix'] as const;

const vector = (values: number[], name = 'Tip.position') =>
  new VectorKeyframeTrack(name, [0, 1], values) as KeyframeTrack;

const number = (name: string, from: number, to: number) =>
  new NumberKeyframeTrack(name, [0, 1], [from, to]) as KeyframeTrack;

const turn = (from: number, to: number) => {
  const values = [from, to].flatMap((angle) => [0, 0, Math.sin(angle / 2), Math.cos(angle / 2)]);
  return new QuaternionKeyframeTrack('Tip.quaternion', [0, 1], values) as KeyframeTrack;
};

function smooth(track: KeyframeTrack): KeyframeTrack {
  track.setInterpolation(InterpolateSmooth);
  return track;
}

/** Farthest that a vertex of a crowd is from three.js's while a clip of these tracks plays. */
function farthest(encoding: (typeof ENCODINGS)[number], tracks: KeyframeTrack[], additive: boolean): number {
  const { root, mesh, bones } = createMorphingStick();
  bones[1].rotation.set(0.4, 0.2, -0.3);
  bones[1].scale.set(1, 2, 1.5);
  mesh.morphTargetInfluences = [0.25];
  const clip = new AnimationClip('Clip', 1, tracks);
  if (additive) clip.blendMode = AdditiveAnimationBlendMode;
  const crowd = SkinnedInstancedMesh.from(root, [clip], 1, { encoding, maxError: 1e-5 });
  crowd.updateMatrixWorld(true);
  const reference = new Reference(root, new Matrix4());
  const shown = new Vector3();
  let most = 0;
  for (const time of [0, 0.5, 1]) {
    crowd.play(0, 0, { ...LoopOnceOptions, time });
    reference.pose(clip, time).forEachVertex((vertex, position) => {
      most = Math.max(most, crowd.getVertexPositionAt(0, vertex, shown).distanceTo(position));
    });
  }
  return most;
}

const TRACKS: [name: string, tracks: () => KeyframeTrack[]][] = [
  ['positions', () => [vector([0, 0, 0, 1, 0, 0]), vector([0, 2, 0, 0, 2, 0]), vector([0, 0, 3, 5, 0, 3])]],
  ['positions that stand still', () => [vector([1, 0, 0, 1, 0, 0]), vector([3, 0, 0, 3, 0, 0])]],
  ['rotations', () => [turn(0, 1), turn(0.5, -1), turn(0.2, 0.3)]],
  ['scales', () => [vector([1, 1, 1, 2, 1, 1], 'Tip.scale'), vector([1, 3, 1, 1, 2, 1], 'Tip.scale')]],
  ['components', () => [number('Tip.position[y]', 0, 1), number('Tip.position[y]', 2, 5)]],
  ['angles', () => [number('Tip.rotation[x]', 0, 1), number('Tip.rotation[x]', 0.3, -0.5)]],
  [
    'influences',
    () => ['Long', 'Long'].map((of, i) => number(`StickMesh.morphTargetInfluences[${of}]`, i, 0.5)),
  ],
];

for (const encoding of ENCODINGS) {
  test.each(TRACKS)(`%s with one name are mixed as three.js does (${encoding})`, (_, tracks) => {
    expect(farthest(encoding, tracks(), false)).toBeLessThan(1e-4);
  });

  test.each(TRACKS)(`%s of additive clips with one name are added up (${encoding})`, (_, tracks) => {
    expect(farthest(encoding, tracks(), true)).toBeLessThan(1e-4);
  });

  test(`curves, components and angles of additive clips are added to the rest pose alone (${encoding})`, () => {
    for (const track of [
      smooth(vector([0, 0, 0, 1, 2, 3])),
      number('Tip.position[y]', 0, 2),
      number('Tip.scale[z]', 0, 2),
      number('Tip.rotation[y]', 0, 2),
      number('StickMesh.morphTargetInfluences[Long]', 0, 0.5),
    ])
      expect(farthest(encoding, [track], true)).toBeLessThan(1e-4);
  });
}
