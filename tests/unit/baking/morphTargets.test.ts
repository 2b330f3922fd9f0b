import {
  AnimationClip,
  BufferGeometry,
  Float32BufferAttribute,
  Group,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  NumberKeyframeTrack,
  type Object3D,
  Vector3,
} from 'three';
import { GLTFLoader } from 'three-stdlib';
import { expect, test, vi } from 'vitest';
import { crowdArguments } from '../../support/crowdArguments.js';
import { morphsOf } from '../../support/features.js';
import { glbOf } from '../../support/glb.js';
import { addLevel } from '../../support/levels.js';
import {
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
import { drawnMeshes, offFrom, Reference } from '../../support/reference.js';

/** A triangle with targets, each of which moves it along x by so much, of a node of that name as GLTFLoader marks it. */
function part(name: string, targets: Record<string, number> = { Blink: 1 }): Mesh {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new Float32BufferAttribute([0, 0, 0, 1, 0, 0, 0, 1, 0], 3));
  geometry.morphAttributes.position = Object.entries(targets).map(([target, x]) =>
    Object.assign(new Float32BufferAttribute([x, 0, 0, x, 0, 0, x, 0, 0], 3), { name: target }),
  );
  geometry.morphTargetsRelative = true;
  const mesh = new Mesh(geometry, new MeshBasicMaterial());
  mesh.name = mesh.userData.name = name;
  mesh.updateMorphTargets();
  return mesh;
}

const blink = (name: string, values: number[], component = '') =>
  new NumberKeyframeTrack(`${name}.morphTargetInfluences${component}`, [0, 1], values);

/** Compares all vertices with three.js's at times of a clip. */
function expectParity(root: Object3D, clips: AnimationClip[]): SkinnedInstancedMesh {
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips, { fps: 10 }), 1);
  for (const time of [0, 0.3, 1]) {
    crowd.play(0, 0, { ...LoopOnceOptions, time });
    expect(offFrom(new Reference(root).pose(clips[0], time).root, crowd), `${time} s`).toBeLessThan(1e-5);
  }
  return crowd;
}

test.each([
  ['Eye_L', 'Eye_R'],
  ['Eye_1', 'Eye_2'],
])('separate meshes %s and %s whose targets have one name are moved each by its own track', (left, right) => {
  const root = new Group();
  root.add(part(left), part(right));
  const clip = new AnimationClip('Wink', 1, [blink(left, [0, 1]), blink(right, [0, 0])]);
  expect(expectParity(root, [clip]).boneTexture.morphNames).toEqual(['Blink', 'Blink']);
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
  root.add(part('One'), part('Other'));
  const clip = new AnimationClip('Both', 1, [blink('Other', [0, 1]), blink('One', [0, 1], '[1]')]);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, [clip], { encoding: frames }), 1);
  crowd.play(0, 'Both', { time: 0 });
  expect(getVertexPosition(crowd, 0, 3, new Vector3()).x).toBe(0);

  // One of another number of targets than the mesh has does not fit, and costs nothing but itself.
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const wide = new AnimationClip('Wide', 1, [blink('One', [1, 1, 1, 1]), blink('Other', [0, 1])]);
  const other = new SkinnedInstancedMesh(bakeCharacter(root, [wide]), 1);
  other.play(0, 'Wide', { ...LoopOnceOptions, time: 1 });
  expect(getVertexPosition(other, 0, 3, new Vector3()).x).toBe(1);
  expect(warn.mock.calls.flat().join()).toContain('One.morphTargetInfluences');
});

/** By how much each target moves each vertex. */
const values = ({ geometry }: { geometry: BufferGeometry }) =>
  (geometry.morphAttributes.position ?? []).map(({ array }) => Array.from(array));

test('influences by name are for all meshes that have the target', () => {
  // As Ready Player Me has faces: head, teeth and eyes each with all targets, by the same names.
  const root = new Group();
  root.add(part('Head', { Smile: 1, Blink: 10 }), part('Teeth', { Smile: 2, Blink: 20 }));
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, []), 2);
  const x = (instance: number, vertex: number) => getVertexPosition(crowd, instance, vertex, new Vector3()).x;
  morphsOf(crowd).setInfluenceAt(1, 'Smile', 0.5);
  expect([x(0, 0), x(0, 3)]).toEqual([0, 0]);
  expect([x(1, 0), x(1, 3)]).toEqual([0.5, 1]);
  morphsOf(crowd).setInfluenceAt(1, 'Smile', null).setInfluenceAt(1, 'Blink', 1);
  expect([x(1, 0), x(1, 3)]).toEqual([10, 20]);
});

/** An avatar whose four meshes have 70 targets each, of the same names, and a clip that moves some of each mesh. */
function createAvatar(strengths: number[]) {
  const root = new Group();
  const names = ['Head', 'Teeth', 'EyeLeft', 'EyeRight'];
  for (const [i, name] of names.entries()) {
    const mesh = part(name);
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
    );
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
  for (const encoding of ENCODINGS) {
    const boneTexture = bakeBoneTexture(root, clips, { encoding: encodingOf(encoding) });
    expect(boneTexture.morphNames).toHaveLength(count);
    for (const options of [{ encoding: encodingOf(encoding) }, { boneTexture }]) {
      const crowd = new SkinnedInstancedMesh(...crowdArguments(root, clips, 1, options));
      expect(crowd.geometry.morphAttributes.position).toHaveLength(count);
      expect(values(addLevel(crowd, createLevel(crowd, root), 10))).toEqual(values(crowd));
      crowd.updateMatrixWorld(true);
      for (const time of [0, 0.25, 0.5, 1]) {
        crowd.play(0, 'Talk', { ...LoopOnceOptions, time });
        const { root: posed } = new Reference(root, new Matrix4()).pose(clips[0], time);
        expect(offFrom(posed, crowd)).toBeLessThan(1e-3);
      }
    }
  }
  const still = new SkinnedInstancedMesh(bakeCharacter(root, []), 1);
  expect(still.geometry.morphAttributes.position).toHaveLength(70);
});
