import { AnimationClip, Matrix4, Object3D, Scene, Vector3, VectorKeyframeTrack } from 'three';
import { expect, test } from 'vitest';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { createCrowd } from '../../support/objects.js';
import { createStick } from '../../support/stick.js';

const _matrix = new Matrix4();

test('root motion moves objects, wherever they hang', () => {
  const { root } = createStick();
  const clip = new AnimationClip('Walk', 1, [
    new VectorKeyframeTrack('Base.position', [0, 1], [0, 0, 0, 0, 0, 2]),
  ]);
  const crowd = SkinnedInstancedMesh.from(root, [clip], 0, { rootMotion: true });
  const group = new Object3D();
  group.position.set(5, 0, 0);
  group.rotation.y = 1;
  crowd.scale.setScalar(2);
  const scene = new Scene().add(crowd, group);
  const [one, other, plain] = [0, 1, 2].map(() => crowd.createInstance());
  group.add(other);
  one.rotation.y = Math.PI / 2;
  one.scale.setScalar(3);
  for (const { instanceId } of [one, other]) crowd.play(instanceId, 'Walk', { rootMotion: true });
  crowd.play(plain.instanceId, 'Walk');
  for (let i = 0; i < 10; i++) {
    crowd.update(0.1);
    one.position.y += 0.5;
    other.position.x += 0.25;
    crowd.applyRootMotion(0.1);
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

test('objects of a crowd that becomes a copy of another stand where its instances stand', () => {
  const source = createCrowd();
  const moved = source.createInstance();
  moved.position.set(1, 2, 3);
  moved.scale.setScalar(2);
  source.createInstance();
  source.updateMatrixWorld();
  const crowd = createCrowd();
  const knights = [0, 1, 2].map(() => crowd.createInstance());
  crowd.updateMatrixWorld();
  crowd.copy(source);
  expect(knights[0].position.toArray()).toEqual([1, 2, 3]);
  expect(knights[0].scale.x).toBeCloseTo(2, 6);
  expect(knights[0].instanceId).toBe(0);
  crowd.updateMatrixWorld();
  expect(new Vector3().setFromMatrixPosition(knights[0].matrixWorld).toArray()).toEqual([1, 2, 3]);
  expect(source.createInstance().instanceId).toBe(2);
  expect(knights.map(({ crowd: of }) => of === crowd)).toEqual([true, true, true]);
});

test('a clone of a crowd has the instances, and can be given objects of its own', () => {
  const crowd = createCrowd();
  const knight = crowd.createInstance();
  knight.add(new Object3D());
  knight.position.x = 4;
  crowd.updateMatrixWorld();
  const clone = crowd.clone();
  expect(clone.instanceCount).toBe(1);
  expect(clone.getMatrixAt(0, _matrix).elements[12]).toBe(4);
  const other = clone.createInstance();
  other.position.x = 2;
  clone.updateMatrixWorld();
  expect([other.instanceId, clone.getMatrixAt(1, _matrix).elements[12]]).toEqual([1, 2]);
  expect(crowd.instanceCount).toBe(1);
  expect(other.crowd).toBe(clone);
});

test('a count that falls and rises hides and shows them again, and hidden ones stay so', () => {
  const crowd = createCrowd();
  const [one, other] = [crowd.createInstance(), crowd.createInstance()];
  one.visible = false;
  crowd.count = 0;
  expect(crowd.visibility.isDrawn(other.instanceId)).toBe(false);
  crowd.count = 2;
  expect([one, other].map(({ instanceId }) => crowd.visibility.isDrawn(instanceId))).toEqual([false, true]);
});

test('what falls out of the capacity is no instance any more', () => {
  const crowd = createCrowd();
  const [one, other] = [crowd.createInstance(), crowd.createInstance()];
  crowd.count = 1;
  crowd.setCapacity(1);
  expect([one.instanceId, other.instanceId, other.parent]).toEqual([0, -1, null]);
});

test('those of a crowd that was disposed are no instances any more', () => {
  const crowd = createCrowd();
  const knight = crowd.createInstance();
  const scene = new Scene().add(crowd, knight);
  crowd.dispose();
  expect([knight.instanceId, knight.parent]).toEqual([-1, null]);
  scene.updateMatrixWorld();
});

test('those that stand still are visited by nobody, and found by name', () => {
  const crowd = createCrowd();
  const scene = new Scene().add(crowd);
  const knights = [0, 1, 2].map(() => crowd.createInstance());
  knights[1].name = 'Ann';
  scene.updateMatrixWorld();
  let visits = 0;
  for (const knight of knights) {
    knight.updateMatrixWorld = () => {
      visits++;
    };
  }
  const { version } = crowd.instanceMatrix;
  scene.updateMatrixWorld();
  expect([visits, crowd.instanceMatrix.version]).toEqual([0, version]);
  expect(scene.getObjectByName('Ann')).toBe(knights[1]);
  const found: Object3D[] = [];
  scene.traverse((object) => found.push(object));
  expect(found.filter((object) => (object as Partial<(typeof knights)[0]>).isSkinnedInstance)).toEqual(
    knights,
  );
});

test('only what has moved is uploaded', () => {
  const crowd = createCrowd();
  crowd.setCapacity(1000);
  const knights = Array.from({ length: 1000 }, () => crowd.createInstance());
  const { instanceMatrix } = crowd;
  crowd.updateMatrixWorld();
  // as a renderer does once it has uploaded it
  instanceMatrix.clearUpdateRanges();
  knights[7].position.x = 1;
  knights[900].rotation.y = 1;
  crowd.updateMatrixWorld();
  expect(instanceMatrix.updateRanges).toEqual([
    { start: 7 * 16, count: 16 },
    { start: 900 * 16, count: 16 },
  ]);
  // whoever sets needsUpdate in between means all of it
  crowd.setMatrixAt(500, _matrix.identity());
  instanceMatrix.needsUpdate = true;
  crowd.updateMatrixWorld();
  expect(instanceMatrix.updateRanges).toEqual([{ start: 0, count: 16000 }]);
});

test('a place that is none warns, and the instance stays where it was', () => {
  const crowd = createCrowd();
  const knight = crowd.createInstance();
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
  actual.toArray().forEach((value, i) => {
    expect(value).toBeCloseTo(expected[i], 4);
  });
}
