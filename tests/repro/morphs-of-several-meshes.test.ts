import {
  AnimationClip,
  BufferGeometry,
  Float32BufferAttribute,
  Group,
  type KeyframeTrack,
  Mesh,
  MeshBasicMaterial,
  NumberKeyframeTrack,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';
import { SkinnedInstancedMesh } from '../support/library.js';

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
  const values = ({ geometry }: { geometry: BufferGeometry }) =>
    (geometry.morphAttributes.position ?? []).map(({ array }) => Array.from(array));
  expect(values(crowd)).toHaveLength(4);
  expect(values(level as unknown as Mesh)).toEqual(values(crowd));
});
