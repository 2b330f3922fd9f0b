import {
  AdditiveAnimationBlendMode,
  AnimationClip,
  AnimationMixer,
  BackSide,
  Bone,
  type BufferGeometry,
  DoubleSide,
  Float32BufferAttribute,
  FrontSide,
  Group,
  Int16BufferAttribute,
  type KeyframeTrack,
  LoopOnce,
  type Material,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  NumberKeyframeTrack,
  type Object3D,
  Quaternion,
  QuaternionKeyframeTrack,
  Raycaster,
  type Side,
  Skeleton,
  SkinnedMesh,
  SphereGeometry,
  Uint16BufferAttribute,
  Vector3,
  VectorKeyframeTrack,
} from 'three';
import { BVHLoader } from 'three/addons/loaders/BVHLoader.js';
import { retargetClip } from 'three/addons/utils/SkeletonUtils.js';
import { describe, expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { addLevel } from '../../support/levels.js';
import {
  assembleCharacter,
  bakeBoneTexture,
  bakeCharacter,
  createLevel,
  ENCODINGS,
  encodingOf,
  frames,
  getVertexPosition,
  LoopOnceOptions,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { random } from '../../support/random.js';
import { offFrom, Reference } from '../../support/reference.js';
import { createMorphingStick, createStick, type Stick } from '../../support/stick.js';

const move = (name: string, values: number[]) =>
  new VectorKeyframeTrack(
    name,
    Array.from({ length: values.length / 3 }, (_, i) => i),
    values,
  );

/** A stick whose triangle is closed by a fourth vertex, so that a ray meets its front wherever it comes from. */
function createSolid(): Stick {
  const stick = createStick();
  const { geometry } = stick.mesh;
  geometry.setAttribute('position', new Float32BufferAttribute([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1], 3));
  geometry.setAttribute(
    'skinIndex',
    new Uint16BufferAttribute([1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], 4),
  );
  geometry.setAttribute(
    'skinWeight',
    new Float32BufferAttribute([0.6, 0.4, 0, 0, 1, 0, 0, 0, 0.5, 0.5, 0, 0, 1, 0, 0, 0], 4),
  );
  geometry.deleteAttribute('normal');
  geometry.deleteAttribute('uv');
  geometry.setIndex([0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]);
  return stick;
}

/** A crowd of one, and three.js's own, at a time of a clip. */
function pairAt(root: Object3D, clips: AnimationClip[], time: number) {
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips, { encoding: frames, fps: 10 }), 1);
  crowd.play(0, 0, { ...LoopOnceOptions, time });
  crowd.updateMatrixWorld(true);
  return { crowd, reference: new Reference(root).pose(clips[0], time) };
}

/** Of the vertices that the parts have at first: mirrored copies come behind them. */
const farthest = ({ crowd, reference }: ReturnType<typeof pairAt>) => offFrom(reference.root, crowd);

test('a skin that a clip scales to nothing is gone on that frame and whole before and after', () => {
  const { root, mesh, clips } = createStick({ Slide: 2 });
  mesh.position.set(0.5, 0.25, 0);
  root.updateMatrixWorld(true);
  mesh.bind(mesh.skeleton, new Matrix4());
  clips[0].tracks.push(move('StickMesh.scale', [1, 1, 1, 0, 0, 0, 1, 1, 1]));
  for (const time of [0, 0.9, 1.1, 2])
    expect(farthest(pairAt(root, clips, time)), `${time} s`).toBeLessThan(1e-5);
  const { crowd } = pairAt(root, clips, 1);
  for (let vertex = 0; vertex < 3; vertex++) {
    const shown = getVertexPosition(crowd, 0, vertex, new Vector3());
    // where three.js's shader puts all of it, too: the mesh's origin
    expect(shown.distanceTo(new Vector3(0.5, 0.25, 0))).toBeLessThan(1e-5);
  }
});

/** Where rays from all around hit the front of either, as text. */
function expectSameHits(root: Group, clips: AnimationClip[], time: number, seed: number): number {
  const { crowd, reference } = pairAt(root, clips, time);
  const next = random(seed);
  const vector = () => new Vector3(next() - 0.5, next() - 0.5, next() - 0.5);
  let hits = 0;
  for (let i = 0; i < 60; i++) {
    const target = vector().multiplyScalar(2);
    const from = vector().normalize().multiplyScalar(20).add(target);
    const ray = new Raycaster(from, target.sub(from).normalize());
    const theirs = ray.intersectObject(reference.root, true);
    const ours = ray.intersectObject(crowd);
    expect(ours.map(({ distance }) => distance.toFixed(3))).toEqual(
      theirs.map(({ distance }) => distance.toFixed(3)),
    );
    hits += ours.length;
  }
  return hits;
}

describe.each([
  ['front', FrontSide],
  ['back', BackSide],
  ['double', DoubleSide],
] as [string, Side][])('rays meet the %s side that three.js shows of', (_, side) => {
  const give = (root: Object3D) =>
    root.traverse((node) => {
      const { material } = node as Mesh;
      if (material) (material as Material).side = side;
    });

  test.each([
    ['that a clip mirrors', 1, 'Ball', [1, 1, 1, 1, -1, 1, -1, -1.2, 1]],
    ['under what a clip mirrors, mirrored at rest itself', -1, 'Base', [1, 1, 1, -1, 1, 1]],
  ])('a rigid mesh %s', (_, x, scaled, scales) => {
    const { root, bones, clips } = createStick({ Slide: 2 });
    const ball = new Mesh(new SphereGeometry(0.8, 7, 6), new MeshBasicMaterial());
    ball.name = 'Ball';
    ball.position.set(0.1, 0.2, 0.3);
    ball.scale.x = x;
    bones[0].add(ball);
    give(root);
    clips[0].tracks.push(move(`${scaled}.scale`, scales));
    for (const time of [0, 1, 2]) expect(expectSameHits(root, clips, time, 5)).toBeGreaterThan(10);
  });

  test('a whole character that a clip mirrors', () => {
    const { root, mesh, bones, clips } = createSolid();
    const group = root.clone(false);
    group.name = 'All';
    group.add(bones[0], mesh);
    root.add(group);
    root.updateMatrixWorld(true);
    mesh.bind(mesh.skeleton);
    give(root);
    clips[0].tracks.push(move('All.scale', [1, 1, 1, -1, 1, 1]));
    for (const time of [0, 1]) expect(expectSameHits(root, clips, time, 7)).toBeGreaterThan(3);
  });
});

describe('baking repeated tracks', () => {
  const vector = (values: number[], name = 'Tip.position') => new VectorKeyframeTrack(name, [0, 1], values);

  const number = (name: string, from: number, to: number) =>
    new NumberKeyframeTrack(name, [0, 1], [from, to]);

  const turn = (from: number, to: number) => {
    const values = [from, to].flatMap((angle) => [0, 0, Math.sin(angle / 2), Math.cos(angle / 2)]);
    return new QuaternionKeyframeTrack('Tip.quaternion', [0, 1], values);
  };

  /** Farthest that a vertex of a crowd is from three.js's while a clip of these tracks plays. */
  function farthest(
    encoding: (typeof ENCODINGS)[number],
    tracks: KeyframeTrack[],
    additive: boolean,
  ): number {
    const { root, mesh, bones } = createMorphingStick();
    bones[1].rotation.set(0.4, 0.2, -0.3);
    bones[1].scale.set(1, 2, 1.5);
    mesh.morphTargetInfluences = [0.25];
    const clip = new AnimationClip('Clip', 1, tracks);
    if (additive) clip.blendMode = AdditiveAnimationBlendMode;
    const character = bakeCharacter(root, [clip], { encoding: encodingOf(encoding), maxError: 1e-5 });
    const crowd = new SkinnedInstancedMesh(character, 1);
    crowd.updateMatrixWorld(true);
    const reference = new Reference(root, new Matrix4());
    const offs = [0, 0.5, 1].map((time) => {
      crowd.play(0, 0, { ...LoopOnceOptions, time });
      return offFrom(reference.pose(clip, time).root, crowd);
    });
    return Math.max(...offs);
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
  }
});

/** A bone as FBXLoader makes it for two meshes that follow it: one for each, of one name, the first inside the second. */
function createBones(name: string, parent: Object3D, x: number): [inner: Bone, outer: Bone] {
  const [inner, outer] = [new Bone(), new Bone()];
  inner.name = outer.name = name;
  outer.position.set(x, 0, 0);
  parent.add(outer.add(inner));
  return [inner, outer];
}

/** Two meshes on such bones, and clips. */
function createTwice(root: Object3D = new Group()) {
  const { geometry } = createStick().mesh;
  const base = createBones('Base', root, 0);
  const tip = createBones('Tip', base[1], -5);
  const meshes = [0, 1].map((i) => {
    const isRoot = i === 0 && (root as SkinnedMesh).isSkinnedMesh;
    const mesh = isRoot ? (root as SkinnedMesh) : new SkinnedMesh(geometry.clone(), new MeshBasicMaterial());
    mesh.name = `Mesh${i}`;
    if (mesh !== root) root.add(mesh);
    root.updateMatrixWorld(true);
    mesh.bind(new Skeleton([base[i], tip[i]]));
    return mesh;
  });
  const track = (name: string, y: number) =>
    new VectorKeyframeTrack(`${name}.position`, [0, 1], [0, y, 0, 1, y, 2]);
  const move = new AnimationClip('Move', 1, [track('Tip', 2), track('Base', 0)]);
  /** Moves the bones of the two meshes apart. */
  const part = new AnimationClip('Move', 1, [track('Tip', 2), track(tip[0].uuid, -3)]);
  return { root, meshes, move, part };
}

/** Of the scene itself, not of a copy: tracks name bones by their uuid. */
function expectAsThree(
  root: Object3D,
  clip: AnimationClip,
  crowd: SkinnedInstancedMesh,
  times = [0, 0.3, 1],
): void {
  crowd.updateMatrixWorld(true);
  const mixer = new AnimationMixer(root);
  mixer.clipAction(clip).setLoop(LoopOnce, 1).play().clampWhenFinished = true;
  for (const time of times) {
    crowd.play(0, 'Move', { ...LoopOnceOptions, time });
    mixer.setTime(time);
    root.updateMatrixWorld(true);
    expect(offFrom(root, crowd)).toBeLessThan(1e-6);
  }
  mixer.stopAllAction();
}

const joints = ({ geometry }: { geometry: BufferGeometry }) => {
  const { skinIndex, skinWeight } = geometry.attributes;
  return Array.from({ length: skinIndex.count }, (_, i) => [skinIndex.getX(i), skinWeight.getX(i)]);
};

test.each(ENCODINGS)('meshes follow their own bones of those FBXLoader makes for each (%s)', (encoding) => {
  for (const sockets of [[], ['Tip'], ['Base', 'Tip']]) {
    for (const used of ['all', 'used'] as const) {
      const { root, move, part } = createTwice();
      for (const clip of [move, part]) {
        const boneTexture = bakeBoneTexture(root, [clip], {
          encoding: encodingOf(encoding),
          joints: used,
          sockets,
        });
        // One for each, unless a clip moves that of one mesh alone.
        if (sockets.length === 0 && used === 'all')
          expect(boneTexture.jointNames).toHaveLength(clip === move ? 2 : 4);
        const crowd = new SkinnedInstancedMesh(assembleCharacter(root, boneTexture), 1);
        expectAsThree(root, clip, crowd);
        expect(joints(addLevel(crowd, createLevel(crowd, root), 10))).toEqual(joints(crowd));
      }
    }
  }
});

test.each(ENCODINGS)('bones that GLTFLoader numbers are as many joints, and fit others (%s)', (encoding) => {
  const all = [createTwice(), createTwice()];
  // In a file of their own they would not have the same names.
  for (const bone of all[1].meshes[0].skeleton.bones) bone.name += '_1';
  for (const [i, { root, move, part }] of all.entries()) {
    const moved = i === 0 ? part : new AnimationClip('Move', 1, [...move.tracks, part.tracks[1]]);
    for (const clip of [move, moved]) {
      const boneTexture = bakeBoneTexture(root, [clip], { encoding: encodingOf(encoding) });
      expect(boneTexture.jointNames).toHaveLength(clip === move ? 2 : 4);
      expectAsThree(root, clip, new SkinnedInstancedMesh(assembleCharacter(root, boneTexture), 1));
      const other = new SkinnedInstancedMesh(assembleCharacter(all[1 - i].root, boneTexture), 1);
      expect(other.boneTexture).toBe(boneTexture);
    }
  }
  // Two bones of one skin, of which neither is there for another mesh.
  const { root, meshes, move } = createTwice();
  const [mesh] = meshes;
  mesh.skeleton.bones[0].name = 'Base_1';
  mesh.bind(new Skeleton([...mesh.skeleton.bones, ...meshes[1].skeleton.bones]));
  expect(bakeBoneTexture(root, [move], { encoding: encodingOf(encoding) }).jointNames).toContain('Base_1');
});

test.each(ENCODINGS)('one of them that has a transform of its own stays a joint (%s)', (encoding) => {
  const { root, move, meshes } = createTwice();
  // The inner one of two hangs at an offset, that of the other pair does not.
  const inner = meshes[0].skeleton.bones[1];
  inner.position.x += 2;
  root.updateMatrixWorld(true);
  for (const mesh of meshes) mesh.skeleton.calculateInverses();
  const boneTexture = bakeBoneTexture(root, [move], { encoding: encodingOf(encoding) });
  expect(boneTexture.jointNames).toHaveLength(3);
  expectAsThree(root, move, new SkinnedInstancedMesh(assembleCharacter(root, boneTexture), 1));
});

test.each(ENCODINGS)('a root that is a mesh follows its own bones of them (%s)', (encoding) => {
  const { geometry, material } = createStick().mesh;
  // Of such a root, clips move the bones of its skeleton, here the inner ones.
  const { root, move } = createTwice(new SkinnedMesh(geometry, material));
  expectAsThree(
    root,
    move,
    new SkinnedInstancedMesh(bakeCharacter(root, [move], { encoding: encodingOf(encoding) }), 1),
  );
});

test.each(ENCODINGS)('meshes that a tool has quantised each by itself share joints (%s)', (encoding) => {
  for (const relative of [true, false]) {
    const { root, meshes, move } = createTwice();
    const lift = new Float32BufferAttribute([0.1, 0.2, 0, 0, 0, 0.3, 0, 0.1, 0], 3);
    for (const [i, { geometry, skeleton }] of meshes.entries()) {
      const place = new Matrix4().makeScale(3 + i, 3 + i, 3 + i).setPosition(0.3, i, -0.2);
      const back = place.clone().invert();
      const position = geometry.attributes.position.clone().applyMatrix4(back);
      const shorts = new Int16BufferAttribute(new Int16Array(position.count * 3), 3, true);
      for (const [k, value] of position.array.entries()) shorts.setComponent((k / 3) | 0, k % 3, value);
      geometry.setAttribute('position', shorts);
      const target = lift.clone().applyMatrix4(relative ? back.clone().setPosition(0, 0, 0) : back);
      geometry.morphAttributes.position = [target];
      geometry.morphTargetsRelative = relative;
      meshes[i].updateMorphTargets();
      (meshes[i].morphTargetInfluences as number[])[0] = 0.5;
      for (const inverse of skeleton.boneInverses) {
        inverse.multiply(place);
        inverse.fromArray(new Float32Array(inverse.elements));
      }
    }
    const boneTexture = bakeBoneTexture(root, [move], { encoding: encodingOf(encoding) });
    expect(boneTexture.jointNames).toEqual(['Base', 'Tip']);
    const crowd = new SkinnedInstancedMesh(assembleCharacter(root, boneTexture), 1);
    expectAsThree(root, move, crowd);
    expect(joints(addLevel(crowd, createLevel(crowd, root), 10))).toEqual(joints(crowd));
  }
});

test.each(ENCODINGS)('a clip of a BVH file moves a skin on its bones (%s)', (encoding) => {
  const { skeleton, clip } = new BVHLoader().parse(`HIERARCHY
ROOT Base
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Tip
  {
    OFFSET 0 5 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 1 0
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.5
0 0 0 0 0 0 0 0 0
1 2 0 80 -30 10 20 40 60
0 1 3 170 20 5 100 -40 70
`);
  const mesh = new SkinnedMesh(createStick().mesh.geometry, new MeshBasicMaterial());
  const root = new Group().add(skeleton.bones[0], mesh);
  root.updateMatrixWorld(true);
  mesh.bind(skeleton);
  clip.name = 'Move';
  const options = { encoding: encodingOf(encoding), fps: 2 };
  expectAsThree(root, clip, new SkinnedInstancedMesh(bakeCharacter(root, [clip], options), 1), [0, 0.5, 1]);
});

describe('clips of another character', () => {
  /** A character of the same skeleton under names as Mixamo gives them, which stands with its arms raised. */
  function createSource() {
    const { root, clips } = createCharacter({ detail: 0.2 });
    for (const bone of root.getObjectsByProperty('isBone', true)) bone.name = `mixamorig${bone.name}`;
    for (const { tracks } of clips) for (const track of tracks) track.name = `mixamorig${track.name}`;
    return { mesh: root.getObjectByProperty('isSkinnedMesh', true) as SkinnedMesh, clips };
  }

  test.each(['from the scene', 'from the mesh', 'without a skin'])('play after retargetClip %s', (from) => {
    const { root } = createCharacter({ detail: 0.2 });
    const target = root.getObjectByProperty('isSkinnedMesh', true) as SkinnedMesh;
    const { mesh, clips } = createSource();
    if (from === 'from the mesh') target.add(target.skeleton.bones[0]);
    for (const one of [target, mesh]) one.parent?.updateMatrixWorld(true);
    const bones = mesh.parent?.getObjectsByProperty('isBone', true) as Bone[];
    const clip = retargetClip(target, from === 'without a skin' ? new Skeleton(bones) : mesh, clips[1], {
      hip: 'mixamorigHips',
      names: Object.fromEntries(target.skeleton.bones.map(({ name }) => [name, `mixamorig${name}`])),
    } as never);
    target.skeleton.pose();
    const character = bakeCharacter(from === 'from the mesh' ? target : root, [clip]);
    const crowd = new SkinnedInstancedMesh(character, 1);
    const time = 0.4 * clip.duration;
    crowd.play(0, 0, { ...LoopOnceOptions, time });
    const mixer = new AnimationMixer(target);
    mixer.clipAction(clip).play();
    mixer.setTime(time);
    root.updateMatrixWorld(true);
    expect(offFrom(from === 'from the mesh' ? target : root, crowd)).toBeLessThan(2e-4);
    expect(target.skeleton.bones[3].quaternion.angleTo(new Quaternion())).toBeGreaterThan(0.01);
  });
});

test('a clip that moves the root moves the character from where its instance stands', () => {
  const { root, mesh } = createStick();
  const clip = new AnimationClip('Away', 1, [move('.position', [0, 0, 0, 5, 0, 0])]);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, [clip]), 1);
  crowd.setMatrixAt(0, new Matrix4().makeTranslation(0, 0, 3));
  crowd.play(0, 'Away', { ...LoopOnceOptions, time: 0.5 });
  const before = mesh.getVertexPosition(1, new Vector3());
  expect(getVertexPosition(crowd, 0, 1, new Vector3()).sub(before).toArray()).toEqual([2.5, 0, 3]);
});
