import {
  AnimationClip,
  AnimationMixer,
  BufferGeometry,
  Float32BufferAttribute,
  Group,
  type KeyframeTrack,
  Mesh,
  MeshBasicMaterial,
  NumberKeyframeTrack,
  type Object3D,
  Vector3,
} from 'three';
import { GLTFLoader } from 'three-stdlib';
import { expect, test } from 'vitest';
import { glbOf } from '../support/glb.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { drawnMeshes, Reference } from '../support/reference.js';

/** A triangle with targets of these names, the first of which moves it along x. */
function eye(name: string, targets = ['Blink']): Mesh {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new Float32BufferAttribute([0, 0, 0, 1, 0, 0, 0, 1, 0], 3));
  geometry.morphAttributes.position = targets.map((target, i) => {
    const morph = new Float32BufferAttribute([1 + i, 0, 0, 1 + i, 0, 0, 1 + i, 0, 0], 3);
    morph.name = target;
    return morph;
  });
  geometry.morphTargetsRelative = true;
  const mesh = new Mesh(geometry, new MeshBasicMaterial());
  mesh.name = name;
  mesh.updateMorphTargets();
  return mesh;
}

const blink = (name: string, values: number[], component = '') =>
  new NumberKeyframeTrack(`${name}.morphTargetInfluences${component}`, [0, 1], values) as KeyframeTrack;

/** Compares all vertices with three.js's at times of a clip. */
function expectParity(root: Object3D, clips: AnimationClip[]): SkinnedInstancedMesh {
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { fps: 10 });
  const shown = new Vector3();
  for (const time of [0, 0.3, 1]) {
    crowd.play(0, 0, { time: time === 1 ? 0.999999999 : time });
    const reference = new Reference(root).pose(clips[0], time);
    reference.forEachVertex((vertex, position) => {
      const off = crowd.getVertexPositionAt(0, vertex, shown).distanceTo(position);
      expect(off, `vertex ${vertex} at ${time} s`).toBeLessThan(1e-5);
    });
  }
  return crowd;
}

test.each([
  ['Eye_L', 'Eye_R'],
  ['Eye_1', 'Eye_2'],
])('separate meshes %s and %s whose targets have one name are moved each by its own track', (left, right) => {
  const root = new Group();
  root.add(eye(left), eye(right));
  // As GLTFLoader marks what was a node of the file.
  for (const node of root.children) node.userData.name = node.name;
  const clip = new AnimationClip('Wink', 1, [blink(left, [0, 1]), blink(right, [0, 0])]);
  expect(expectParity(root, [clip]).boneTexture.morphNames).toEqual(['Blink', 'Blink']);
});

test('so are meshes that stand elsewhere, begin otherwise, or have other targets', () => {
  const variants: ((mesh: Mesh) => unknown)[] = [
    (mesh) => mesh.position.setX(3),
    (mesh) => mesh.morphTargetInfluences?.fill(0.5),
    (mesh) => mesh.scale.setY(2),
    (mesh) => mesh.rotateX(1),
  ];
  for (const vary of variants) {
    const root = new Group();
    root.add(eye('Face'), eye('Face_1'));
    vary(root.children[1] as Mesh);
    const clip = new AnimationClip('Wink', 1, [blink('Face', [0, 1]), blink('Face_1', [0.5, 0])]);
    expect(expectParity(root, [clip]).boneTexture.morphNames).toHaveLength(2);
  }
});

test('primitives of one glTF mesh share their targets', async () => {
  const numbers = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 1, 0, 1);
  const primitive = (material: number) => ({
    attributes: { POSITION: 0 },
    targets: [{ POSITION: 1 }],
    material,
  });
  const document = {
    asset: { version: '2.0' },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes: [{ name: 'Head', mesh: 0 }],
    meshes: [{ name: 'Face', primitives: [0, 1, 2].map(primitive), extras: { targetNames: ['Smile'] } }],
    materials: [{}, {}, {}],
    buffers: [{ byteLength: numbers.byteLength }],
    bufferViews: [{ buffer: 0, byteLength: numbers.byteLength }],
    accessors: [
      { bufferView: 0, componentType: 5126, count: 3, type: 'VEC3', min: [0, 0, 0], max: [1, 1, 0] },
      {
        bufferView: 0,
        byteOffset: 36,
        componentType: 5126,
        count: 3,
        type: 'VEC3',
        min: [0, 0, 1],
        max: [0, 0, 1],
      },
      { bufferView: 0, byteOffset: 72, componentType: 5126, count: 2, type: 'SCALAR', min: [0], max: [1] },
      { bufferView: 0, byteOffset: 80, componentType: 5126, count: 2, type: 'SCALAR' },
    ],
    animations: [
      {
        samplers: [{ input: 2, output: 3 }],
        channels: [{ sampler: 0, target: { node: 0, path: 'weights' } }],
      },
    ],
  };
  const gltf = await new GLTFLoader().parseAsync(glbOf(document, new Uint8Array(numbers.buffer)), '');
  const crowd = expectParity(gltf.scene, gltf.animations);
  expect(drawnMeshes(gltf.scene)).toHaveLength(3);
  expect(crowd.boneTexture.morphNames).toEqual(['Smile']);
  expect(crowd.morphTargetDictionary).toEqual({ Smile: 0 });
});

test('a track cannot reach into the targets of the next mesh', () => {
  const root = new Group();
  root.add(eye('One'), eye('Other'));
  const clip = new AnimationClip('Both', 1, [blink('Other', [0, 1]), blink('One', [0, 1], '[1]')]);
  const crowd = SkinnedInstancedMesh.from(root, [clip], 1);
  crowd.play(0, 'Both', { time: 0 });
  expect(crowd.getVertexPositionAt(0, 3, new Vector3()).x).toBe(0);

  const wide = new AnimationClip('Wide', 1, [blink('One', [1, 1, 1, 1])]);
  expect(() => SkinnedInstancedMesh.from(root, [wide], 1)).toThrow(
    'track "One.morphTargetInfluences" of clip "Wide" has 2 values per key, but morphTargetInfluences takes 1; mend or remove the track, or bake with morphTargets: false',
  );
  expect(SkinnedInstancedMesh.from(root, [wide], 1, { morphTargets: false }).boneTexture.clips).toHaveLength(
    1,
  );
});

test('Bézier tracks whose values are those of the rest pose move targets all the same', async ({ skip }) => {
  const { InterpolateBezier } = (await import('three')) as { InterpolateBezier?: number };
  if (InterpolateBezier === undefined) return skip('only newer three.js has them');
  const root = new Group();
  root.add(eye('One'));
  const track = blink('One', [0, 0]);
  track.setInterpolation(InterpolateBezier as never);
  const settings = { inTangents: Float32Array.of(0, 0, 0.6, 1), outTangents: Float32Array.of(0.3, 1, 1, 0) };
  Object.assign(track, { settings });
  const clip = new AnimationClip('Arc', 1, [track]);
  const crowd = SkinnedInstancedMesh.from(root, [clip], 1, { fps: 10 });
  const mixer = new AnimationMixer(root);
  mixer.clipAction(clip).play();
  mixer.setTime(0.5);
  const influence = (root.children[0] as Mesh).morphTargetInfluences?.[0] as number;
  expect(influence).toBeGreaterThan(0.5);
  crowd.play(0, 'Arc', { time: 0.5 });
  expect(crowd.getVertexPositionAt(0, 0, new Vector3()).x).toBeCloseTo(influence, 5);
});
