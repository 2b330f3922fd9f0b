import { SkinnedInstance } from 'skinned-instanced-mesh';
import {
  type Bone,
  Box3,
  Group,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Object3D,
  PlaneGeometry,
  Scene,
  Vector3,
} from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { expect, test, vi } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { warned } from '../../../lib/utils/messages.js';
import {
  bakeCharacter,
  getVertexPosition,
  JointAttachment,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { createStickCrowd } from '../../support/stick.js';

function createScene() {
  const crowd = createStickCrowd(0, { Slide: 1, Two: 2 });
  const scene = new Scene().add(crowd);
  const knights = [0, 1, 2].map(() => new SkinnedInstance(crowd));
  return { crowd, scene, knights };
}

test('objects and scenes with them can be cloned, by SkeletonUtils too', () => {
  const { root, clips } = createCharacter();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 0);
  const scene = new Scene().add(crowd);
  const knight = new SkinnedInstance(crowd);
  knight.position.set(1, 0, 0);
  const plate = new Mesh(new PlaneGeometry(), new MeshBasicMaterial());
  const hat = new Object3D();
  hat.name = 'hat';
  knight.getObjectByName('Head')?.add(hat);
  knight.add(plate);
  const twin = SkeletonUtils.clone(knight) as typeof knight;
  expect([twin.isSkinnedInstance, twin.instanceId, twin.crowd === crowd]).toEqual([true, 1, true]);
  expect(twin.children.map(({ type }) => type)).toEqual(knight.children.map(({ type }) => type));
  expect(twin.getObjectByName('Head')?.children.at(-1)?.name).toBe('hat');
  scene.updateMatrixWorld();

  for (const copy of [scene.clone(), SkeletonUtils.clone(scene)]) {
    const [copied] = copy.children as SkinnedInstancedMesh[];
    expect([copied.isSkinnedInstancedMesh, copied.instanceCount]).toEqual([true, 2]);
    copy.updateMatrixWorld();
    const plates = copy.getObjectsByProperty('geometry', plate.geometry);
    expect(plates.map((node) => node.getWorldPosition(new Vector3()).x)).toEqual([1, 1]);
    expect(crowd.instanceCount, 'none more here').toBe(2);
  }
});

test('a box around an object holds it as it is posed, and what is attached', () => {
  const { root, clips } = createCharacter();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 0);
  const scene = new Scene().add(crowd);
  const group = new Group();
  group.position.x = 10;
  scene.add(group);
  const knight = new SkinnedInstance(crowd);
  group.add(knight);
  crowd.play(0, 'Walk', { time: 0.3 });
  scene.updateMatrixWorld();
  const expected = new Box3();
  const { count } = crowd.geometry.getAttribute('position');
  for (let i = 0; i < count; i++) expected.expandByPoint(getVertexPosition(crowd, 0, i, new Vector3()));
  for (const precise of [false, true]) {
    const box = new Box3().setFromObject(knight, precise);
    expect(box.min.distanceTo(expected.min)).toBeLessThan(1e-5);
    expect(box.max.distanceTo(expected.max)).toBeLessThan(1e-5);
  }
  new JointAttachment(crowd, 'Head', new PlaneGeometry(20, 20), crowd.material);
  expect(new Box3().setFromObject(knight).max.y).toBeGreaterThan(expected.max.y + 1);
  knight.dispose();
  expect(new Box3().setFromObject(knight).isEmpty()).toBe(true);
});

test('an object can stand for an instance that exists, where and as it is', () => {
  const { crowd, scene } = createScene();
  const id = crowd.addInstance();
  crowd.setMatrixAt(id, new Matrix4().makeScale(2, 2, 2).setPosition(1, 2, 3));
  crowd.play(id, 'Slide', { time: 0.5 }).setVisibleAt(id, false);
  const knight = new SkinnedInstance(crowd, id);
  expect([knight.instanceId, knight.visible, crowd.instanceCount]).toEqual([id, false, 4]);
  expect([knight.position.toArray(), knight.scale.toArray()]).toEqual([
    [1, 2, 3],
    [2, 2, 2],
  ]);
  expect(crowd.getTimeAt(id)).toBeCloseTo(0.5);
  knight.visible = true;
  knight.position.x = 5;
  scene.updateMatrixWorld();
  expect([crowd.getVisibleAt(id), crowd.instanceMatrix.array[id * 16 + 12]]).toEqual([true, 5]);
  expect(() => new SkinnedInstance(crowd, id)).toThrow('An object stands for instance 3 already');
  expect(() => new SkinnedInstance(crowd, 99)).toThrow('There is no instance 99');
});

test('warns of a crowd that is in no scene, and of instances that are removed and never disposed', () => {
  const { crowd, scene, knights } = createScene();
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  scene.add(knights[0]).updateMatrixWorld();
  for (let i = 0; i < 200; i++) scene.add(new SkinnedInstance(crowd));
  expect(warn).not.toHaveBeenCalled();
  for (let i = 0; i < 1000; i++) {
    const enemy = new SkinnedInstance(crowd);
    scene.add(enemy);
    scene.remove(enemy);
  }
  expect(warn.mock.calls).toEqual([[expect.stringContaining('were removed from the scene; call dispose()')]]);
  crowd.removeFromParent();
  scene.updateMatrixWorld();
  expect(warn.mock.calls[1][0]).toContain('call scene.add(crowd)');
  knights[1].name = 'Guest';
  scene.add(crowd, new Group().add(knights[1])).updateMatrixWorld();
  expect(warn).toHaveBeenCalledTimes(2);
  new Scene().add(knights[1]);
  for (let i = 0; i < 2; i++) scene.updateMatrixWorld();
  expect(warn.mock.calls.splice(2)).toEqual([[expect.stringContaining('"Guest" is in another scene')]]);
});

test('who looks for a material or meshes of an instance hears once that there are none, and what to do', async () => {
  const {
    crowd,
    knights: [knight],
  } = createScene();
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const said = () => warn.mock.calls.splice(0).map(([text]) => text as string);
  const loose = knight as unknown as Record<string, unknown>;
  knight.toJSON();
  knight.clone();
  expect(said()).toEqual([]);

  for (let i = 0; i < 2; i++) expect(loose.material).toBeUndefined();
  expect(said()).toEqual([expect.stringMatching(/an instance has no material; .*setUniform/)]);
  const plate = new Mesh();
  const searches: [(from: Object3D) => unknown, boolean][] = [
    [(from) => from.getObjectByProperty('isSkinnedMesh', true), true],
    [(from) => from.getObjectsByProperty('isMesh', true)[0], true],
    [(from) => from.traverse((object) => void (object as Mesh).isMesh), true],
    [(from) => from.traverse((object) => void (object instanceof Mesh)), true],
    [(from) => from.traverse((object) => void (object as Bone).isBone), false],
  ];
  const holder = new Group().add(knight);
  for (const [search, isTold] of searches)
    for (const from of [knight, holder]) {
      warned.clear();
      for (let i = 0; i < 2; i++) expect(search(from)).toBeUndefined();
      await null;
      expect(said()).toEqual(
        isTold ? [expect.stringContaining('finds nothing, since an instance has no meshes')] : [],
      );
    }
  // Who searches the scene finds the crowd, wherever that is.
  warned.clear();
  for (const order of [
    [holder, crowd],
    [crowd, holder],
  ])
    for (const [search] of searches.slice(1)) search(new Scene().add(...order));
  knight.add(plate);
  searches[2][0](knight);
  await null;
  expect(said()).toEqual([]);
  expect(knight.getObjectByProperty('isMesh', true)).toBe(plate);
});
