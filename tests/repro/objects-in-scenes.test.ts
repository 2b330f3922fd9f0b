import 'skinned-instanced-mesh/objects';
import {
  Box3,
  Color,
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
import { expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { BoneTexture, SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

function createScene() {
  const { root, clips } = createStick({ Slide: 1, Two: 2 });
  const crowd = SkinnedInstancedMesh.from(root, clips, 0, { encoding: 'tracks' });
  const scene = new Scene().add(crowd);
  const knights = [0, 1, 2].map(() => crowd.createInstance());
  return { crowd, scene, knights };
}

const placeOf = (crowd: SkinnedInstancedMesh, id: number) =>
  new Vector3().setFromMatrixPosition(crowd.getMatrixAt(id, new Matrix4())).toArray();

test('visible shows again what was hidden by its id', () => {
  const { crowd, scene, knights } = createScene();
  scene.add(knights[1]);
  for (const knight of knights) {
    crowd.setVisibleAt(knight.instanceId, false);
    scene.updateMatrixWorld();
    knight.visible = true;
    expect(crowd.getVisibleAt(knight.instanceId)).toBe(true);
  }
  const hidden = crowd.clone().setVisibleAt(0, false).playbackToJSON();
  crowd.playbackFromJSON(hidden);
  expect(crowd.getVisibleAt(0)).toBe(false);
  knights[0].visible = true;
  expect(crowd.getVisibleAt(0)).toBe(true);
});

test('an object that count has left out can be disposed', () => {
  const { crowd, knights } = createScene();
  crowd.swapInstances(0, 2);
  crowd.count--;
  expect(knights[0].instanceId).toBe(2);
  knights[0].dispose();
  expect([knights[0].instanceId, knights[0].parent]).toEqual([-1, null]);
  crowd.count++;
  expect([crowd.createInstance().instanceId, crowd.instanceCount]).toEqual([3, 4]);
});

test('adding an object to its crowd brings it home', () => {
  const { crowd, scene, knights } = createScene();
  const home = knights[0].parent;
  knights[0].position.set(1, 2, 3);
  for (const bring of [() => crowd.add(knights[0]), () => crowd.attach(knights[0])]) {
    scene.add(knights[0]);
    scene.updateMatrixWorld();
    bring();
    scene.updateMatrixWorld();
    expect(knights[0].parent).toBe(home);
    expect(crowd.children).toEqual([home]);
    expect(placeOf(crowd, 0)).toEqual([1, 2, 3]);
  }
  const other = new Object3D();
  crowd.add(other);
  expect(other.parent).toBe(crowd);
});

test('an instance that was placed by its id stays there, also if its object has children', () => {
  const { crowd, scene, knights } = createScene();
  scene.updateMatrixWorld();
  crowd.setMatrixAt(0, new Matrix4().makeTranslation(5, 0, 0));
  knights[0].add(new Object3D());
  scene.updateMatrixWorld();
  scene.updateMatrixWorld();
  expect(placeOf(crowd, 0)).toEqual([5, 0, 0]);
  knights[0].position.y = 1;
  scene.updateMatrixWorld();
  expect(placeOf(crowd, 0)).toEqual([0, 1, 0]);
});

test('objects and scenes with them can be cloned, by SkeletonUtils too', () => {
  const { root, clips } = createCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, 0);
  const scene = new Scene().add(crowd);
  const knight = crowd.createInstance();
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
    const plates: Object3D[] = [];
    copy.traverse((node) => {
      if ((node as Mesh).geometry === plate.geometry) plates.push(node);
    });
    expect(plates.map((node) => node.getWorldPosition(new Vector3()).x)).toEqual([1, 1]);
    expect(crowd.instanceCount, 'none more here').toBe(2);
  }
});

test('a box around an object holds it as it is posed, and what is attached', () => {
  const { root, clips } = createCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, 0);
  const scene = new Scene().add(crowd);
  const group = new Group();
  group.position.x = 10;
  scene.add(group);
  const knight = crowd.createInstance();
  group.add(knight);
  crowd.play(0, 'Walk', { time: 0.3 });
  scene.updateMatrixWorld();
  const expected = new Box3();
  const { count } = crowd.geometry.getAttribute('position');
  for (let i = 0; i < count; i++) expected.expandByPoint(crowd.getVertexPositionAt(0, i, new Vector3()));
  for (const precise of [false, true]) {
    const box = new Box3().setFromObject(knight, precise);
    expect(box.min.distanceTo(expected.min)).toBeLessThan(1e-5);
    expect(box.max.distanceTo(expected.max)).toBeLessThan(1e-5);
  }
  crowd.attachToJoint('Head', new PlaneGeometry(20, 20), crowd.material);
  expect(new Box3().setFromObject(knight).max.y).toBeGreaterThan(expected.max.y + 1);
  knight.dispose();
  expect(new Box3().setFromObject(knight).isEmpty()).toBe(true);
});

test('whatever says how a disposed object looks is an error, colours too', () => {
  const { knights } = createScene();
  const [knight] = knights;
  const { color, emissive } = knight;
  knight.dispose();
  for (const set of [
    () => color.set(1, 0, 0),
    () => emissive.copy(new Color(1, 0, 0)),
    () => {
      knight.opacity = 0.5;
    },
    () => knight.setPartVisible(0, false),
  ]) {
    expect(set).toThrow('was disposed, and is no instance any more');
  }
  knight.position.x = 1;
  knight.clipAction('Slide').play();
});

test('objects that are gone are kept by nobody, also while the crowd is not drawn', () => {
  const { crowd, knights } = createScene();
  for (const knight of knights) knight.clipAction('Slide').play();
  for (let i = 0; i < 500; i++) {
    const knight = crowd.createInstance();
    knight.position.x = i;
    knight.clipAction('Slide').play();
    knight.dispose();
  }
  const { placement } = (knights[0].home as { objects: { placement: object } }).objects;
  expect((Reflect.get(placement, 'changed') as unknown[]).length).toBeLessThan(100);
  const mixers = Reflect.get(crowd.playback.driver as object, 'mixers') as unknown[];
  expect(mixers.filter((mixer) => mixer !== undefined)).toHaveLength(3);
  crowd.update(0.1);
});

test('an action whose clip is gone with its bone texture says so when it is played', () => {
  const { crowd, knights } = createScene();
  const [slide, two] = [knights[0].clipAction('Slide'), knights[0].clipAction('Two')];
  knights[0].uncacheAction('Two');
  const { root, clips } = createStick({ Other: 3, Two: 4 });
  crowd.boneTexture = BoneTexture.bake(root, clips, { encoding: 'tracks' });
  expect(() => slide.play()).toThrow('no clip named "Slide"');
  two.play();
  expect(crowd.getClipAt(0)).toBe('Two');
  two.time = 3.5;
  crowd.update(0);
  expect([crowd.getTimeAt(0), knights[0].clipAction('Two').isRunning()]).toEqual([3.5, false]);
});
