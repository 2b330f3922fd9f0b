import {
  AnimationClip,
  BufferGeometry,
  Float32BufferAttribute,
  Group,
  type KeyframeTrack,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  NumberKeyframeTrack,
  Vector3,
} from 'three';
import { expect, test, vi } from 'vitest';
import { BoneTexture, LoopOnceOptions, SkinnedInstancedMesh } from '../support/library.js';
import { Reference } from '../support/reference.js';

/** A mesh of a face as Ready Player Me has them: head, teeth and eyes each with all targets of the face, by the same names. */
function part(name: string, smile: number): Mesh {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new Float32BufferAttribute([0, 0, 0, 1, 0, 0, 0, 1, 0], 3));
  geometry.morphAttributes.position = [smile, 10 * smile].map((x, i) => {
    const target = new Float32BufferAttribute([x, 0, 0, x, 0, 0, x, 0, 0], 3);
    target.name = ['Smile', 'Blink'][i];
    return target;
  });
  geometry.morphTargetsRelative = true;
  const mesh = new Mesh(geometry, new MeshBasicMaterial());
  mesh.name = mesh.userData.name = name;
  mesh.updateMorphTargets();
  return mesh;
}

function createFace() {
  const root = new Group();
  root.add(part('Head', 1), part('Teeth', 2));
  const tracks = ['Head', 'Teeth'].map(
    (name) =>
      new NumberKeyframeTrack(`${name}.morphTargetInfluences[Smile]`, [0, 1], [0, 1]) as KeyframeTrack,
  );
  return { root, clips: [new AnimationClip('Grin', 1, tracks)] };
}

/** By how much each target moves each vertex. */
const values = ({ geometry }: { geometry: BufferGeometry }) =>
  (geometry.morphAttributes.position ?? []).map(({ array }) => Array.from(array));

test('proportions by name are for all meshes that have the target', () => {
  const { root } = createFace();
  const crowd = SkinnedInstancedMesh.from(root, [], 2);
  const x = (instance: number, vertex: number) =>
    crowd.getVertexPositionAt(instance, vertex, new Vector3()).x;
  crowd.setProportionsAt(1, { morphs: { Smile: 0.5 } });
  expect([x(0, 0), x(0, 3)]).toEqual([0, 0]);
  expect([x(1, 0), x(1, 3)]).toEqual([0.5, 1]);
  crowd.setProportionsAt(1, { morphs: { Smile: null, Blink: 1 } });
  expect([x(1, 0), x(1, 3)]).toEqual([10, 20]);
});

test('each mesh of a level has its own targets', () => {
  const { root, clips } = createFace();
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
  const level = crowd.addLevel(root, 10);
  expect(values(crowd)).toHaveLength(4);
  expect(values(level)).toEqual(values(crowd));
});

/** An avatar whose four meshes have 70 targets each, of the same names, and a clip that moves some of each mesh. */
function createAvatar(strengths: number[]) {
  const root = new Group();
  const names = ['Head', 'Teeth', 'EyeLeft', 'EyeRight'];
  for (const [i, name] of names.entries()) {
    const mesh = part(name, i + 1);
    mesh.geometry.morphAttributes.position = Array.from({ length: 70 }, (_, k) => {
      const target = new Float32BufferAttribute([0, 0, 0, 0, (i + 1) * (k + 1), 0, 0, 0, i - k], 3);
      target.name = `Target${k}`;
      return target;
    });
    mesh.updateMorphTargets();
    root.add(mesh);
  }
  const track = (name: string, target: number, strength: number) =>
    new NumberKeyframeTrack(
      `${name}.morphTargetInfluences[Target${target}]`,
      [0, 0.5, 1],
      [0, strength, 0.25],
    ) as KeyframeTrack;
  const tracks = names.flatMap((name, i) => [
    track(name, 3, strengths[i]),
    track(name, 68, strengths[i] / 2),
  ]);
  return { root, clips: [new AnimationClip('Talk', 1, tracks)] };
}

test.each([
  ['that clips move alike are one', [1, 1, 1, 1], 70],
  ['that clips move apart stay several', [1, 1, 0.5, 1], 280],
])('targets of one name %s, where there are too many for WebGPU', (_, strengths, count) => {
  const { root, clips } = createAvatar(strengths);
  for (const encoding of ['tracks', 'matrix'] as const) {
    const boneTexture = BoneTexture.bake(root, clips, { encoding });
    expect(boneTexture.morphNames).toHaveLength(count);
    for (const options of [{ encoding }, { boneTexture }]) {
      const crowd = SkinnedInstancedMesh.from(root, clips, 1, options);
      expect(crowd.geometry.morphAttributes.position).toHaveLength(count);
      expect(values(crowd.addLevel(root, 10))).toEqual(values(crowd));
      crowd.updateMatrixWorld(true);
      const shown = new Vector3();
      for (const time of [0, 0.25, 0.5, 1]) {
        crowd.play(0, 'Talk', { ...LoopOnceOptions, time });
        new Reference(root, new Matrix4()).pose(clips[0], time).forEachVertex((vertex, position) => {
          expect(crowd.getVertexPositionAt(0, vertex, shown).distanceTo(position)).toBeLessThan(1e-3);
        });
      }
    }
  }
  const still = SkinnedInstancedMesh.from(root, [], 1);
  expect(still.geometry.morphAttributes.position).toHaveLength(70);
});

test('a bone texture whose clips move other targets than the crowd has is warned of', () => {
  const [alike, apart] = [
    [1, 1, 1, 1],
    [1, 0, 1, 1],
  ].map(createAvatar);
  const boneTexture = BoneTexture.bake(apart.root, apart.clips);
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const crowd = SkinnedInstancedMesh.from(alike.root, alike.clips, 1);
  expect(warn).not.toHaveBeenCalled();
  crowd.boneTexture = boneTexture;
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    expect.stringContaining('move 280 morph targets, but the geometry has 70, which they do not move'),
  );
  warn.mockRestore();
});

test('a clip may move one of the primitives of a glTF mesh, which share their targets in any case', () => {
  for (const [moved, count] of [
    [['Head', 'Teeth', 'EyeLeft', 'EyeRight'], 70],
    [['Head_1', 'Teeth', 'EyeLeft', 'EyeRight'], 70],
    [['Head', 'Head_1', 'Teeth', 'EyeLeft', 'EyeRight'], 70],
    [['Head_1', 'Teeth', 'EyeLeft'], 280],
  ] as const) {
    const { root, clips } = createAvatar([1, 1, 1, 1]);
    const head = root.children[0] as Mesh;
    const primitive = head.clone();
    primitive.name = 'Head_1';
    head.userData = {};
    primitive.userData = {};
    root.remove(head).add(new Group().add(head, primitive));
    const [track] = clips[0].tracks;
    const clip = new AnimationClip('Talk', 1);
    clip.tracks = moved.map((name) => {
      const own = track.clone();
      own.name = track.name.replace('Head', name);
      return own;
    });
    const crowd = SkinnedInstancedMesh.from(root, [clip], 1);
    expect(crowd.boneTexture.morphNames).toHaveLength(count);
    expect(values(crowd)).toHaveLength(count);
  }
});

test('targets without names, or of other influences, stay several', () => {
  const unnamed = createAvatar([1, 1, 1, 1]).root;
  for (const { morphTargetDictionary = {}, geometry } of unnamed.children as Mesh[]) {
    delete morphTargetDictionary.Target5;
    for (const target of geometry.morphAttributes.position ?? []) target.name = '';
  }
  expect(BoneTexture.bake(unnamed, []).data.morphNames).toEqual([]);
  expect(SkinnedInstancedMesh.from(unnamed, [], 1).geometry.morphAttributes.position).toHaveLength(280);
  const smiling = createAvatar([1, 1, 1, 1]).root;
  (smiling.children[1] as Mesh).morphTargetInfluences?.fill(0.5);
  expect(SkinnedInstancedMesh.from(smiling, [], 1).geometry.morphAttributes.position).toHaveLength(140);
});
