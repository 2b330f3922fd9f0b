import {
  AnimationClip,
  AnimationUtils,
  Bone,
  type BufferGeometry,
  DetachedBindMode,
  Float32BufferAttribute,
  Group,
  InterleavedBuffer,
  InterleavedBufferAttribute,
  InterpolateDiscrete,
  InterpolateSmooth,
  type KeyframeTrack,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  NumberKeyframeTrack,
  type Object3D,
  QuaternionKeyframeTrack,
  Skeleton,
  SkinnedMesh,
  SphereGeometry,
  Uint8BufferAttribute,
  Uint16BufferAttribute,
  Vector3,
  VectorKeyframeTrack,
  WebGLRenderer,
} from 'three';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { bakeTexels } from '../support/bakeTexels.js';
import { BoneTexture, SkinnedInstancedMesh } from '../support/library.js';
import { measureVertices, webGLCapture } from '../support/parity.js';
import { random } from '../support/random.js';
import { Reference } from '../support/reference.js';

let renderer: WebGLRenderer;
beforeAll(() => {
  renderer = new WebGLRenderer();
});
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
  return new QuaternionKeyframeTrack(`${name}.quaternion`, times, values) as KeyframeTrack;
}

function move(name: string, property: 'position' | 'scale', values: number[], duration = 1): KeyframeTrack {
  const keys = values.length / 3;
  const times = Array.from({ length: keys }, (_, i) => (i / (keys - 1)) * duration);
  return new VectorKeyframeTrack(`${name}.${property}`, times, values) as KeyframeTrack;
}

const bend = () => [
  turn('A', 1),
  turn('B', 2),
  turn('C', 3),
  move('A', 'position', [0, 0, 0, 0.3, 0.2, 0, 0, 0.4, 0.1]),
];

/** Compares skinning matrices on frames, and what `'auto'` chooses at any time if that is tracks. Returns the former. */
async function expectParity(
  root: Object3D,
  clips: AnimationClip[],
  encoding?: 'matrix' | 'quaternion',
): Promise<BoneTexture> {
  const boneTexture = encoding
    ? BoneTexture.bake(root, clips, { encoding, fps: 24 })
    : bakeTexels(root, clips, { fps: 24 });
  const chosen = BoneTexture.bake(root, clips);
  for (const texture of chosen.encoding === 'tracks' ? [boneTexture, chosen] : [boneTexture]) {
    for (const [clip, errors] of await measureVertices(webGLCapture(renderer), root, clips, texture)) {
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
  return boneTexture;
}

const shapes: Record<
  string,
  () => { root: Object3D; clips: AnimationClip[]; encoding?: 'matrix' | 'quaternion' }
> = {
  'a plain chain': () => ({ root: createChain(1).root, clips: [new AnimationClip('Bend', 1, bend())] }),

  'a bind matrix that is not the identity': () => {
    const { root, mesh } = createChain(2);
    const { skeleton } = mesh;
    mesh.geometry.scale(50, 50, 50).rotateX(1);
    mesh.bind(skeleton, new Matrix4().makeRotationX(-1).scale(mesh.scale.clone().setScalar(0.02)));
    return { root, clips: [new AnimationClip('Bend', 1, bend())] };
  },

  'a mesh node with its own transform, attached': () => {
    const { root, mesh } = createChain(3);
    mesh.position.set(1, 2, 3);
    mesh.rotation.set(0.3, 0.2, 0.1);
    mesh.scale.setScalar(2);
    return { root, clips: [new AnimationClip('Bend', 1, bend())] };
  },

  'bones whose parents are plain nodes': () => {
    const { root, bones } = createChain(4);
    const between = new Group();
    between.name = 'Between';
    between.position.set(0.3, 0.1, 0);
    between.rotation.z = 0.7;
    bones[1].parent?.add(between);
    between.add(bones[1]);
    return { root, clips: [new AnimationClip('Bend', 1, [...bend(), turn('Between', 9)])] };
  },

  'a root with its own scale and rotation': () => {
    const { root } = createChain(5);
    root.position.set(4, 5, 6);
    root.rotation.set(1, 2, 3);
    root.scale.setScalar(0.01);
    root.children[0].scale.setScalar(100);
    return { root, clips: [new AnimationClip('Bend', 1, bend())] };
  },

  'non-uniform scale, which falls back to matrices': () => ({
    root: createChain(6).root,
    clips: [
      new AnimationClip('Squash', 1, [...bend(), move('B', 'scale', [1, 1, 1, 1.5, 0.5, 1.2, 1, 1, 1])]),
    ],
    encoding: 'matrix' as const,
  }),

  'negative scale, which falls back to matrices': () => {
    const { root, bones } = createChain(7);
    bones[2].scale.x = -1;
    return { root, clips: [new AnimationClip('Bend', 1, bend())], encoding: 'matrix' as const };
  },

  'uniform scale that changes and vanishes, as quaternions': () => ({
    root: createChain(8).root,
    clips: [
      new AnimationClip('Shrink', 1, [
        turn('A', 5),
        move('C', 'scale', [1, 1, 1, 0.5, 0.5, 0.5, 0, 0, 0, 0, 0, 0, 2, 2, 2]),
      ]),
    ],
    encoding: 'quaternion' as const,
  }),

  'step tracks': () => {
    const stepped = turn('B', 12, 5);
    stepped.setInterpolation(InterpolateDiscrete);
    return { root: createChain(9).root, clips: [new AnimationClip('Stepped', 1, [stepped, turn('C', 4)])] };
  },

  'tracks of single axes': () => ({
    root: createChain(10).root,
    clips: [
      new AnimationClip('Axes', 1, [
        new NumberKeyframeTrack('B.rotation[x]', [0, 1], [0.2, 1]) as KeyframeTrack,
        new NumberKeyframeTrack('B.rotation[z]', [0, 1], [0, -0.7]) as KeyframeTrack,
        new NumberKeyframeTrack('C.position[y]', [0, 1], [0.2, 0.6]) as KeyframeTrack,
      ]),
    ],
  }),

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
    mesh.geometry = plain as BufferGeometry;
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

  'rigid pieces under a node that stands still, and under one that clips move': () => {
    const { root } = createChain(18);
    for (const name of ['Still', 'Moved']) {
      const node = new Group();
      node.name = name;
      node.position.set(0.5, 0.2, 0);
      const piece = new Mesh(new SphereGeometry(0.2, 6, 5), new MeshStandardMaterial());
      piece.name = `${name} piece`;
      piece.position.x = 0.2;
      node.add(piece);
      root.add(node);
    }
    return { root, clips: [new AnimationClip('Bend', 1, [...bend(), turn('Moved', 6)])] };
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
  const { root, clips, encoding } = shapes[name]();
  const boneTexture = await expectParity(root, clips);
  if (encoding) expect(boneTexture.encoding).toBe(encoding);
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
  warn.mockRestore();
});

test('a clip that moves the root itself keeps its motion relative to how the root stood', () => {
  const { root } = createChain(11);
  root.position.set(1, 0, 0);
  const clips = [new AnimationClip('Drive', 1, [...bend(), move('Root', 'position', [1, 0, 0, 3, 1, 0])])];
  const boneTexture = BoneTexture.bake(root, clips);
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { boneTexture });
  root.updateMatrix();
  crowd.setMatrixAt(0, root.matrix);
  crowd.play(0, 'Drive', { time: 0.5 });
  const reference = new Reference(root).pose(clips[0], 0.5);
  const vertex = new Vector3();
  reference.forEachVertex((i, position) => {
    expect(crowd.getVertexPositionAt(0, i, vertex).distanceTo(position)).toBeLessThan(1e-5);
  });
});

test.each([
  ['quaternion', 1e-5],
  // Curves are sampled.
  ['tracks', 1e-4],
] as const)('smooth tracks are baked as a loop that goes on sees them, encoding %s', (encoding, bound) => {
  const { root } = createChain(9);
  const smooth = move('A', 'position', [0, 0, 0, 0.5, 0.2, 0, 0, 0.4, 0.1, 0, 0, 0]);
  smooth.setInterpolation(InterpolateSmooth);
  const clips = [new AnimationClip('Smooth', 1, [smooth, turn('C', 4)])];
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { encoding });
  const reference = new Reference(root, new Matrix4());
  const vertex = new Vector3();
  for (const time of [0.1, 0.5, 0.9]) {
    reference.mixer.stopAllAction();
    reference.mixer.clipAction(clips[0]).reset().play();
    reference.mixer.update(1 + time);
    reference.root.updateMatrixWorld(true);
    crowd.play(0, 'Smooth', { time });
    reference.forEachVertex((i, position) => {
      expect(crowd.getVertexPositionAt(0, i, vertex).distanceTo(position)).toBeLessThan(bound);
    });
  }
});

test('a coarser geometry of the same skeleton shares the bone texture', async () => {
  const clips = [new AnimationClip('Bend', 1, bend())];
  const boneTexture = BoneTexture.bake(createChain(1).root, clips, { fps: 24 });
  const { root, mesh } = createChain(1);
  // larger too, so that the boxes that were baked do not hold it
  const coarse = new SphereGeometry(1, 5, 4).scale(0.5, 1.2, 0.5).translate(0, 0.8, 0);
  const { count } = coarse.getAttribute('position');
  const joints = Uint16Array.from({ length: count * 4 }, (_, i) => (i + (i >> 2)) % 4);
  const weights = Float32Array.from({ length: count * 4 }, (_, i) => [0.5, 0.3, 0.2, 0][i % 4]);
  coarse.setAttribute('skinIndex', new Uint16BufferAttribute(joints, 4));
  coarse.setAttribute('skinWeight', new Float32BufferAttribute(weights, 4));
  mesh.geometry = coarse;
  for (const errors of (await measureVertices(webGLCapture(renderer), root, clips, boneTexture)).values()) {
    expect(errors.onFrames).toBeLessThanOrEqual(1e-5);
    expect(errors.twin).toBeLessThanOrEqual(1e-5);
  }
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { boneTexture });
  crowd.computeBoundingBox();
  const reference = new Reference(root, new Matrix4());
  for (const time of [0, 0.25, 0.5, 1]) {
    reference.pose(clips[0], time).forEachVertex((_, position) => {
      expect(crowd.boundingBox?.clone().expandByScalar(1e-4).containsPoint(position)).toBe(true);
    });
  }
});

test('additive clips are added to the rest pose', async () => {
  const { root } = createChain(23);
  const clip = AnimationUtils.makeClipAdditive(
    new AnimationClip('Nod', 1, [turn('B', 2), move('A', 'position', [0, 0, 0, 0.2, 0.1, 0])]),
  );
  for (const errors of (
    await measureVertices(webGLCapture(renderer), root, [clip], BoneTexture.bake(root, [clip]))
  ).values()) {
    expect(errors.onFrames).toBeLessThanOrEqual(1e-5);
  }
});

test('detached bind mode', async () => {
  // Bones are read relative to the root; three.js reads them in the world, so root and instance stand at its origin.
  const { root, mesh } = createChain(20);
  mesh.bindMode = DetachedBindMode;
  mesh.position.set(0.5, 0.2, 0.1);
  mesh.bindMatrix.makeTranslation(0.1, 0.2, 0.3);
  root.updateMatrixWorld(true);
  const clips = [new AnimationClip('Bend', 1, bend())];
  const boneTexture = BoneTexture.bake(root, clips);
  for (const errors of (
    await measureVertices(webGLCapture(renderer), root, clips, boneTexture, new Matrix4())
  ).values()) {
    expect(errors.onFrames).toBeLessThanOrEqual(1e-5);
  }
});

test('a texture that wraps into several columns', async () => {
  const { root } = createChain(21);
  const clips = [new AnimationClip('Bend', 1, bend()), new AnimationClip('Again', 2, bend())];
  for (const encoding of ['matrix', 'quaternion'] as const) {
    const boneTexture = BoneTexture.bake(root, clips, { encoding, maxTextureSize: 48 });
    expect(boneTexture.layout.height).toBeLessThanOrEqual(48);
    expect(boneTexture.layout.width).toBeGreaterThan(boneTexture.layout.stride);
    const { width, height, stride } = boneTexture.layout;
    const unused = (width / stride) * height - boneTexture.frameCount;
    expect(unused, 'frames of room that is not used').toBeLessThan(width / stride);
    for (const errors of (await measureVertices(webGLCapture(renderer), root, clips, boneTexture)).values()) {
      expect(errors.onFrames).toBeLessThanOrEqual(1e-5);
      expect(errors.twin).toBeLessThanOrEqual(1e-5);
    }
  }
});

test('glTF CUBICSPLINE tracks', async () => {
  const { GLTFLoader } = await import('three-stdlib');
  const values = [
    0, 0, 0, 0, 0, 0, 0.1, 0, 0, 0.2, 0, 0, 0.5, 0.4, 0, 0, 0.2, 0, 0, 0, 0, 0, 0.3, 0.2, 0, 0, 0,
  ];
  const data = new Float32Array([0, 0.4, 1, ...values]);
  const url = `data:application/octet-stream;base64,${btoa(String.fromCharCode(...new Uint8Array(data.buffer)))}`;
  const gltf = await new GLTFLoader().parseAsync(
    JSON.stringify({
      asset: { version: '2.0' },
      scene: 0,
      scenes: [{ nodes: [0] }],
      nodes: [{ name: 'A' }],
      buffers: [{ uri: url, byteLength: data.byteLength }],
      bufferViews: [{ buffer: 0, byteLength: data.byteLength }],
      accessors: [
        { bufferView: 0, componentType: 5126, count: 3, type: 'SCALAR', min: [0], max: [1] },
        { bufferView: 0, byteOffset: 12, componentType: 5126, count: 9, type: 'VEC3' },
      ],
      animations: [
        {
          name: 'Spline',
          samplers: [{ input: 0, output: 1, interpolation: 'CUBICSPLINE' }],
          channels: [{ sampler: 0, target: { node: 0, path: 'translation' } }],
        },
      ],
    }),
    '',
  );
  const { root } = createChain(22);
  await expectParity(root, gltf.animations);
});
