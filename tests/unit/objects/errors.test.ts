import {
  BoxGeometry,
  Float32BufferAttribute,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  Points,
} from 'three';
import { afterEach, expect, test, vi } from 'vitest';
import { BoneTexture, SkinnedInstancedMesh } from '../../support/library.js';
import { createStick } from '../../support/stick.js';

afterEach(() => vi.restoreAllMocks());

test('skin weights and indices that cannot be drawn', () => {
  const { root, mesh, clips } = createStick();
  const boneTexture = BoneTexture.bake(root, clips);
  const create = () => new SkinnedInstancedMesh(mesh.geometry, mesh.material, boneTexture, 1);
  const { skinWeight, skinIndex } = mesh.geometry.attributes;
  skinWeight.setX(1, 0);
  expect(create).toThrow('the skin weights of vertex 1 of geometry "stick" are 0, 0, 0, 0');
  skinWeight.setX(1, -1);
  expect(create).toThrow('are -1, 0, 0, 0');
  skinWeight.setX(1, 1);
  skinIndex.setX(2, 9);
  expect(create).toThrow('vertex 2 of geometry "stick" follows joint 9, but the bone texture has 2 joints');
  expect(() => new SkinnedInstancedMesh(new BoxGeometry(), mesh.material, boneTexture, 1)).toThrow(
    'has no attribute "skinIndex"',
  );
});

test('a bone texture that was baked for another skeleton', () => {
  const { root, clips } = createStick();
  const other = createStick();
  other.bones[1].name = 'Other';
  other.clips[0].tracks[0].name = 'Other.position';
  const boneTexture = BoneTexture.bake(other.root, other.clips);
  expect(() => SkinnedInstancedMesh.from(root, clips, 1, { boneTexture })).toThrow(
    'was baked for another skeleton (of 2 joints, not 2: joint 1 is "Other", not "',
  );
});

test('a number behind the name of a joint is that of a loader, unless another joint is called so', () => {
  const named = (base: string, tip: string) => {
    const { root, bones } = createStick();
    bones[0].name = base;
    bones[1].name = tip;
    return root;
  };
  const from = (root: Object3D, boneTexture: BoneTexture) => () =>
    SkinnedInstancedMesh.from(root, [], 1, { boneTexture });
  expect(from(named('Arm_1', 'Hand_1'), BoneTexture.bake(named('Arm', 'Hand'), []))).not.toThrow();
  expect(from(named('Arm_1', 'Arm_1_1'), BoneTexture.bake(named('Arm', 'Arm_1'), []))).toThrow(
    'joint 0 is "Arm", not "Arm_1"',
  );
});

test('arguments and indices out of range', () => {
  const { root, mesh, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 3);
  expect(() => crowd.play(0, 'Runn')).toThrow(
    'SkinnedInstancedMesh.play: no clip named "Runn"; the bone texture has "Slide".',
  );
  expect(() => crowd.play(0, 5)).toThrow('SkinnedInstancedMesh.play: no clip 5');
  expect(() => crowd.play(3, 'Slide')).toThrow(
    'SkinnedInstancedMesh.play: no instance 3; the mesh has 3, 0 to 2.',
  );
  expect(() => crowd.play(-1, 'Slide')).toThrow('no instance -1');
  expect(() => crowd.play(0, 'Slide', { timeScale: Number.NaN })).toThrow('timeScale is NaN');
  expect(() => crowd.play(0, 'Slide', { time: Infinity })).toThrow('time is Infinity');
  expect(() => crowd.play(0, 'Slide', { repetitions: -2 })).toThrow('repetitions is -2');
  expect(() => crowd.play(0, 'Slide', { loop: 7 as never })).toThrow('loop is 7');
  expect(() => crowd.update(Number.NaN)).toThrow('SkinnedInstancedMesh.update: delta is NaN');
  expect(() => crowd.setMatrixAt(3, new Matrix4())).toThrow(
    'SkinnedInstancedMesh.setMatrixAt: no instance 3',
  );
  expect(() => crowd.getSkinningMatrixAt(0, 'Nose', new Matrix4())).toThrow('no joint "Nose"');
  expect(() => crowd.setMorphAt(0, mesh)).toThrow(
    'SkinnedInstancedMesh.setMorphAt: the object has no morph target',
  );
  expect(() => {
    crowd.count = 4;
  }).toThrow('SkinnedInstancedMesh.count: 4 is not a whole number from 0 to the capacity of 3');
  const { boneTexture } = crowd;
  expect(() => new SkinnedInstancedMesh(mesh.geometry, mesh.material, boneTexture, -1)).toThrow(
    'count is -1',
  );
  expect(() => new SkinnedInstancedMesh(mesh.geometry, mesh.material, null as never, 1)).toThrow(
    'boneTexture is null',
  );
  expect(
    () => new SkinnedInstancedMesh(mesh.geometry, mesh.material, boneTexture, 1, { influences: 3 as never }),
  ).toThrow('influences is 3; use 1, 2 or 4');
});

test('what cannot be instanced is named, and skipped on demand', () => {
  const { root, clips } = createStick();
  const points = new Points(new BoxGeometry());
  points.name = 'Sparks';
  root.add(points);
  expect(() => SkinnedInstancedMesh.from(root, clips, 1)).toThrow('"Sparks" (Points)');
  expect(SkinnedInstancedMesh.from(root, clips, 1, { skipUnsupported: true }).count).toBe(1);
  root.remove(points);
  root.add(new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 2));
  expect(() => SkinnedInstancedMesh.from(root, clips, 1)).toThrow('InstancedMesh');
});

test('morph targets are merged with meshes that have none, without a word', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { root, mesh, bones, clips } = createStick();
  mesh.geometry.morphAttributes.position = [new Float32BufferAttribute(new Array(9).fill(1), 3)];
  mesh.geometry.morphTargetsRelative = true;
  bones[1].add(new Mesh(new BoxGeometry(), new MeshBasicMaterial()));
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
  const [morph] = crowd.geometry.morphAttributes.position ?? [];
  expect([...morph.array.slice(0, 12)]).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0]);
  expect(warn).not.toHaveBeenCalled();
});

test('rigid meshes under animated bones come along', () => {
  const { root, bones, clips } = createStick();
  bones[1].add(new Mesh(new BoxGeometry(), new MeshBasicMaterial()));
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
  expect(crowd.geometry.getAttribute('position').count).toBe(27);
});

test.each([null, undefined])(
  'groups whose material is %s draw nothing beside another mesh, as in three.js',
  (nothing) => {
    const { root, mesh, bones, clips } = createStick();
    mesh.geometry.addGroup(0, 3, 0);
    mesh.geometry.addGroup(0, 3, 1);
    Object.assign(mesh, { material: [mesh.material, nothing] });
    bones[1].add(new Mesh(new BoxGeometry(), new MeshBasicMaterial()));
    expect(SkinnedInstancedMesh.from(root, clips, 1).geometry.index?.count).toBe(3 + 36);
  },
);
