import {
  AnimationClip,
  Group,
  type KeyframeTrack,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  NumberKeyframeTrack,
  SphereGeometry,
  Vector3,
} from 'three';
import { describe, expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { letRead } from '../support/capture.js';
import { TWINS, useCapture } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { disposeLater } from '../support/disposeLater.js';
import { morphsOf } from '../support/features.js';
import {
  bakeBoneTexture,
  bakeCharacter,
  frames,
  getVertexPosition,
  LoopOnceOptions,
  SkinnedInstancedMesh,
} from '../support/library.js';
import { Mixers } from '../support/mixers.js';
import { addTargets } from '../support/morphTargets.js';
import { measureTextures } from '../support/parity.js';
import { random } from '../support/random.js';
import { characterHeight } from '../support/reference.js';
import { THOROUGH } from '../support/thorough.js';

const track = (name: string, values: number[], keys: number): KeyframeTrack =>
  new NumberKeyframeTrack(
    `${name}.morphTargetInfluences`,
    Array.from({ length: keys }, (_, i) => i / (keys - 1)),
    values,
  );

/** The character with a face that clips move: of two primitives as glTF has them, and a mesh of another kind. */
function createFace(relative: boolean, lone: boolean) {
  const { root, clips } = THOROUGH ? createCharacter() : createCoarseCharacter();
  const body = root.getObjectByName('Body') as Mesh;
  const walk = clips.filter(({ name }) => name === 'Walk' || name === 'Idle');
  const curves = [0, 0.2, 1, 0, 0.3, 0.9, 0.1, 0.1];
  if (lone) {
    addTargets(body, ['wide', 'tall'], relative, 5);
    const own = track('Body', curves, 4);
    return {
      root,
      clips: [walk[0], new AnimationClip('Talk', 1, [...walk[1].tracks.slice(0, 4), own])],
      morphs: 2,
    };
  }
  const face = new Group();
  face.name = 'Face';
  root.getObjectByName('Head')?.add(face);
  for (const [name, x] of [
    ['Face_1', 0.1],
    ['Face_2', -0.1],
  ] as const) {
    // As GLTFLoader makes primitives: without a transform of their own.
    const half = new Mesh(
      new SphereGeometry(0.1, 9, 7).translate(x, 0.1, 0.1),
      new MeshStandardMaterial({ color: 0xaa7755 }),
    );
    half.name = name;
    addTargets(half, ['smile', 'frown'], relative, 9);
    face.add(half);
  }
  const tail = new Mesh(new SphereGeometry(0.2, 8, 6), new MeshStandardMaterial({ color: 0x335577 }));
  tail.name = 'Tail';
  addTargets(tail, ['smile'], relative, 11);
  tail.morphTargetInfluences![0] = 0.25;
  root.getObjectByName('Hips')?.add(tail);
  const tracks = [
    track('Face_1', curves, 4),
    track('Face_2', curves, 4),
    new NumberKeyframeTrack('Tail.morphTargetInfluences[smile]', [0, 1], [0, 1]),
  ];
  return {
    root,
    clips: [walk[0], new AnimationClip('Talk', 1, [...walk[1].tracks.slice(0, 4), ...tracks])],
    morphs: 3,
  };
}

describe.each(TWINS)('%s', (twin) => {
  const how = useCapture(twin);

  test.each([
    { relative: true, lone: false },
    { relative: false, lone: false, encoding: frames },
    { relative: true, lone: true },
    { relative: false, lone: true },
  ] as const)('morph targets go with the clip, %j', async ({ relative, lone, encoding }) => {
    const { root, clips, morphs } = createFace(relative, lone);
    const boneTexture = bakeBoneTexture(root, clips, { encoding });
    expect(boneTexture.morphNames).toHaveLength(morphs);
    const [measured] = await measureTextures(how, root, clips, [boneTexture]);
    for (const [clip, errors] of measured) {
      expect(errors.onFrames, `${clip}, on frames`).toBeLessThanOrEqual(1e-5);
      expect(errors.twin, `${clip}, CPU twin`).toBeLessThanOrEqual(1e-5);
      if (encoding === undefined) expect(errors.between, `${clip}, between`).toBeLessThanOrEqual(1e-5);
    }
  });

  test('seed 13: with tracks, weighted actions and fades mix them as AnimationMixer does', async () => {
    const { root, clips } = createFace(true, false);
    const count = 4;
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), count);
    const vertices = letRead(crowd, how);
    for (let i = 0; i < count; i++) crowd.setMatrixAt(i, new Matrix4());
    const pair = new Mixers(crowd, root, clips);
    const next = random(13);
    for (let i = 0; i < count; i++) {
      const first = i % clips.length;
      pair.play(i, first, next(), 0, next());
      pair.play(i, 1 - first, next(), 0.4, next());
    }
    pair.update(0.1);
    pair.setWeight(3, 0, 0.1, 0.3);
    for (const delta of [0.0123, 0.171, 0.4567]) {
      pair.update(delta);
      const drawn = await how.read(crowd, vertices, count);
      const worst = pair.worst((index, vertex, target) =>
        target.fromArray(drawn, (index * vertices + vertex) * 3),
      );
      expect(worst / characterHeight(root)).toBeLessThanOrEqual(1e-5);
    }
    disposeLater(crowd);
  });

  test('fades mix them, and influences of instances add to them', async () => {
    const { root, clips } = createFace(true, false);
    const height = characterHeight(root);
    const count = 5;
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), count);
    expect(crowd.morphTargetDictionary).toEqual({ smile: 2, frown: 1 });
    expect(crowd.morphTargetInfluences).toEqual([0, 0, 0.25]);
    expect(Object.keys(crowd.geometry.morphAttributes)).toContain('position');
    const vertices = letRead(crowd, how);
    for (let i = 0; i < count; i++) crowd.setMatrixAt(i, new Matrix4().makeTranslation(i, 0, 0));
    crowd.playAll('Talk', { time: (i) => i * 0.15 });

    const check = async () => {
      const drawn = await how.read(crowd, vertices, count);
      const expected = new Vector3();
      let off = 0;
      for (let i = 0; i < count; i++) {
        for (let vertex = 0; vertex < vertices; vertex += 3) {
          getVertexPosition(crowd, i, vertex, expected);
          const at = (i * vertices + vertex) * 3;
          off = Math.max(off, expected.distanceTo(new Vector3().fromArray(drawn, at)));
        }
      }
      expect(off / height).toBeLessThan(2e-5);
      return drawn.slice();
    };
    await check();
    crowd.play({ start: 0, count }, 'Idle', { fade: 1 }).update(0.4);
    const before = await check();
    const face = new Mesh();
    face.morphTargetInfluences = [0.7, 0, 0.5];
    morphsOf(crowd);
    crowd.setMorphAt(3, face);
    const after = await check();
    expect(after.some((value, i) => value !== before[i])).toBe(true);
  });
});

test('a crowd of more instances than textures are high takes morph targets all the same', () => {
  const { root, clips } = createFace(true, false);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 20_000);
  expect(crowd.morphTexture).toBeNull();
  crowd.play(19_999, 'Talk', { ...LoopOnceOptions, time: 0.5 });
  const plain = new Vector3();
  const morphed = new Vector3();
  const tail = crowd.geometry.getAttribute('position').count - 3;
  getVertexPosition(crowd, 19_999, tail, morphed);
  getVertexPosition(crowd, 0, tail, plain);
  expect(morphed.distanceTo(plain)).toBeGreaterThan(0.001);
});
