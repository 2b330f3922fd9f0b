import { Box3, Matrix4, Sphere, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { BoneTexture, SkinnedInstancedMesh } from '../../support/library.js';
import { random } from '../../support/random.js';
import { createStick } from '../../support/stick.js';

test('bounds hold every pose of every instance', () => {
  const { root, clips } = createCharacter();
  const next = random(5);
  for (const encoding of ['matrix', 'quaternion'] as const) {
    const crowd = SkinnedInstancedMesh.from(root, clips, 40, { encoding, fps: 8 });
    const vertices = crowd.geometry.getAttribute('position').count;
    for (let i = 0; i < 40; i++) {
      crowd.setMatrixAt(
        i,
        new Matrix4().makeRotationY(next() * 6).setPosition(next() * 9, next(), next() * 9),
      );
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
        crowd.getVertexPositionAt(i, v, vertex);
        tight.expandByPoint(vertex);
        expect(box.distanceToPoint(vertex)).toBeLessThan(1e-5);
        expect(sphere.distanceToPoint(vertex)).toBeLessThan(1e-5);
      }
    }
    // loose enough to hold every clip, not so loose as to be useless
    expect(box.getSize(new Vector3()).length()).toBeLessThan(tight.getSize(new Vector3()).length() * 1.6);
  }
});

test('bounds follow instances that were moved, and leave alone what the user set', () => {
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
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
  const boneTexture = BoneTexture.bake(root, clips);
  const tall = mesh.geometry.clone().scale(1, 40, 1);
  const crowd = new SkinnedInstancedMesh(tall, mesh.material, boneTexture, 1);
  crowd.computeBoundingBox();
  expect((crowd.boundingBox as Box3).max.y).toBeCloseTo(40, 4);
});
