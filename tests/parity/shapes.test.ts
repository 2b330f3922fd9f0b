import {
  AnimationClip,
  Bone,
  Float32BufferAttribute,
  Group,
  InterleavedBuffer,
  InterleavedBufferAttribute,
  type KeyframeTrack,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  type Object3D,
  QuaternionKeyframeTrack,
  Skeleton,
  SkinnedMesh,
  SphereGeometry,
  Uint8BufferAttribute,
  Uint16BufferAttribute,
  VectorKeyframeTrack,
  WebGLRenderer,
} from 'three';
import { afterAll, expect, test, vi } from 'vitest';
import { bakeBoneTexture, frames } from '../support/library.js';
import { measureTextures, webGLCapture } from '../support/parity.js';
import { random } from '../support/random.js';

const renderer = new WebGLRenderer();
afterAll(() => renderer.dispose());

interface Shape {
  root: Group;
  bones: Bone[];
  mesh: SkinnedMesh;
}

/** A chain of four bones in a sleeve of 120 vertices with random weights on all four. */
function createChain(seed: number): Shape {
  const next = random(seed);
  const root = new Group();
  root.name = 'Root';
  const bones = ['A', 'B', 'C', 'D'].map((name) => Object.assign(new Bone(), { name }));
  bones.forEach((bone, i) => {
    bone.position.set(next() * 0.2, i === 0 ? 0.1 : 0.4, next() * 0.2);
    bone.rotation.set(next(), next(), next());
    if (i > 0) bones[i - 1].add(bone);
  });
  root.add(bones[0]);

  const geometry = new SphereGeometry(1, 12, 9).scale(0.3, 0.8, 0.3).translate(0, 0.8, 0);
  const { count } = geometry.getAttribute('position');
  const indices = new Uint16Array(count * 4);
  const weights = new Float32Array(count * 4);
  for (let i = 0; i < count; i++) {
    const four = [next(), next(), next() < 0.5 ? 0 : next(), next() < 0.7 ? 0 : next()];
    const sum = four.reduce((a, b) => a + b);
    for (let j = 0; j < 4; j++) {
      indices[i * 4 + j] = (i + j) % 4;
      weights[i * 4 + j] = four[j] / sum;
    }
  }
  geometry.setAttribute('skinIndex', new Uint16BufferAttribute(indices, 4));
  geometry.setAttribute('skinWeight', new Float32BufferAttribute(weights, 4));
  const mesh = new SkinnedMesh(geometry, new MeshStandardMaterial());
  mesh.name = 'Sleeve';
  root.add(mesh);
  root.updateMatrixWorld(true);
  mesh.bind(new Skeleton(bones));
  return { root, bones, mesh };
}

function turn(name: string, seed: number, keys = 4, duration = 1): KeyframeTrack {
  const next = random(seed);
  const values: number[] = [];
  for (let i = 0; i < keys; i++) {
    const q = [next() - 0.5, next() - 0.5, next() - 0.5, 1 + next()];
    const length = Math.hypot(...q);
    values.push(...q.map((x) => x / length));
  }
  const times = Array.from({ length: keys }, (_, i) => (i / (keys - 1)) * duration);
  return new QuaternionKeyframeTrack(`${name}.quaternion`, times, values);
}

function move(name: string, property: 'position' | 'scale', values: number[], duration = 1): KeyframeTrack {
  const keys = values.length / 3;
  const times = Array.from({ length: keys }, (_, i) => (i / (keys - 1)) * duration);
  return new VectorKeyframeTrack(`${name}.${property}`, times, values);
}

const bend = () => [
  turn('A', 1),
  turn('B', 2),
  turn('C', 3),
  move('A', 'position', [0, 0, 0, 0.3, 0.2, 0, 0, 0.4, 0.1]),
];

/** Compares skinning matrices on frames, and what `'auto'` chooses at any time if that is tracks. */
async function expectParity(root: Object3D, clips: AnimationClip[]): Promise<void> {
  const boneTexture = bakeBoneTexture(root, clips, { encoding: frames, fps: 24 });
  const chosen = bakeBoneTexture(root, clips);
  for (const texture of chosen.encoding === 'tracks' ? [boneTexture, chosen] : [boneTexture]) {
    const [measured] = await measureTextures(webGLCapture(renderer), root, clips, [texture]);
    for (const [clip, errors] of measured) {
      // Curves are sampled.
      const stated = texture.data.tracks?.clips[texture.clipIndex(clip)].error ?? 0;
      const label = `${clip}, ${texture.encoding}`;
      expect(errors.onFrames, `${label}, on frames`).toBeLessThanOrEqual(1e-5);
      expect(errors.twin, `${label}, CPU twin`).toBeLessThanOrEqual(1e-5);
      if (texture === chosen)
        expect(errors.between, `${label}, between`).toBeLessThanOrEqual(1e-5 + 2 * stated);
    }
    texture.dispose();
  }
}

const shapes: Record<string, () => { root: Object3D; clips: AnimationClip[] }> = {
  'two skins of different size and a rigid piece under a bone': () => {
    const { root, bones } = createChain(12);
    const other = createChain(13);
    const few = new Skeleton([bones[1], bones[3]]);
    const piece = new SkinnedMesh(other.mesh.geometry.clone().translate(1, 0, 0), new MeshStandardMaterial());
    const index = piece.geometry.getAttribute('skinIndex');
    for (let i = 0; i < index.array.length; i++) index.array[i] %= 2;
    root.add(piece);
    root.updateMatrixWorld(true);
    piece.bind(few);
    const helmet = new Mesh(new SphereGeometry(0.2, 6, 5), new MeshStandardMaterial());
    helmet.position.y = 0.3;
    helmet.scale.set(1, 1.5, 1);
    bones[3].add(helmet);
    return { root, clips: [new AnimationClip('Bend', 1, bend())] };
  },

  'no index and no normals': () => {
    const { root, mesh } = createChain(14);
    const plain = mesh.geometry.toNonIndexed();
    plain.deleteAttribute('normal');
    mesh.geometry = plain;
    return { root, clips: [new AnimationClip('Bend', 1, bend())] };
  },

  'quantized and interleaved attributes': () => {
    const { root, mesh } = createChain(16);
    const { geometry } = mesh;
    const { count } = geometry.getAttribute('position');
    // positions within -2 to 2 as normalised shorts beside four bytes of padding, as gltfpack writes them
    const data = new InterleavedBuffer(new Int16Array(count * 4), 4);
    const position = new InterleavedBufferAttribute(data, 3, 0, true);
    const old = geometry.getAttribute('position');
    for (let i = 0; i < count; i++) {
      position.setXYZ(i, old.getX(i) / 2, old.getY(i) / 2, old.getZ(i) / 2);
    }
    geometry.setAttribute('position', position);
    const weights = new Uint8BufferAttribute(new Uint8Array(count * 4), 4, true);
    for (let i = 0; i < count; i++) weights.setXYZW(i, 0.6, 0.2, 0.2, 0);
    geometry.setAttribute('skinWeight', weights);
    mesh.bind(mesh.skeleton, new Matrix4().makeScale(2, 2, 2));
    return { root, clips: [new AnimationClip('Bend', 1, bend())] };
  },

  'centimetres under a root that scales them away, and a material for every triangle': () => {
    const { root, bones, mesh } = createChain(17);
    const armature = new Group();
    armature.name = 'Armature';
    armature.scale.setScalar(0.01);
    armature.add(bones[0]);
    root.add(armature);
    bones[0].position.multiplyScalar(100);
    for (const bone of bones.slice(1)) bone.position.multiplyScalar(100);
    root.updateMatrixWorld(true);
    mesh.bind(new Skeleton(bones));
    const triangles = Math.floor((mesh.geometry.index?.count ?? 0) / 3);
    mesh.geometry.clearGroups();
    mesh.material = Array.from({ length: 59 }, (_, i) => {
      mesh.geometry.addGroup(i * 3, i === 58 ? (triangles - 58) * 3 : 3, i);
      return new MeshStandardMaterial({ color: i * 4000 });
    }) as never;
    return { root, clips: [new AnimationClip('Bend', 1, [turn('A', 1), turn('B', 2), turn('C', 3)])] };
  },

  'names with dots, pipes and spaces': () => {
    const { root, bones } = createChain(15);
    bones[1].name = 'Arm|L.001';
    bones[2].name = 'fore arm';
    const tracks = [turn('Arm|L.001', 3), turn('fore arm', 4)];
    return { root, clips: [new AnimationClip('Rig|Walk.001', 1, tracks)] };
  },
};

test.each(Object.keys(shapes))('%s', async (name) => {
  const { root, clips } = shapes[name]();
  await expectParity(root, clips);
});

test('of eight joints a vertex the first four count, as three.js has it', async () => {
  const { root, mesh } = createChain(30);
  const { geometry } = mesh;
  const { count } = geometry.getAttribute('position');
  const set = (name: string, values: number[]) =>
    geometry.setAttribute(
      name,
      new Float32BufferAttribute(Array.from({ length: count }, () => values).flat(), 4),
    );
  set('skinIndex', [0, 1, 2, 3]);
  // As GLTFLoader leaves them: the first four brought to 1, of 0.3, 0.1, 0.05 and 0.05.
  set('skinWeight', [0.6, 0.2, 0.1, 0.1]);
  set('joints_1', [3, 2, 1, 0]);
  set('weights_1', [0.28, 0.22, 0, 0]);
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  await expectParity(root, [new AnimationClip('Bend', 1, bend())]);
  expect(warn).not.toHaveBeenCalled();
});

test('a texture that wraps into several columns', async () => {
  const { root } = createChain(21);
  const clips = [new AnimationClip('Bend', 1, bend()), new AnimationClip('Again', 2, bend())];
  const boneTexture = bakeBoneTexture(root, clips, { encoding: frames, maxTextureSize: 48 });
  expect(boneTexture.layout.height).toBeLessThanOrEqual(48);
  expect(boneTexture.layout.width).toBeGreaterThan(boneTexture.layout.stride);
  const { width, height, stride } = boneTexture.layout;
  const unused = (width / stride) * height - boneTexture.frameCount;
  expect(unused, 'frames of room that is not used').toBeLessThan(width / stride);
  const [measured] = await measureTextures(webGLCapture(renderer), root, clips, [boneTexture]);
  for (const errors of measured.values()) {
    expect(errors.onFrames).toBeLessThanOrEqual(1e-5);
    expect(errors.twin).toBeLessThanOrEqual(1e-5);
  }
});
