import {
  AnimationClip,
  BoxGeometry,
  BufferAttribute,
  DataUtils,
  Float16BufferAttribute,
  type KeyframeTrack,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Vector3,
  VectorKeyframeTrack,
} from 'three';
import { expect, test, vi } from 'vitest';
import { BoneTexture, LoopOnceOptions, SkinnedInstancedMesh } from '../support/library.js';
import { Reference } from '../support/reference.js';
import { createMorphingStick, createStick, type Stick } from '../support/stick.js';

const vector = (times: number[], values: number[], name = 'Tip.position') =>
  new VectorKeyframeTrack(name, times, values) as KeyframeTrack;

/** Puts a box beside the stick, so that its parts have to be merged. */
function addHat({ bones }: Stick): Mesh {
  const hat = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
  hat.name = 'Hat';
  bones[1].add(hat);
  return hat;
}

/** Farthest that a vertex of a crowd is from three.js's, at some times of its clip. */
function farthest({ root, clips }: Stick, encoding: 'tracks' | 'matrix', times: number[]): number {
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { encoding });
  crowd.updateMatrixWorld(true);
  const reference = new Reference(root, new Matrix4());
  const shown = new Vector3();
  let most = 0;
  for (const time of times) {
    crowd.play(0, 0, { ...LoopOnceOptions, time });
    reference.pose(clips[0], time).forEachVertex((vertex, position) => {
      most = Math.max(most, crowd.getVertexPositionAt(0, vertex, shown).distanceTo(position));
    });
  }
  return most;
}

const BROKEN: [name: string, message: string, damage: (stick: Stick) => void][] = [
  [
    'a clip of years',
    'cannot hold clip "Bad" of 1000000000 s, which takes more than 4194304 keys',
    bad([0, 1, 2], 1e9),
  ],
  [
    'no track',
    'clip "Slide" holds null among its tracks',
    ({ clips }) => clips[0].tracks.push(null as never),
  ],
  [
    'a name without a property',
    'Cannot parse trackName: Tip',
    ({ clips }) => {
      clips[0].tracks[0].name = 'Tip';
    },
  ],
  [
    'a bind matrix that is missing',
    'the inverse bind matrix of bone "Tip" of SkinnedMesh "StickMesh" is not there',
    ({ mesh }) => mesh.skeleton.boneInverses.pop(),
  ],
  [
    'a bind matrix that projects',
    'of bone "Tip" of SkinnedMesh "StickMesh" ends in 0, 0, 0.5, 1',
    ({ mesh }) => mesh.skeleton.boneInverses[1].elements.splice(11, 1, 0.5),
  ],
  [
    'a bind matrix of NaN',
    'the matrix of joint "Tip" holds NaN in the rest pose',
    ({ mesh }) => mesh.skeleton.boneInverses[1].elements.fill(Number.NaN),
  ],
  [
    'a bone at NaN',
    'the matrix of joint "Tip" holds NaN',
    ({ bones }) => bones[1].position.set(0, 0, Number.NaN),
  ],
  [
    'no material',
    'SkinnedMesh "StickMesh" has no material',
    ({ mesh }) => Object.assign(mesh, { material: undefined }),
  ],
  [
    'weights of 0 in a character of several meshes',
    'the skin weights of vertex 2 of SkinnedMesh "StickMesh" are 0, 0, 0, 0',
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
  expect(() => SkinnedInstancedMesh.from(stick.root, stick.clips, 1, { encoding: 'tracks' })).toThrow(
    message,
  );
});

test('keys in disorder are warned of once, where they are those of a node and off by more than rounding', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const warningsOf = (name: string, times: number[]) => {
    warn.mockClear();
    const stick = createStick();
    bad(times)(stick);
    stick.clips[0].tracks[0].name = name;
    stick.clips[0].tracks.push(vector([0, 1, 0.25], [0, 0, 0, 1, 0, 0, 2, 0, 0], 'Camera.position'));
    for (const encoding of ['tracks', 'matrix'] as const)
      SkinnedInstancedMesh.from(stick.root, stick.clips, 1, { encoding });
    return warn.mock.calls.flat().filter((text) => text.includes('order of their times'));
  };
  expect(warningsOf('Tip.position', [0, 1.0000001, 1])).toEqual([]);
  expect(warningsOf('Light.position', [0, 1, 0.5])).toEqual([]);
  expect(warningsOf('Tip.position', [0, 1, 0.5])).toEqual([
    expect.stringContaining('keys 1 and 2 of track "Tip.position" of clip "Bad" are at 1 s and 0.5 s'),
  ]);
  warn.mockRestore();
});

test('an influence that is no number is named', () => {
  const { root, mesh, clips } = createMorphingStick();
  mesh.morphTargetInfluences = [Number.NaN];
  expect(() => BoneTexture.bake(root, clips)).toThrow('influence 0 of mesh "StickMesh" is NaN');
});

test.each([Number.NaN, Infinity])('a vertex at %d is warned of, and bounds are those of the others', (x) => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const [{ restBounds }, whole] = [x, 1].map((value) => {
    const { root, mesh } = createStick();
    mesh.geometry.setAttribute(
      'position',
      new BufferAttribute(new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, value, 0, 0]), 3),
    );
    for (const name of ['skinIndex', 'skinWeight'])
      mesh.geometry.setAttribute(
        name,
        new BufferAttribute(
          new Uint8Array(16).map((_, i) => (i % 4 ? 0 : 1)),
          4,
        ),
      );
    if (value === 1) mesh.geometry.setIndex([0, 1, 2]);
    return BoneTexture.bake(root, []).data;
  });
  expect(restBounds).toEqual(whole.restBounds);
  expect(warn.mock.calls.flat()).toEqual([
    expect.stringContaining(`vertex 3 of SkinnedMesh "StickMesh" is at ${x}, 0, 0`),
  ]);
  warn.mockRestore();
});

test('many vertices at NaN are one warning, of the first that is drawn', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const stick = createStick();
  const { geometry } = addHat(stick);
  geometry.setIndex([5, 1500, 1800]);
  geometry.setAttribute('position', new BufferAttribute(new Float32Array(6000).fill(Number.NaN), 3));
  BoneTexture.bake(stick.root, stick.clips);
  expect(warn.mock.calls.flat()).toEqual([expect.stringContaining('vertex 5 of Mesh "Hat" is at NaN, NaN')]);
  warn.mockRestore();
});

test('vertices outside of the draw range need no weights', () => {
  for (const index of [[0, 0, 0, 0, 1, 2], null]) {
    for (const merged of [false, true]) {
      const stick = createStick();
      const { geometry } = stick.mesh;
      geometry.setIndex(index);
      geometry.setDrawRange(0, index ? 3 : 2);
      geometry.getAttribute('skinWeight').setX(2, 0);
      if (merged) addHat(stick);
      const create = () => SkinnedInstancedMesh.from(stick.root, stick.clips, 1);
      create();
      geometry.setDrawRange(1, Infinity);
      expect(create).toThrow('the skin weights of vertex 2');
    }
  }
});

test('vertices that no triangle has need neither places nor weights', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  for (const merged of [false, true]) {
    const stick = createStick();
    const { geometry } = stick.mesh;
    const positions = new Float32Array(12);
    positions.set(geometry.getAttribute('position').array);
    positions[9] = Number.NaN;
    geometry.setAttribute('position', new BufferAttribute(positions, 3));
    geometry.setAttribute(
      'skinIndex',
      new BufferAttribute(
        new Uint16Array(16).map((_, i) => (i % 4 ? 0 : 1)),
        4,
      ),
    );
    geometry.setAttribute(
      'skinWeight',
      new BufferAttribute(
        new Float32Array(16).map((_, i) => (i % 4 || i > 11 ? 0 : 1)),
        4,
      ),
    );
    geometry.setIndex([0, 1, 2]);
    if (merged) addHat(stick);
    SkinnedInstancedMesh.from(stick.root, stick.clips, 1);
  }
  expect(warn).not.toHaveBeenCalled();
  warn.mockRestore();
});

test.each([
  ['zero', (inverses: Matrix4[]) => inverses[0].elements.fill(0)],
  ['no number', (inverses: Matrix4[]) => inverses[0].elements.fill(Number.NaN)],
  ['not there', (inverses: Matrix4[]) => delete inverses[0]],
])('bind matrices of bones that no vertex follows may be %s', (_, damage) => {
  for (const encoding of ['tracks', 'matrix'] as const) {
    const stick = createStick();
    damage(stick.mesh.skeleton.boneInverses);
    expect(farthest(stick, encoding, [0, 0.3, 1])).toBeLessThan(1e-6);
    // Attachments may follow such a bone.
    const crowd = SkinnedInstancedMesh.from(stick.root, stick.clips, 1, { encoding });
    expect(crowd.getSkinningMatrixAt(0, 'Base', new Matrix4()).equals(new Matrix4())).toBe(true);
  }
});

test('a root without size plays as others do', () => {
  const stick = createStick();
  stick.root.scale.set(0, 0, 0);
  expect(farthest(stick, 'tracks', [0, 0.5, 1])).toBeLessThan(1e-6);
});

test('linear tracks with two keys at one time do not glide to the second', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const stick = createStick();
  const steps = vector([0, 0.5, 0.5, 1], [0, 0, 0, 0, 0, 0, 3, 0, 0, 3, 0, 0]);
  stick.clips[0] = new AnimationClip('Steps', 1, [steps]);
  expect(farthest(stick, 'tracks', [0, 0.3, 0.49, 0.5, 0.7, 1])).toBeLessThan(1e-6);
  expect(BoneTexture.bake(stick.root, stick.clips, { encoding: 'tracks' }).clips[0].count).toBe(3);
  expect(warn).not.toHaveBeenCalled();

  const jump = vector([0, 0.5, 0.5, 1], [0, 0, 0, 1, 0, 0, 3, 0, 0, 4, 0, 0]);
  stick.clips[0] = new AnimationClip('Jump', 1, [jump]);
  expect(farthest(stick, 'tracks', [0, 0.3, 0.49, 0.5, 0.7, 1])).toBeLessThan(1e-4);
  warn.mockRestore();
});

test('half floats are read as what they stand for', () => {
  for (const merged of [false, true]) {
    const stick = createStick();
    const { geometry } = stick.mesh;
    const halves = Array.from(geometry.getAttribute('position').array, (value) =>
      DataUtils.toHalfFloat(value),
    );
    geometry.setAttribute('position', new Float16BufferAttribute(halves, 3));
    if (merged) addHat(stick);
    expect(farthest(stick, 'tracks', [0, 1])).toBeLessThan(1e-6);
    expect(
      BoneTexture.bake(stick.root, stick.clips).data.restBounds.every((value) => Math.abs(value) < 7),
    ).toBe(true);
  }
});

test('of a mesh that is merged, only what its draw range and groups have in common is drawn', () => {
  const drawn = (prepare: (hat: Mesh) => void) => {
    const stick = createStick();
    const hat = addHat(stick);
    prepare(hat);
    return SkinnedInstancedMesh.from(stick.root, stick.clips, 1).geometry.index?.count;
  };
  expect(drawn(() => {})).toBe(3 + 36);
  expect(drawn(({ geometry }) => geometry.setDrawRange(6, 12))).toBe(3 + 12);
  expect(drawn(({ geometry }) => geometry.setDrawRange(30, 12))).toBe(3 + 6);
  expect(
    drawn((hat) => {
      hat.material = [new MeshBasicMaterial(), new MeshBasicMaterial()];
      hat.geometry.clearGroups();
      hat.geometry.addGroup(-3, 9, 0);
      hat.geometry.addGroup(12, Infinity, 1);
      hat.geometry.setDrawRange(3, 12);
    }),
  ).toBe(3 + 3 + 3);
});
