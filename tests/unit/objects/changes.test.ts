import { SkinnedInstance } from 'skinned-instanced-mesh';
import { AnimationClip, Matrix4, Object3D, Scene, Vector3, VectorKeyframeTrack } from 'three';
import { expect, test } from 'vitest';
import {
  applyRootMotion,
  bakeCharacter,
  extractRootMotion,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { createCrowd } from '../../support/objects.js';
import { createStick } from '../../support/stick.js';

const _matrix = new Matrix4();

test('root motion moves objects, wherever they hang', () => {
  const { root } = createStick();
  const clip = new AnimationClip('Walk', 1, [
    new VectorKeyframeTrack('Base.position', [0, 1], [0, 0, 0, 0, 0, 2]),
  ]);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, [clip], { rootMotion: extractRootMotion() }), 0);
  const group = new Object3D();
  group.position.set(5, 0, 0);
  group.rotation.y = 1;
  crowd.scale.setScalar(2);
  const scene = new Scene().add(crowd, group);
  const [one, other, plain] = [0, 1, 2].map(() => new SkinnedInstance(crowd));
  group.add(other);
  one.rotation.y = Math.PI / 2;
  one.scale.setScalar(3);
  for (const { instanceId } of [one, other]) crowd.play(instanceId, 'Walk', { rootMotion: true });
  crowd.play(plain.instanceId, 'Walk');
  for (let i = 0; i < 10; i++) {
    crowd.update(0.1);
    one.position.y += 0.5;
    other.position.x += 0.25;
    applyRootMotion(crowd, 0.1);
    scene.updateMatrixWorld();
  }
  // two units forwards, which lie along x for the first; scaled by what it stands in, and by itself
  expectNear(one.position, [6, 5, 0]);
  expect(one.scale.toArray()).toEqual([3, 3, 3]);
  expect(one.rotation.y).toBeCloseTo(Math.PI / 2, 5);
  // this one has the size that it has in the world
  expectNear(other.position, [2.5, 0, 2]);
  expect(plain.position.toArray()).toEqual([0, 0, 0]);
  crowd.getMatrixAt(one.instanceId, _matrix);
  expectNear(new Vector3().setFromMatrixPosition(_matrix), [6, 5, 0]);
});

test.each([
  [0, 0, 0],
  [2, 0, 2],
])('an object whose instance was scaled to nothing or flat stays so: %s, %s, %s', (...scale) => {
  const crowd = createCrowd();
  const scene = new Scene().add(crowd);
  const knight = new SkinnedInstance(crowd);
  scene.updateMatrixWorld();
  crowd.setMatrixAt(knight.instanceId, new Matrix4().makeScale(...scale));
  for (let i = 0; i < 2; i++) scene.updateMatrixWorld();
  crowd.getMatrixAt(knight.instanceId, _matrix);
  expect(new Vector3().setFromMatrixScale(_matrix).toArray()).toEqual(scale);
  crowd.setMatrixAt(knight.instanceId, new Matrix4());
  scene.updateMatrixWorld();
  expectNear(knight.scale, [1, 1, 1]);
});

test.each(['at home', 'elsewhere', 'elsewhere, by its matrix'])(
  'an object goes where setMatrixAt puts its instance, and stays there when crowd and object move: %s',
  (where) => {
    const crowd = createCrowd();
    const group = new Object3D();
    group.position.set(5, 0, 0);
    const scene = new Scene().add(crowd, group);
    const knight = new SkinnedInstance(crowd);
    if (where !== 'at home') group.add(knight);
    knight.matrixAutoUpdate = !where.endsWith('matrix');
    knight.position.x = 1;
    crowd.position.z = 1;
    scene.updateMatrixWorld();
    crowd.setMatrixAt(knight.instanceId, new Matrix4().makeTranslation(7, 2, 0));
    const world = () => crowd.getMatrixAt(knight.instanceId, _matrix).premultiply(crowd.matrixWorld);
    const at = () => new Vector3().setFromMatrixPosition(world());
    scene.updateMatrixWorld();
    expectNear(at(), [7, 2, 1]);
    expectNear(knight.position, where === 'at home' ? [7, 2, 0] : [2, 2, 1]);
    crowd.position.x = 3;
    scene.updateMatrixWorld();
    expectNear(at(), where === 'at home' ? [10, 2, 1] : [7, 2, 1]);
    expectNear(knight.getWorldPosition(new Vector3()), at().toArray());
    if (!knight.matrixAutoUpdate) return;
    knight.position.y = 4;
    scene.updateMatrixWorld();
    crowd.update(0);
    expectNear(at(), where === 'at home' ? [10, 4, 1] : [7, 4, 1]);
  },
);

test('a place that is none warns, and the instance stays where it was', () => {
  const crowd = createCrowd();
  const knight = new SkinnedInstance(crowd);
  knight.position.x = 3;
  crowd.updateMatrixWorld();
  const warn = console.warn;
  const warnings: string[] = [];
  console.warn = (text: string) => warnings.push(text);
  knight.position.x = Number.NaN;
  crowd.updateMatrixWorld();
  console.warn = warn;
  expect(warnings.join()).toMatch(/SkinnedInstance: instance 0 stays where it was, .* use finite numbers/);
  expect(crowd.getMatrixAt(0, _matrix).elements[12]).toBe(3);
});

function expectNear(actual: Vector3, expected: readonly number[]): void {
  actual.toArray().forEach((value, i) => expect(value).toBeCloseTo(expected[i], 4));
}
