import { MeshoptDecoder } from 'meshoptimizer';
import type { BakeOptions } from 'skinned-instanced-mesh';
import {
  bakedCharactersOf,
  type LoadedCharacter,
  SkinnedInstancedMeshExtension,
  type WriteOptions,
  writeCharacter,
} from 'skinned-instanced-mesh/files';
import { bakeVertexCharacter, VertexTexture } from 'skinned-instanced-mesh/vertex-textures';
import {
  AnimationClip,
  Bone,
  BoxGeometry,
  Float32BufferAttribute,
  Group,
  Mesh,
  MeshStandardMaterial,
  type Object3D,
  QuaternionKeyframeTrack,
  Skeleton,
  SkinnedMesh,
  Texture,
  Uint16BufferAttribute,
  VectorKeyframeTrack,
} from 'three';
import { type GLTF, GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import {
  bakeCharacter,
  type Character,
  ENCODINGS,
  encodingOf,
  extractRootMotion,
  frames,
  mergeMaterials,
} from './library.js';
import { createMorphingStick, createStick } from './stick.js';

/** Keys at no frame rate. */
const ODD = [0, 0.1 + 0.1 / 3, 0.6, 1];

/** What a `GLTFLoader` makes of a file, with empty textures. */
export async function loadFile(
  file: ArrayBuffer | Uint8Array,
  options: object = { vertexTextures: VertexTexture, frames, mergeMaterials },
  Loader: unknown = GLTFLoader,
): Promise<GLTF> {
  const loader = new (Loader as typeof GLTFLoader)().setMeshoptDecoder(MeshoptDecoder);
  loader.register(() => ({ name: 'no images', loadTexture: async () => new Texture() }));
  loader.register((parser) => new SkinnedInstancedMeshExtension(parser, options));
  const bytes = new Uint8Array(file);
  return loader.parseAsync(bytes.slice().buffer, '');
}

/** The characters of a file. */
export const charactersOf = async (file: ArrayBuffer | Uint8Array): Promise<readonly LoadedCharacter[]> =>
  bakedCharactersOf(await loadFile(file));

/** A character as it is when it has been in a file. */
export async function throughFile(
  character: Character,
  options: WriteOptions = {},
): Promise<LoadedCharacter> {
  return (await charactersOf(writeCharacter(character, options)))[0];
}

/** A character of every kind that there is, by the name of its kind. */
export function bakeEveryKind(): Record<string, Character> {
  const made: Record<string, Character> = {};
  const add = (
    kind: string,
    { root, clips }: { root: Object3D; clips: AnimationClip[] },
    options: BakeOptions,
  ) => {
    made[kind] = bakeCharacter(root, clips, options);
    return made[kind].boneTexture;
  };
  for (const encoding of ENCODINGS) {
    for (const precision of ['float', 'half'] as const) {
      add(`${encoding}-${precision}`, createArm(), { encoding: encodingOf(encoding), precision, fps: 10 })
        .addMarker('Wave', 0.25, 'up')
        .addMarker('Wave', 0.75, 'down – ☟');
    }
  }
  for (const encoding of ENCODINGS) {
    add(`morphs-${encoding}`, createMorphingStick(), { encoding: encodingOf(encoding), fps: 10 });
  }
  const walk = createStick({ Slide: 0.5, Other: 0.2 });
  const rootMotion = extractRootMotion({ joint: 'Tip' });
  add('root-motion-tracks', walk, { rootMotion, precision: 'half' });
  const columns = { sockets: ['Stick'], maxTextureSize: 20 };
  add('root-motion-frames', walk, { rootMotion, encoding: frames, ...columns });
  add('rest-pose', { root: walk.root, clips: [] }, {});
  const slow = new QuaternionKeyframeTrack(
    'Elbow.quaternion',
    ODD,
    [0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1],
  );
  add('odd-times', { root: createArm().root, clips: [new AnimationClip('Odd', 1, [slow])] }, {});
  add('mirrored', createFlatBox(), { encoding: frames, fps: 10 });
  add('detached', createArm('detached'), { encoding: frames, fps: 10 });
  return made;
}

/** Characters of vertex textures of both precisions, of the same waving arm. */
export function bakeVertices(): Record<string, Character> {
  const { root, clips } = createArm();
  const half = bakeVertexCharacter(root, clips, { fps: 10 });
  half.boneTexture.addMarker('Wave', 0.25, 'up');
  const float = bakeVertexCharacter(root, clips, { fps: 10, precision: 'float', normals: 'none' });
  return { 'vertices-half': half, 'vertices-float': float };
}

/** Three bones and a box on them, which wave. */
export function createArm(bindMode: 'attached' | 'detached' = 'attached') {
  const root = new Group();
  root.name = 'Arm';
  const bones = ['Shoulder', 'Elbow', 'Wrist'].map((name) => Object.assign(new Bone(), { name }));
  root.add(bones[0]);
  bones[0].add(bones[1].translateY(1));
  bones[1].add(bones[2].translateY(1));
  const geometry = new BoxGeometry(0.2, 3, 0.2, 1, 3, 1);
  const { count } = geometry.getAttribute('position');
  const indices = new Uint16Array(count * 4);
  const weights = new Float32Array(count * 4);
  for (let i = 0; i < count; i++) {
    const y = geometry.getAttribute('position').getY(i);
    indices[i * 4] = Math.min(2, Math.max(0, Math.round(y + 1.5)));
    weights[i * 4] = 1;
  }
  geometry.setAttribute('skinIndex', new Uint16BufferAttribute(indices, 4));
  geometry.setAttribute('skinWeight', new Float32BufferAttribute(weights, 4));
  const mesh = Object.assign(new SkinnedMesh(geometry, new MeshStandardMaterial()), {
    name: 'Sleeve',
    bindMode,
  });
  root.add(mesh);
  root.updateMatrixWorld(true);
  mesh.bind(new Skeleton(bones));
  const turn = (name: string, s: number, c: number) =>
    new QuaternionKeyframeTrack(`${name}.quaternion`, [0, 0.5, 1], [0, 0, 0, 1, 0, 0, s, c, 0, 0, 0, 1]);
  const clips = [
    new AnimationClip('Wave', 1, [turn('Elbow', 0.6, 0.8), turn('Wrist', -0.28, 0.96)]),
    new AnimationClip('Hop', 0.5, [
      new VectorKeyframeTrack('Shoulder.position', [0, 0.5], [0, 0, 0, 0, 0.3, 0]),
    ]),
    new AnimationClip('Pose', 0, [new QuaternionKeyframeTrack('Shoulder.quaternion', [0], [0, 0, 0.6, 0.8])]),
  ];
  return { root, clips };
}

/** A box that is mirrored by one clip, and has joints of its own therefore. */
function createFlatBox() {
  const root = new Group();
  const box = Object.assign(new Mesh(new BoxGeometry(), new MeshStandardMaterial()), { name: 'Box' });
  root.add(box);
  const clips = [
    new AnimationClip('Flip', 1, [new VectorKeyframeTrack('Box.scale', [0, 1], [1, 1, 1, -1, 1, 1])]),
  ];
  return { root, clips };
}
