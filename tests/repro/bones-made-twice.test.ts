import {
  AnimationClip,
  AnimationMixer,
  Bone,
  type BufferGeometry,
  Group,
  type KeyframeTrack,
  LoopOnce,
  MeshBasicMaterial,
  type Object3D,
  Quaternion,
  Skeleton,
  SkinnedMesh,
  Vector3,
  VectorKeyframeTrack,
} from 'three';
import { expect, test } from 'vitest';
import { BoneTexture, LoopOnceOptions, SkinnedInstancedMesh } from '../support/library.js';
import { drawnMeshes } from '../support/reference.js';
import { createStick } from '../support/stick.js';

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
    new VectorKeyframeTrack(`${name}.position`, [0, 1], [0, y, 0, 1, y, 2]) as KeyframeTrack;
  const move = new AnimationClip('Move', 1, [track('Tip', 2), track('Base', 0)]);
  /** Moves the bones of the two meshes apart. */
  const part = new AnimationClip('Move', 1, [track('Tip', 2), track(tip[0].uuid, -3)]);
  return { root, meshes, move, part };
}

/** Of the scene itself, not of a copy: tracks name bones by their uuid. */
function expectAsThree(root: Object3D, clip: AnimationClip, crowd: SkinnedInstancedMesh): void {
  crowd.updateMatrixWorld(true);
  const mixer = new AnimationMixer(root);
  mixer.clipAction(clip).setLoop(LoopOnce, 1).play().clampWhenFinished = true;
  for (const time of [0, 0.3, 1]) {
    crowd.play(0, 'Move', { ...LoopOnceOptions, time });
    mixer.setTime(time);
    root.updateMatrixWorld(true);
    let vertex = 0;
    for (const mesh of drawnMeshes(root)) {
      for (let i = 0; i < mesh.geometry.getAttribute('position').count; i++, vertex++) {
        const expected = mesh.getVertexPosition(i, new Vector3()).applyMatrix4(mesh.matrixWorld);
        const shown = crowd.getVertexPositionAt(0, vertex, new Vector3());
        expect(shown.distanceTo(expected)).toBeLessThan(1e-6);
      }
    }
  }
  mixer.stopAllAction();
}

const joints = ({ geometry }: { geometry: BufferGeometry }) => {
  const { skinIndex, skinWeight } = geometry.attributes;
  return Array.from({ length: skinIndex.count }, (_, i) => [skinIndex.getX(i), skinWeight.getX(i)]);
};

const encodings = ['tracks', 'matrix'] as const;

test.each(encodings)(
  'meshes follow their own bones of those that FBXLoader makes for each (%s)',
  (encoding) => {
    for (const sockets of [[], ['Tip'], ['Base', 'Tip']]) {
      for (const used of ['all', 'used'] as const) {
        const { root, move, part } = createTwice();
        for (const clip of [move, part]) {
          const boneTexture = BoneTexture.bake(root, [clip], { encoding, joints: used, sockets });
          const crowd = SkinnedInstancedMesh.from(root, [clip], 1, { boneTexture });
          expectAsThree(root, clip, crowd);
          expect(joints(crowd.addLevel(root, 10))).toEqual(joints(crowd));
        }
      }
    }
  },
);

test.each(encodings)('bone textures of such a character with other clips change places (%s)', (encoding) => {
  const { root, move, part } = createTwice();
  for (const [before, after] of [
    [move, part],
    [part, move],
  ]) {
    const crowd = SkinnedInstancedMesh.from(root, [before], 1, { encoding });
    crowd.boneTexture = BoneTexture.bake(root, [after], { encoding });
    expectAsThree(root, after, crowd);
  }
});

test.each(encodings)('a root that is a mesh follows its own bones of them (%s)', (encoding) => {
  const { geometry, material } = createStick().mesh;
  // Of such a root, clips move the bones of its skeleton, here the inner ones.
  const { root, move } = createTwice(new SkinnedMesh(geometry, material));
  expectAsThree(root, move, SkinnedInstancedMesh.from(root, [move], 1, { encoding }));
});

test('a bone texture baked before they got other names in a file poses them', () => {
  const { root, meshes, move } = createTwice();
  const boneTexture = BoneTexture.bake(root, [move]);
  // As GLTFLoader names nodes whose name is taken.
  for (const bone of meshes[0].skeleton.bones) bone.name += '_1';
  expectAsThree(root, move, SkinnedInstancedMesh.from(root, [], 1, { boneTexture }));
});

test('bones without names that stand in one place are joints of their own', () => {
  const { root, meshes, part } = createTwice();
  for (const { skeleton } of meshes) for (const bone of skeleton.bones) bone.name = '';
  const [inner, outer] = meshes.map(({ skeleton }) => skeleton.bones[1]);
  part.tracks.forEach((track, i) => (track.name = `${[outer, inner][i].uuid}.position`));
  const crowd = SkinnedInstancedMesh.from(root, [part], 1, { encoding: 'tracks' });
  expect(crowd.boneTexture.jointNames).toHaveLength(4);
  expectAsThree(root, part, crowd);
  // An edit of one of them turns its own mesh only.
  const corners = () => [2, 5].map((vertex) => crowd.getVertexPositionAt(0, vertex, new Vector3()));
  const [turned, still] = corners();
  crowd.setJointRotationAt(0, 1, new Quaternion(0, 0, 1, 0));
  const [after, same] = corners();
  expect(after.distanceTo(turned)).toBeGreaterThan(0.5);
  expect(same.distanceTo(still)).toBe(0);
});
