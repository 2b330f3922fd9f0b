import {
  AnimationClip,
  Bone,
  Group,
  type KeyframeTrack,
  Matrix4,
  MeshBasicMaterial,
  type Object3D,
  Skeleton,
  SkinnedMesh,
  Vector3,
  VectorKeyframeTrack,
} from 'three';
import { expect, test } from 'vitest';
import { BoneTexture, LoopOnceOptions, SkinnedInstancedMesh } from '../support/library.js';
import { Reference } from '../support/reference.js';
import { createStick } from '../support/stick.js';

/** A bone as FBXLoader makes it for two meshes that follow it: one for each, of one name, the first inside the second. */
function createBones(name: string, parent: Object3D, x: number): [inner: Bone, outer: Bone] {
  const [inner, outer] = [new Bone(), new Bone()];
  inner.name = outer.name = name;
  outer.position.set(x, 0, 0);
  parent.add(outer.add(inner));
  return [inner, outer];
}

/** Two meshes on such bones. */
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
  return { root, meshes, clips: [new AnimationClip('Move', 1, [track('Tip', 2), track('Base', 0)])] };
}

function expectAsThree(root: Object3D, clips: AnimationClip[], boneTexture: BoneTexture): void {
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { boneTexture });
  crowd.updateMatrixWorld(true);
  const shown = new Vector3();
  for (const time of [0, 0.3, 1]) {
    crowd.play(0, 'Move', { ...LoopOnceOptions, time });
    new Reference(root, new Matrix4()).pose(clips[0], time).forEachVertex((vertex, position) => {
      expect(crowd.getVertexPositionAt(0, vertex, shown).distanceTo(position)).toBeLessThan(1e-6);
    });
  }
}

test.each(['tracks', 'matrix'] as const)(
  'bones that FBXLoader makes for each mesh are one joint (%s)',
  (encoding) => {
    const { root, clips } = createTwice();
    for (const joints of ['all', 'used'] as const) {
      const boneTexture = BoneTexture.bake(root, clips, { encoding, joints });
      expect(boneTexture.jointNames).toEqual(joints === 'all' ? ['Base', 'Tip'] : ['Tip']);
      expectAsThree(root, clips, boneTexture);
    }
    expect(SkinnedInstancedMesh.from(root, clips, 1).addLevel(root, 10)).toBeDefined();
  },
);

test.each(['tracks', 'matrix'] as const)(
  'bones inside others that clips move stay joints (%s)',
  (encoding) => {
    const { geometry, material } = createStick().mesh;
    // Of a root that is a mesh, clips move the bones of its skeleton, here the inner ones.
    const { root, clips } = createTwice(new SkinnedMesh(geometry, material));
    const boneTexture = BoneTexture.bake(root, clips, { encoding });
    expect(boneTexture.jointNames).toEqual(['Base', 'Tip', 'Base', 'Tip']);
    expectAsThree(root, clips, boneTexture);
  },
);

test('bones inside others with a transform or a name of their own stay joints', () => {
  for (const change of [(bone: Object3D) => bone.rotateZ(0.1), (bone: Object3D) => (bone.name = 'Twist')]) {
    const { root, meshes, clips } = createTwice();
    change(meshes[0].skeleton.bones[1]);
    const boneTexture = BoneTexture.bake(root, clips);
    expect(boneTexture.jointNames).toHaveLength(3);
    expectAsThree(root, clips, boneTexture);
  }
});
