import { Box3, Matrix4, Sphere, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { morphsOf } from '../../support/features.js';
import {
  bakeBoneTexture,
  bakeCharacter,
  encodingOf,
  frames,
  getVertexPosition,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { random } from '../../support/random.js';
import { createMorphingStick, createStick, createStickCrowd, type Stick } from '../../support/stick.js';

test('bounds hold every pose of every instance', () => {
  const { root, clips } = createCharacter();
  const next = random(5);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips, { encoding: frames, fps: 8 }), 40);
  const vertices = crowd.geometry.getAttribute('position').count;
  for (let i = 0; i < 40; i++) {
    crowd.setMatrixAt(i, new Matrix4().makeRotationY(next() * 6).setPosition(next() * 9, next(), next() * 9));
    const clip = Math.floor(next() * clips.length);
    crowd.play(i, clip, { time: next() * clips[clip].duration });
  }
  crowd.computeBoundingBox();
  crowd.computeBoundingSphere();
  const box = crowd.boundingBox as Box3;
  const sphere = crowd.boundingSphere as Sphere;
  const vertex = new Vector3();
  const tight = new Box3();
  for (let i = 0; i < 40; i++) {
    for (let v = 0; v < vertices; v += 11) {
      getVertexPosition(crowd, i, v, vertex);
      tight.expandByPoint(vertex);
      expect(box.distanceToPoint(vertex)).toBeLessThan(1e-5);
      expect(sphere.distanceToPoint(vertex)).toBeLessThan(1e-5);
    }
  }
  // loose enough to hold every clip, not so loose as to be useless
  expect(box.getSize(new Vector3()).length()).toBeLessThan(tight.getSize(new Vector3()).length() * 1.6);
});

test('bounds follow instances that were moved, and leave alone what the user set', () => {
  const crowd = createStickCrowd(1);
  crowd.computeBoundingSphere();
  crowd.setMatrixAt(0, new Matrix4().makeTranslation(500, 0, 0));
  crowd.instanceMatrix.needsUpdate = true;
  crowd.updateMatrixWorld();
  expect(crowd.boundingSphere).toBe(null);
  crowd.computeBoundingSphere();
  expect((crowd.boundingSphere as unknown as Sphere).center.x).toBeGreaterThan(480);

  const own = new Sphere(new Vector3(), Infinity);
  crowd.boundingSphere = own;
  crowd.instanceMatrix.needsUpdate = true;
  crowd.updateMatrixWorld();
  expect(crowd.boundingSphere).toBe(own);
});

test('bounds of other geometry than was baked are found from the texture', () => {
  const { root, mesh, clips } = createStick();
  const boneTexture = bakeBoneTexture(root, clips);
  const tall = mesh.geometry.clone().scale(1, 40, 1);
  const crowd = new SkinnedInstancedMesh(tall, mesh.material, boneTexture, 1);
  crowd.computeBoundingBox();
  expect((crowd.boundingBox as Box3).max.y).toBeCloseTo(40, 4);
});

test.each(['tracks', 'frames'] as const)(
  'bounds hold influences of morph targets beyond 0 and 1, of clips, of all and of single instances, encoding %s',
  (encoding) => {
    const far = createMorphingStick();
    far.clips[0].tracks[1].values.set([-3, 5]);
    const near = createMorphingStick();
    const vertex = new Vector3();
    const top = (crowd: SkinnedInstancedMesh, index: number) => getVertexPosition(crowd, index, 2, vertex).y;
    const holds = (crowd: SkinnedInstancedMesh) => {
      crowd.updateMatrixWorld(true);
      crowd.computeBoundingBox();
      crowd.computeBoundingSphere();
      const views = crowd.crowd.boundsOfPoses(new Box3());
      for (let i = 0; i < crowd.count; i++) {
        for (let v = 0; v < 3; v++) {
          getVertexPosition(crowd, i, v, vertex);
          expect((crowd.boundingBox as Box3).distanceToPoint(vertex)).toBeLessThan(1e-5);
          expect((crowd.boundingSphere as Sphere).distanceToPoint(vertex)).toBeLessThan(1e-5);
          expect(views.distanceToPoint(vertex)).toBeLessThan(1e-5);
        }
      }
      return views.getSize(new Vector3()).y;
    };

    const crowdOf = ({ root, clips }: Stick) =>
      new SkinnedInstancedMesh(bakeCharacter(root, clips, { encoding: encodingOf(encoding) }), 2);
    const played = crowdOf(far);
    played.play(0, 0, { time: 0 }).play(1, 0, { time: 0.999 });
    expect(top(played, 1)).toBeGreaterThan(9);
    expect(top(played, 0)).toBeLessThan(-4.9);
    holds(played);

    const crowd = crowdOf(near);
    const before = holds(crowd);
    expect(before).toBeCloseTo(3, 4);
    // As all have it.
    (crowd.morphTargetInfluences as number[])[0] = 4;
    crowd.play(0, 0, { time: 0.999 });
    expect(top(crowd, 0)).toBeGreaterThan(9);
    const shared = holds(crowd);
    // As one has it: by a name, and by an object as of three.js.
    morphsOf(crowd).setInfluenceAt(1, 'Long', -6);
    expect(top(crowd, 1)).toBeLessThan(-10);
    expect(holds(crowd)).toBeGreaterThan(shared);
    (near.mesh.morphTargetInfluences as number[])[0] = 20;
    morphsOf(crowd);
    crowd.setMorphAt(1, near.mesh);
    expect(top(crowd, 1)).toBeGreaterThan(38);
    holds(crowd);
    holds(crowd.clone());
    // An influence that goes on within what is held computes nothing.
    const held = crowd.bounds.ofPoses();
    (crowd.morphTargetInfluences as number[])[0] = 18;
    expect(crowd.bounds.ofPoses()).toBe(held);
    (crowd.morphTargetInfluences as number[])[0] = Number.NaN;
    expect(crowd.bounds.ofPoses()).toBe(held);

    // Also where it was no number when it was first asked for.
    const broken = crowdOf(near);
    (broken.morphTargetInfluences as number[])[0] = Number.NaN;
    broken.computeBoundingBox();
    (broken.morphTargetInfluences as number[])[0] = -6;
    holds(broken);
    broken.morphTargetInfluences = [4];
    holds(broken);
  },
);
