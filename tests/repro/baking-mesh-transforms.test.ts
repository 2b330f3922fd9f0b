import {
  type AnimationClip,
  BackSide,
  BoxGeometry,
  type BufferAttribute,
  DetachedBindMode,
  DoubleSide,
  Float32BufferAttribute,
  FrontSide,
  type Group,
  type KeyframeTrack,
  type Material,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  Raycaster,
  type Side,
  SphereGeometry,
  Uint16BufferAttribute,
  Vector3,
  VectorKeyframeTrack,
} from 'three';
import { describe, expect, test } from 'vitest';
import { BoneTexture, LoopOnceOptions, SkinnedInstancedMesh } from '../support/library.js';
import { random } from '../support/random.js';
import { Reference } from '../support/reference.js';
import { createStick, type Stick } from '../support/stick.js';

const move = (name: string, values: number[]) =>
  new VectorKeyframeTrack(
    name,
    Array.from({ length: values.length / 3 }, (_, i) => i),
    values,
  ) as KeyframeTrack;

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
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { fps: 10 });
  crowd.play(0, 0, { ...LoopOnceOptions, time });
  crowd.updateMatrixWorld(true);
  return { crowd, reference: new Reference(root).pose(clips[0], time) };
}

/** Farthest a vertex is from three.js's, of those that the parts have at first: mirrored copies come behind them. */
function farthest({ crowd, reference }: ReturnType<typeof pairAt>): number {
  const shown = new Vector3();
  let most = 0;
  reference.forEachVertex((vertex, position) => {
    most = Math.max(most, crowd.getVertexPositionAt(0, vertex, shown).distanceTo(position));
  });
  return most;
}

describe('a skin in detached bind mode', () => {
  test.each(['Carrier', 'StickMesh'])('follows a clip that moves %s', (name) => {
    const { root, mesh, clips } = createStick();
    const carrier = mesh.clone();
    carrier.clear();
    const between = root.clone(false);
    between.name = 'Carrier';
    between.add(mesh);
    root.add(between);
    mesh.bindMode = DetachedBindMode;
    mesh.bindMatrix.makeTranslation(0.1, 0.2, 0.3);
    clips[0].tracks.push(
      move(`${name}.position`, [0, 0, 0, 1, 2, 3]),
      move(`${name}.scale`, [1, 1, 1, 2, -1, 1]),
    );
    for (const time of [0, 0.4, 1]) {
      const pair = pairAt(root, clips, time);
      const mirrored = time === 1;
      const shown = new Vector3();
      pair.reference.forEachVertex((vertex, position) => {
        // The clip mirrors, so that the second copy of the three vertices is shown in the end.
        pair.crowd.getVertexPositionAt(0, vertex + (mirrored ? 3 : 0), shown);
        expect(shown.distanceTo(position), `${time} s`).toBeLessThan(1e-5);
      });
    }
  });
});

describe('a skin that a clip scales to nothing', () => {
  const shrink = () => move('StickMesh.scale', [1, 1, 1, 0, 0, 0, 1, 1, 1]);

  test('is gone on that frame and whole before and after', () => {
    const { root, mesh, clips } = createStick({ Slide: 2 });
    mesh.position.set(0.5, 0.25, 0);
    root.updateMatrixWorld(true);
    mesh.bind(mesh.skeleton, new Matrix4());
    clips[0].tracks.push(shrink());
    for (const time of [0, 0.9, 1.1, 2])
      expect(farthest(pairAt(root, clips, time)), `${time} s`).toBeLessThan(1e-5);
    const { crowd } = pairAt(root, clips, 1);
    for (let vertex = 0; vertex < 3; vertex++) {
      const shown = crowd.getVertexPositionAt(0, vertex, new Vector3());
      // where three.js's shader puts all of it, too: the mesh's origin
      expect(shown.distanceTo(new Vector3(0.5, 0.25, 0))).toBeLessThan(1e-5);
    }
  });

  test('goes alone, while others of its skeleton stay', () => {
    const { root, mesh, clips } = createStick({ Slide: 2 });
    const other = mesh.clone();
    other.name = 'Other';
    root.add(other);
    clips[0].tracks.push(shrink());
    const { crowd } = pairAt(root, clips, 1);
    const x = (vertex: number) => crowd.getVertexPositionAt(0, vertex, new Vector3()).x;
    for (const vertex of [0, 1, 2]) expect(x(vertex)).toBeCloseTo(0, 5);
    expect(x(3)).toBeCloseTo(6, 5);
    expect(crowd.boneTexture.jointNames, 'two joints for each').toHaveLength(4);
  });

  test('is gone in the rest pose too, if it was found so', () => {
    const { root, mesh, clips } = createStick();
    mesh.scale.setScalar(0);
    clips[0].tracks.push(move('StickMesh.scale', [0, 0, 0, 1, 1, 1]));
    const crowd = SkinnedInstancedMesh.from(root, clips, 1, { fps: 10 });
    const x = () => crowd.getVertexPositionAt(0, 1, new Vector3()).x;
    expect(x()).toBeCloseTo(0, 5);
    crowd.play(0, 0, { time: 0.5 });
    expect(x()).toBeCloseTo(6.5, 5);
  });

  test('joints are shared as before where no clip does that', () => {
    const { root, mesh, clips } = createStick();
    const other = mesh.clone();
    root.add(other);
    clips[0].tracks.push(move('StickMesh.scale', [1, 1, 1, 0.5, 0.5, 2]));
    expect(BoneTexture.bake(root, clips).jointNames).toEqual(['Base', 'Tip']);
  });
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

  test('a rigid mesh that a clip mirrors', () => {
    const { root, bones, clips } = createStick({ Slide: 2 });
    const ball = new Mesh(new SphereGeometry(0.8, 7, 6), new MeshBasicMaterial());
    ball.name = 'Ball';
    ball.position.set(0.1, 0.2, 0.3);
    bones[0].add(ball);
    give(root);
    clips[0].tracks.push(move('Ball.scale', [1, 1, 1, 1, -1, 1, -1, -1.2, 1]));
    for (const time of [0, 1, 2]) expect(expectSameHits(root, clips, time, 5)).toBeGreaterThan(10);
  });

  test('a rigid mesh under what a clip mirrors, mirrored at rest itself', () => {
    const { root, bones, clips } = createStick({ Slide: 1 });
    const ball = new Mesh(new SphereGeometry(0.8, 7, 6), new MeshBasicMaterial());
    ball.scale.x = -1;
    bones[0].add(ball);
    give(root);
    clips[0].tracks.push(move('Base.scale', [1, 1, 1, -1, 1, 1]));
    for (const time of [0, 1]) expect(expectSameHits(root, clips, time, 6)).toBeGreaterThan(10);
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

test('a mesh that is mirrored at rest and stays so is there once', () => {
  const { root, bones, clips } = createStick();
  const box = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
  box.name = 'Box';
  box.scale.x = -1;
  bones[0].add(box);
  // Exporters write tracks of what does not move, too.
  clips[0].tracks.push(move('Box.scale', [-1, 1, 1, -1, 2, 1]));
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
  expect(crowd.geometry.getAttribute('position').count).toBe(27);
  expect(crowd.boneTexture.data.flips).toEqual([]);
});

test('the copy for mirrored poses goes with its part: names, sockets, visibility, another crowd', () => {
  const { root, bones, clips } = createStick();
  const box = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
  box.name = 'Box';
  bones[0].add(box);
  clips[0].tracks.push(move('Box.scale', [1, 1, 1, -1, 1, 1]));
  const crowd = SkinnedInstancedMesh.from(root, clips, 2);
  expect(crowd.partNames).toEqual(['StickMesh', 'Box']);
  expect(crowd.geometry.getAttribute('position').count).toBe(3 + 24 + 24);
  const socket = crowd.getSocketMatrixAt(0, 'Box', new Matrix4());
  expect(socket.equals(new Matrix4())).toBe(true);
  const { boneTexture } = crowd;
  const other = SkinnedInstancedMesh.from(root, [], 1, { boneTexture });
  expect(other.geometry.getAttribute('position').count).toBe(51);
  const carried = new BoneTexture(structuredClone(boneTexture.data));
  expect(SkinnedInstancedMesh.from(root, [], 1, { boneTexture: carried }).partNames).toEqual([
    'StickMesh',
    'Box',
  ]);
});

test('a clip that mirrors nothing of a box leaves its winding alone', () => {
  const { root, bones, clips } = createStick();
  const box = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
  bones[1].add(box);
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
  const index = crowd.geometry.index as BufferAttribute;
  const original = box.geometry.index as BufferAttribute;
  expect([...index.array.slice(3)].map((value) => value - 3)).toEqual([...original.array]);
});

test('nodes that turn about a pivot', ({ skip }) => {
  const { root, bones, mesh, clips } = createStick();
  if (!('pivot' in mesh)) return skip('only newer three.js has pivots');
  Object.assign(bones[0], { pivot: new Vector3(1, 2, 0) });
  bones[0].rotation.z = 0.5;
  bones[0].scale.setScalar(1.5);
  clips[0].tracks.push(move('Base.scale', [1, 1, 1, 2, 2, 2]));
  for (const time of [0, 0.5, 1]) expect(farthest(pairAt(root, clips, time))).toBeLessThan(1e-5);
});
