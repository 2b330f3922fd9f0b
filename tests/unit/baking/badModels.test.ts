import {
  AnimationClip,
  BoxGeometry,
  BufferGeometry,
  Float32BufferAttribute,
  Group,
  InterpolateSmooth,
  type KeyframeTrack,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  NumberKeyframeTrack,
  QuaternionKeyframeTrack,
  Raycaster,
  Uint16BufferAttribute,
  Vector3,
  VectorKeyframeTrack,
} from 'three';
import { describe, expect, test } from 'vitest';
import { cubicSpline } from '../../support/cubicSpline.js';
import {
  bakeBoneTexture,
  bakeCharacter,
  getSkinningMatrix,
  getVertexPosition,
  LoopOnceOptions,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { offFrom, Reference } from '../../support/reference.js';
import { createStick, type Stick } from '../../support/stick.js';

const vector = (times: number[], values: number[], name = 'Tip.position') =>
  new VectorKeyframeTrack(name, times, values);

/** Puts a box beside the stick, so that its parts have to be merged. */
function addHat({ bones }: Stick): Mesh {
  const hat = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
  hat.name = 'Hat';
  bones[1].add(hat);
  return hat;
}

const BROKEN: [name: string, message: string, damage: (stick: Stick) => void][] = [
  [
    'a clip of years',
    'cannot hold clip "Bad" of 1000000000 s, which takes more than 4194304 keys',
    bad([0, 1, 2], 1e9),
  ],
  [
    'a clip of years whose keys are on no frames',
    'cannot hold clip "Bad" of 1000000000 s, which takes more than 4194304 keys',
    bad([0, 0.7123, 2], 1e9),
  ],
  [
    'no track',
    'Track "undefined" of clip "Slide" has no keys',
    ({ clips }) => clips[0].tracks.push(null as never),
  ],
  [
    'a name without a property',
    'Cannot parse trackName: Tip',
    ({ clips }) => (clips[0].tracks[0].name = 'Tip'),
  ],
  [
    'a bind matrix that is missing',
    'The inverse bind matrix of bone "Tip" of SkinnedMesh "StickMesh" is not there',
    ({ mesh }) => mesh.skeleton.boneInverses.pop(),
  ],
  [
    'a bind matrix that projects',
    'of bone "Tip" of SkinnedMesh "StickMesh" ends in 0, 0, 0.5, 1',
    ({ mesh }) => mesh.skeleton.boneInverses[1].elements.splice(11, 1, 0.5),
  ],
  [
    'a bind matrix of NaN',
    'The matrix of joint "Tip" holds NaN in the rest pose',
    ({ mesh }) => mesh.skeleton.boneInverses[1].elements.fill(Number.NaN),
  ],
  [
    'a bone at NaN',
    'The matrix of joint "Tip" holds NaN',
    ({ bones }) => bones[1].position.set(0, 0, Number.NaN),
  ],
  [
    'no material',
    'SkinnedMesh "StickMesh" has no material',
    ({ mesh }) => Object.assign(mesh, { material: undefined }),
  ],
  [
    'weights of 0',
    'The skin weights of vertex 2 of SkinnedMesh "StickMesh" are 0, 0, 0, 0',
    ({ mesh }) => mesh.geometry.getAttribute('skinWeight').setX(2, 0),
  ],
  [
    'weights of 0 in a character of several meshes',
    'The skin weights of vertex 2 of SkinnedMesh "StickMesh" are 0, 0, 0, 0',
    (stick) => {
      addHat(stick);
      stick.mesh.geometry.getAttribute('skinWeight').setX(2, 0);
    },
  ],
];

function bad(times: number[], duration = 1) {
  return ({ clips }: Stick) => {
    clips.splice(0, 1, new AnimationClip('Bad', duration, [vector(times, [0, 0, 0, 1, 0, 0, 2, 0, 0])]));
  };
}

test.each(BROKEN)('%s: an error that names it', (_, message, damage) => {
  const stick = createStick();
  damage(stick);
  expect(() => new SkinnedInstancedMesh(bakeCharacter(stick.root, stick.clips), 1)).toThrow(message);
});

describe('baking bad tracks', () => {
  const bake = (track: KeyframeTrack) => () =>
    bakeBoneTexture(createStick().root, [new AnimationClip('Bad', 1, [track])]);

  test('a quaternion track without four values a key is named, and does not hang', () => {
    const track = (name: string, values: number) =>
      new QuaternionKeyframeTrack(name, [0, 1], new Array(values).fill(0.5));
    expect(bake(track('Tip.quaternion', 6))).toThrow(
      'Track "Tip.quaternion" of clip "Bad" has 6 values for 2 keys',
    );
    expect(bake(track('Tip.scale', 6))).toThrow('for 2 keys');
    expect(bake(track('Tip.quaternion', 7))).toThrow('for 2 keys');
    expect(bake(track('Tip.quaternion', 16))).toThrow('has 8 values per key, but quaternion takes 4');
  });

  test('values that are no whole number of keys, or another number than what they move', () => {
    expect(bake(vector([0, 0.5, 1], [0, 0, 0, 1, 0, 0, 1]))).toThrow(
      'Track "Tip.position" of clip "Bad" has 7 values for 3 keys',
    );
    expect(bake(vector([0, 1], [0, 0, 1, 0]))).toThrow('has 2 values per key, but position takes 3');
    expect(bake(vector([0, 1], new Array(8).fill(0)))).toThrow('has 4 values per key, but position takes 3');
    const one = new NumberKeyframeTrack('Tip.position[x]', [0, 1], [1, 2, 3, 4]);
    expect(bake(one)).toThrow('has 2 values per key, but one number of position takes 1');
  });

  test('two keys at one time: of a smooth track they are named, of others they are a jump', async () => {
    const times = [0, 0.5, 0.5, 1];
    const values = [0, 0, 0, 1, 0, 0, 3, 0, 0, 4, 0, 0];
    const smooth = vector(times, values);
    smooth.setInterpolation(InterpolateSmooth);
    expect(bake(smooth)).toThrow('Track "Tip.position" of clip "Bad" has keys 1 and 2 both at 0.5 s');

    const cubic = await cubicSpline();
    const splined = vector(
      times,
      [0, 3, 6, 9].flatMap((key) => [0, 0, 0, ...values.slice(key, key + 3), 0, 0, 0]),
    );
    for (const track of [vector(times, values), cubic(splined)]) {
      const crowd = new SkinnedInstancedMesh(
        bakeCharacter(createStick().root, [new AnimationClip('Jump', 1, [track])], { fps: 8 }),
        1,
      );
      const xs = [0.375, 0.5].map((time) => {
        crowd.play(0, 'Jump', { time });
        return getSkinningMatrix(crowd, 0, 'Tip', new Matrix4()).elements[12] - 5;
      });
      expect(xs[0]).toBeLessThan(1.01);
      expect(xs[1]).toBeCloseTo(3, 5);
      crowd.computeBoundingSphere();
      expect(crowd.boundingSphere?.radius).toBeGreaterThan(0);
    }
  });
});

test('a vertex that follows a bone its skeleton has not got is named', () => {
  for (const index of [2, 65535]) {
    const { root, bones, mesh, clips } = createStick();
    // The joint of the box would be the third of the bone texture.
    bones[1].add(new Mesh(new BoxGeometry(), new MeshBasicMaterial()));
    mesh.geometry.getAttribute('skinIndex').setX(2, index);
    const message = `Vertex 2 of SkinnedMesh "StickMesh" follows joint ${index}, but there are 2; mend skinIndex`;
    expect(() => bakeBoneTexture(root, clips)).toThrow(message);
    expect(() => new SkinnedInstancedMesh(bakeCharacter(root, clips), 1)).toThrow(message);
  }
});

test.each([false, true])('a joint that is not there is harmless without weight (merged: %s)', (merged) => {
  const { root, bones, mesh, clips } = createStick();
  if (merged) bones[0].add(new Mesh(new BoxGeometry(), new MeshBasicMaterial()));
  const { geometry } = mesh;
  const indices = [1, 9, 65535, 7, 0, 9, 0, 0, 1, 2, 3, 4];
  geometry.setAttribute('skinIndex', new Uint16BufferAttribute(indices, 4));
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
  crowd.play(0, 'Slide', { time: 0.5 });
  const at = (vertex: number) => getVertexPosition(crowd, 0, vertex, new Vector3());
  expect(at(0).x).toBeCloseTo(5.5, 5);
  expect(at(1).x).toBeCloseTo(1, 5);
  crowd.computeBoundingSphere();
  expect(crowd.boundingSphere?.radius).toBeLessThan(20);
  const ray = new Raycaster(new Vector3(5.5, 0.1, 5), new Vector3(0, 0, -1));
  expect(() => ray.intersectObject(crowd)).not.toThrow();
});

test('without clips there is a crowd in its rest pose', () => {
  const { root } = createStick();
  const boneTexture = bakeBoneTexture(root, []);
  expect(boneTexture.clips).toEqual([]);
  expect(boneTexture.frameCount).toBe(1);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, []), 3);
  crowd.update(1);
  const shown = new Vector3();
  expect(getVertexPosition(crowd, 2, 1, shown).toArray()).toEqual([1, 0, 0]);
  expect(getSkinningMatrix(crowd, 0, 'Tip', new Matrix4()).equals(new Matrix4())).toBe(true);
  crowd.computeBoundingBox();
  expect(crowd.boundingBox?.max.toArray()).toEqual([1, 1, 0]);
  const hits = new Raycaster(new Vector3(0.2, 0.2, 5), new Vector3(0, 0, -1)).intersectObject(crowd);
  expect(hits).toHaveLength(3);
  expect(() => crowd.play(0, 'Walk')).toThrow('There is no clip "Walk"; there are none.');
  expect(() => crowd.play(0, 0)).toThrow('There is no clip 0; there are none');
  crowd.dispose();
});

test("a mesh that only its morph targets move, as three.js's Parrot, also as the root itself", () => {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new Float32BufferAttribute([0, 0, 0, 1, 0, 0, 0, 1, 0], 3));
  geometry.morphAttributes.position = [1, 2].map(
    (i) => new Float32BufferAttribute([0, i, 0, 0, 0, i, i, 0, 0], 3),
  );
  geometry.morphTargetsRelative = true;
  const parrot = new Mesh(geometry, new MeshBasicMaterial());
  parrot.name = 'Parrot';
  parrot.updateMorphTargets();
  const root = new Group().add(parrot);
  const track = new NumberKeyframeTrack('Parrot.morphTargetInfluences', [0, 0.5, 1], [0, 0, 1, 0, 0, 1]);
  const clip = new AnimationClip('Fly', 1, [track]);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, [clip], { fps: 8 }), 2);
  const matrix = new Matrix4().makeTranslation(3, 2, 1);
  crowd.setMatrixAt(1, matrix);
  for (const time of [0, 0.25, 0.5, 1]) {
    crowd.play(1, 0, { ...LoopOnceOptions, time });
    expect(offFrom(new Reference(root, matrix).pose(clip, time).root, crowd, 1)).toBeLessThan(1e-5);
  }

  const itself = new SkinnedInstancedMesh(bakeCharacter(parrot, [clip]), 1);
  itself.play(0, 'Fly', { time: 0.5 });
  expect(getVertexPosition(itself, 0, 0, new Vector3()).y).toBeCloseTo(1, 5);
});
