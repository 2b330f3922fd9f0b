import {
  type AnimationClip,
  Box3,
  BoxGeometry,
  Color,
  type Group,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  Object3D,
  Raycaster,
  Vector3,
} from 'three';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registerSource } from '../../lib/sources/sources.js';
import { captureGeometry } from '../support/capture.js';
import { captureOf, TWINS } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { type Drawing, drawingOf } from '../support/drawings.js';
import { createEverything } from '../support/everything.js';
import { expectSamePicture } from '../support/expectSamePicture.js';
import { BoneTexture, SkinnedInstancedMesh } from '../support/library.js';
import { createStage } from '../support/pictures.js';
import { EverySecond } from '../support/seams/EverySecond.js';
import { AMPLITUDE, sineSource, WAVES } from '../support/seams/sineSource.js';

// What these tests add, each in a file of its own and by one line here, has one place in the library where it belongs.
registerSource(sineSource);
if (TWINS.length > 1) {
  const { registerNodeSource } = await import('../../lib/backends/webgpu/nodeSources.js');
  const { sineNodes } = await import('../support/seams/sineNodes.js');
  registerNodeSource(sineNodes);
}

test('rays hit what a pose source of another kind poses', () => {
  const { root, clips } = createCoarseCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, 2, { fps: 5 });
  crowd.poseSource = sineSource;
  crowd.setMatrixAt(1, new Matrix4().makeTranslation(5, 0, 0));
  crowd.updateMatrixWorld();
  expect(crowd.clone().poseSource, 'of a clone').toBe(sineSource);
  const corners = [0, 1, 2].map((i) => {
    const vertex = crowd.geometry.index?.getX(i) ?? i;
    return crowd.getVertexPositionAt(1, vertex, new Vector3());
  });
  const middle = new Vector3();
  for (const corner of corners) middle.addScaledVector(corner, 1 / 3);
  const normal = corners[1].clone().sub(corners[0]).cross(corners[2].clone().sub(corners[0])).normalize();
  const ray = new Raycaster(middle.clone().addScaledVector(normal, 0.01), normal.negate());
  const [hit] = ray.intersectObject(crowd);
  expect(hit.instanceId).toBe(1);
  expect(hit.point.distanceTo(middle)).toBeLessThan(1e-6);
});

/** Where the instances below stand. */
const BOUNDS = new Box3(new Vector3(-2.6, 0, -3.5), new Vector3(2.6, 2, 0.5));

/** A crowd in which every instance has something of its own, of every kind. */
function createInstances(
  { root, clips }: { root: Group; clips: AnimationClip[] },
  boneTexture: BoneTexture,
  instances: readonly number[],
): SkinnedInstancedMesh {
  const crowd = SkinnedInstancedMesh.from(root, clips, instances.length, { boneTexture });
  crowd.castShadow = true;
  crowd.receiveShadow = true;
  const matrix = new Matrix4();
  const face = new Mesh(crowd.geometry);
  const { jointNames } = boneTexture;
  const hat = crowd.attachToJoint(
    jointNames[jointNames.length - 1],
    new BoxGeometry(0.3, 0.1, 0.3),
    new MeshStandardMaterial({ color: 0xff8800 }),
  );
  instances.forEach((instance, i) => {
    crowd.setMatrixAt(
      i,
      matrix.makeRotationY(instance).setPosition((instance - 4) * 0.6, 0, -(instance % 4)),
    );
    crowd.setColorAt(i, new Color().setHSL(instance / 9, 0.8, 0.6));
    crowd.setPartColorAt(i, 0, new Color().setHSL(0, 0, 1 - instance / 18));
    crowd.setPartVisibleAt(i, 0, instance !== 4);
    if (face.morphTargetInfluences !== undefined) {
      face.morphTargetInfluences.fill(instance / 4);
      crowd.setMorphAt(i, face);
    }
    hat.setColorAt(i, new Color().setHSL(1 - instance / 9, 0.8, 0.6));
    crowd.play(i, instance % boneTexture.clips.length, { time: instance * 0.13 });
    if (instance % 4 === 0) crowd.crossFadeTo(i, 0, 1);
  });
  crowd.update(0.4);
  return crowd;
}

/** Draws every second of nine instances by a view, and the same five as a crowd of their own. */
async function expectSameView(
  label: string,
  { draw }: Drawing,
  character: { root: Group; clips: AnimationClip[] },
  boneTexture: BoneTexture,
) {
  const crowd = createInstances(character, boneTexture, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  const half = createInstances(character, boneTexture, [0, 2, 4, 6, 8]);
  const { scene, camera } = createStage(BOUNDS, 'directional');
  const empty = await draw(scene, camera, new Object3D());
  const all = await draw(scene, camera, crowd);
  crowd.view = new EverySecond(crowd.capacity);
  const viewed = await draw(scene, camera, crowd);
  const expected = await draw(scene, camera, half);
  expectSamePicture(label, expected, viewed, empty, 0);
  expect(crowd.count, 'when it is not being drawn').toBe(9);
  crowd.view = null;
  expect(await draw(scene, camera, crowd)).toEqual(all);
}

describe.each(TWINS)('%s', (twin) => {
  let drawing: Drawing;
  beforeAll(async () => {
    drawing = await drawingOf(twin);
  });
  afterAll(() => drawing.dispose());

  test('a pose source of another kind poses vertices, on the CPU too', async () => {
    const { root, clips } = createCoarseCharacter();
    const how = await captureOf(twin);
    const crowd = SkinnedInstancedMesh.from(root, clips, 3, { fps: 5 });
    for (let i = 0; i < 3; i++) crowd.setMatrixAt(i, new Matrix4().makeTranslation(i, 0, 0));
    const position = crowd.geometry.getAttribute('position');
    const { count } = position;
    crowd.geometry = captureGeometry(crowd.geometry);
    crowd.material = how.material(count);
    crowd.poseSource = sineSource;
    const drawn = await how.read(crowd, count, 3);
    how.dispose();

    const vertex = new Vector3();
    const expected = new Vector3();
    let onCPU = 0;
    let onGPU = 0;
    for (let i = 0; i < 3; i++) {
      for (let v = 0; v < count; v++) {
        expected.fromBufferAttribute(position as never, v);
        expected.y += AMPLITUDE * Math.sin(WAVES * expected.x + i);
        expected.x += i;
        onCPU = Math.max(onCPU, crowd.getVertexPositionAt(i, v, vertex).distanceTo(expected));
        onGPU = Math.max(onGPU, vertex.fromArray(drawn, (i * count + v) * 3).distanceTo(expected));
      }
    }
    expect(onCPU).toBeLessThan(1e-6);
    // The sines of a GPU may be off by 2^-11.
    expect(onGPU).toBeLessThan(AMPLITUDE * 2 ** -11);
  });

  test.each(['quaternion', 'tracks'] as const)(
    'a view draws every second instance as a crowd of those alone, encoding %s',
    async (encoding) => {
      const character = createCoarseCharacter();
      const boneTexture = BoneTexture.bake(character.root, character.clips, { encoding, fps: 10 });
      await expectSameView(`${twin} ${encoding}`, drawing, character, boneTexture);
    },
  );

  test('a view draws each instance with its own influences of morph targets', async () => {
    const character = createEverything();
    const boneTexture = BoneTexture.bake(character.root, character.clips);
    await expectSameView(`${twin} morph targets`, drawing, character, boneTexture);
  });
});
