import {
  bakeVertexTexture,
  bakeVertexTextureAsync,
  type VertexTexture,
} from 'skinned-instanced-mesh/vertex-textures';
import {
  type AnimationClip,
  Box3,
  Float32BufferAttribute,
  Group,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  type Object3D,
  PlaneGeometry,
  Texture,
  Vector3,
} from 'three';
import { describe, expect, test, vi } from 'vitest';
import { createArm } from '../../support/bakedFiles.js';
import {
  assembleCharacter,
  getVertexPosition,
  LoopOnceOptions,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { loadModel, modelNames } from '../../support/models.js';
import { random } from '../../support/random.js';
import { createFlag, createMorphing, mixerVertices, verticesOf } from '../../support/vertexSources.js';

const FPS = 20;

/** The source's vertices at each frame of a clip, and the longest side of the box around them. */
type FramesOf = (time: number) => Vector3[];

/** Largest distances of a crowd on the CPU from its source at random times: on frames, and from the mix of two frames between. */
function measure(
  object: Object3D,
  texture: VertexTexture,
  clip: number,
  framesOf: FramesOf,
  seed: number,
  rounds = 6,
): { onFrames: number; between: number } {
  const dice = random(seed);
  const crowd = new SkinnedInstancedMesh(assembleCharacter(object, texture), 2);
  const place = new Matrix4()
    .makeRotationY(1)
    .setPosition(4, 5, 6)
    .scale(new Vector3(2, 2, 2));
  crowd.setMatrixAt(1, place);
  const { count, duration } = texture.clips[clip];
  const vertex = new Vector3();
  let [onFrames, between, size] = [0, 0, 0];
  for (let i = 0; i < rounds; i++) {
    const frame = Math.floor(dice() * (count - 1));
    const alpha = i % 2 === 0 ? 0 : dice();
    const time = ((frame + alpha) / (count - 1)) * duration;
    crowd.play(1, clip, { time, ...LoopOnceOptions });
    const first = framesOf((frame / (count - 1)) * duration);
    const second = framesOf(((frame + 1) / (count - 1)) * duration);
    size = Math.max(size, ...new Box3().setFromPoints(first).getSize(new Vector3()).toArray());
    expect(first.length).toBe(crowd.geometry.getAttribute('position').count);
    first.forEach((from, v) => {
      const wanted = from.lerp(second[v], alpha).applyMatrix4(place);
      const error = getVertexPosition(crowd, 1, v, vertex).distanceTo(wanted) / 2;
      if (alpha === 0) onFrames = Math.max(onFrames, error);
      else between = Math.max(between, error);
    });
  }
  crowd.dispose();
  return { onFrames: onFrames / size, between: between / size };
}

describe.each(['half', 'float'] as const)('precision %s', (precision) => {
  const limit = precision === 'half' ? 1e-4 : 1e-6;

  test('rigid meshes under nodes that move, with many morph targets, are where three.js has them', () => {
    const { root, clips } = createMorphing();
    const texture = bakeVertexTexture(root, clips, { fps: FPS, precision });
    clips.forEach((clip: AnimationClip, i) => {
      const { onFrames, between } = measure(
        root,
        texture,
        i,
        (time) => mixerVertices(root, clip, time),
        i + 3,
      );
      expect(onFrames).toBeLessThan(limit);
      expect(between).toBeLessThan(limit);
    });
  });

  test('what code poses is where the code has put it', () => {
    const { flag, wave } = createFlag();
    const texture = bakeVertexTexture(flag, wave, { fps: FPS, duration: 1, precision });
    const framesOf = (time: number) => {
      wave(time);
      return verticesOf(flag);
    };
    const { onFrames, between } = measure(flag, texture, 0, framesOf, 5);
    expect(onFrames).toBeLessThan(limit);
    expect(between).toBeLessThan(limit);
  });
});

test('bones that code moves carry the vertices', () => {
  const { root } = createArm();
  root.position.set(1, 2, 3);
  new Group().add(root).scale.setScalar(2);
  const elbow = root.getObjectByName('Elbow')!;
  const pose = (time: number) => elbow.rotation.set(0, time, 2 * time);
  const framesOf = (time: number) => {
    pose(time);
    root.updateWorldMatrix(true, true);
    return verticesOf(root);
  };
  const texture = bakeVertexTexture(root, pose, { fps: FPS, duration: 1 });
  const { onFrames, between } = measure(root, texture, 0, framesOf, 4);
  expect(onFrames).toBeLessThan(1e-4);
  expect(between).toBeLessThan(1e-4);
});

test.each(await modelNames())('%s is where three.js has it', async (file) => {
  const { root, clips } = await loadModel(file);
  // The clip that moves the most nodes, and a few frames of it.
  const clip = clips.reduce((a, b) => (b.tracks.length > a.tracks.length ? b : a));
  const texture = bakeVertexTexture(root, [clip], { fps: 4 / clip.duration });
  const { onFrames, between } = measure(root, texture, 0, (time) => mixerVertices(root, clip, time), 2, 2);
  expect(onFrames).toBeLessThan(1e-4);
  expect(between).toBeLessThan(1e-4);
});

test('the object is afterwards as it was', () => {
  const { root, clips } = createMorphing();
  root.updateMatrixWorld(true);
  const before = verticesOf(root);
  bakeVertexTexture(root, clips, { fps: 5 });
  root.updateMatrixWorld(true);
  expect(verticesOf(root)).toEqual(before);

  const { flag, wave } = createFlag();
  flag.updateMatrixWorld(true);
  const still = verticesOf(flag);
  bakeVertexTexture(flag, wave, { fps: 5, duration: 1 });
  expect(verticesOf(flag)).toEqual(still);
});

test('errors say how far frames are off, and the middle between two', () => {
  const { flag, wave } = createFlag();
  const options = { duration: 1, name: 'Wave', fps: 10 };
  const {
    errors: [plain],
  } = bakeVertexTexture(flag, wave, options);
  expect(plain.between).toBeNull();
  const {
    errors: [error],
  } = bakeVertexTexture(flag, wave, { ...options, measure: true });
  expect(error.clip).toBe('Wave');
  expect(error.stored).toBeGreaterThan(0);
  expect(error.stored).toBeLessThan(1e-5);
  // A sine of amplitude 0.9 that is sampled ten times a turn: its chords are off by 0.9 (1 - cos(pi / 10)).
  const {
    clips: [{ bounds }],
  } = bakeVertexTexture(flag, wave, options);
  const size = Math.max(bounds[3] - bounds[0], bounds[4] - bounds[1], bounds[5] - bounds[2]);
  const most = (0.906 * (1 - Math.cos(Math.PI / 10))) / size;
  expect(error.between).toBeLessThan(most * 1.01);
  expect(error.between).toBeGreaterThan(most * 0.8);
  const {
    errors: [exact],
  } = bakeVertexTexture(flag, wave, { ...options, precision: 'float' });
  expect(exact.stored).toBeLessThan(1e-9);
});

test.each([{ precision: 'half' }, { precision: 'float' }, { clips: ['Hop', 'Pose'] }] as const)(
  'whoever moves and poses the object between slices changes nothing, %o',
  async (options) => {
    const { root, clips } = createArm();
    const chosen = { ...options, fps: 40 };
    root.rotation.y = 2;
    const wanted = bakeVertexTexture(root, clips, chosen).vertexData;
    expect(root.rotation.y).toBe(2);
    const joints = ['Shoulder', 'Elbow'].map((name) => root.getObjectByName(name)!);
    // Each look at the clock takes so long that every step is a slice.
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 1000));
    let turns = 0;
    const baked = await bakeVertexTextureAsync(root, clips, {
      ...chosen,
      onProgress: () => {
        turns++;
        root.position.x += 5;
        root.scale.y = turns;
        for (const joint of joints) joint.rotation.z = turns;
        root.updateMatrixWorld(true);
      },
    });
    expect(turns).toBeGreaterThan(1);
    expect(baked.vertexData).toEqual(wanted);
  },
);

test('tangents go with the positions to where the mesh is, scaled and mirrored', () => {
  const square = new PlaneGeometry(1, 1);
  // Along its first edge, as positions of the first two vertices lie.
  const tangents = [1, 2, 3, 4].flatMap(() => [1, 0, 0, -1]);
  square.setAttribute('tangent', new Float32BufferAttribute(tangents, 4));
  const mesh = new Mesh(square, new MeshStandardMaterial({ normalMap: new Texture() }));
  mesh.rotation.set(0.3, 0.4, 2);
  mesh.scale.set(-3, 2, 5);
  const root = new Group().add(mesh);
  root.rotation.y = 1;
  const { geometry } = new SkinnedInstancedMesh(assembleCharacter(root, bakeVertexTexture(root, [])), 1);
  const { position, tangent } = geometry.attributes;
  const at = (vertex: number) => new Vector3().fromBufferAttribute(position, vertex);
  const edge = at(1).sub(at(0)).normalize();
  const turned = new Vector3().fromBufferAttribute(tangent, 2);
  expect(turned.distanceTo(edge)).toBeLessThan(1e-4);
  expect(edge.x, 'no test without a turn').toBeLessThan(0.9);
  expect(tangent.getW(2)).toBe(-1);
});
