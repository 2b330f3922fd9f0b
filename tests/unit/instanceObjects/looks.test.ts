import { Color, Group, MeshStandardMaterial, Object3D, ObjectLoader, Scene } from 'three';
import { expect, test } from 'vitest';
import { createKnight } from '../../support/knight.js';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { SkinnedInstance } from '../../support/objects.js';
import { createMorphingStick, createStick } from '../../support/stick.js';

const red = new Color(1, 0, 0);
const _color = new Color();

function createLooked() {
  const { root, clips } = createKnight();
  const crowd = SkinnedInstancedMesh.from(root, clips, 0, { uniforms: { dirt: 'float', glow: 'color' } });
  return { crowd, knight: crowd.createInstance(), other: crowd.createInstance() };
}

test('colours are those of the instance, however they are set', () => {
  const { crowd, knight, other } = createLooked();
  expect(knight.color).toBeInstanceOf(Color);
  expect(knight.color.getHex()).toBe(0xffffff);
  expect(crowd.instanceColor).toBe(null);
  knight.color.set(0xff0000);
  knight.emissive.setRGB(0, 2, 0);
  knight.emissive.b = 0.5;
  other.emissive.lerp(red, 0.5);
  crowd.updateMatrixWorld();
  expect(crowd.getColorAt(0, _color).getHex()).toBe(0xff0000);
  expect(crowd.getEmissiveAt(0, _color).toArray()).toEqual([0, 2, 0.5]);
  expect(crowd.getEmissiveAt(1, _color).toArray()).toEqual([0.5, 0, 0]);
  expect(crowd.getColorAt(1, _color).getHex()).toBe(0xffffff);
});

test('a colour that is set goes with the instance to another index', () => {
  const { crowd, knight } = createLooked();
  knight.color.copy(red);
  crowd.swapInstances(0, 1);
  crowd.updateMatrixWorld();
  knight.color.g = 1;
  crowd.updateMatrixWorld();
  expect(crowd.getColorAt(1, _color).toArray()).toEqual([1, 1, 0]);
  expect(crowd.getColorAt(0, _color).toArray()).toEqual([1, 1, 1]);
  expect(knight.color.clone().set(0)).not.toBe(knight.color);
  expect(knight.color.toArray()).toEqual([1, 1, 0]);
});

test('everything else is passed on', () => {
  const { crowd, knight } = createLooked();
  knight.opacity = 0.5;
  knight.roughness = 0.1;
  knight.metalness = 0.9;
  knight.mapLayer = 3;
  knight.setUniform('dirt', 0.7).setPartVisible('Sword', false).setPartColor('Shield', red);
  expect([knight.opacity, knight.roughness, knight.metalness, knight.mapLayer]).toEqual(
    [0.5, 0.1, 0.9, 3].map(Math.fround),
  );
  expect([crowd.getOpacityAt(0), crowd.getOpacityAt(1)]).toEqual([0.5, 1]);
  expect(crowd.getUniformAt(0, 'dirt')).toBeCloseTo(0.7);
  expect([knight.getPartVisible('Sword'), crowd.getPartVisibleAt(1, 'Sword')]).toEqual([false, true]);
  expect(crowd.getPartColorAt(0, 'Shield', _color)).toEqual(red);
  knight.roughness = null;
  expect(knight.roughness).toBe(null);
});

test('poses are passed on', () => {
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 0, { encoding: 'tracks' });
  const [knight, other] = [crowd.createInstance(), crowd.createInstance()];
  const pose = new Group();
  const tip = new Object3D();
  tip.name = 'Tip';
  tip.position.set(3, 0, 0);
  pose.add(tip);
  knight.setPose(pose);
  const x = (index: number) => crowd.getVertexPositionAt(index, 0, knight.position.clone()).x;
  expect([x(knight.instanceId), x(other.instanceId)]).toEqual([8, 0]);
  knight.setPose(null);
  expect(x(knight.instanceId)).toBe(0);
});

test('a clone is a further instance that looks alike, with clones of the children', () => {
  const { crowd, knight } = createLooked();
  const scene = new Scene().add(crowd, knight);
  knight.name = 'Ann';
  knight.position.set(1, 2, 3);
  knight.rotation.y = 1;
  knight.userData.hp = 3;
  knight.color.set(0x00ff00);
  knight.emissive.set(0x0000ff);
  knight.opacity = 0.25;
  knight.setUniform('glow', red).setPartVisible('Sword', false).setPartColor('Shield', red);
  knight.add(new Group());
  const clone = knight.clone();
  expect(clone).toBeInstanceOf(SkinnedInstance);
  expect([clone.instanceId, clone.name, clone.userData.hp]).toEqual([2, 'Ann', 3]);
  expect(clone.children).toHaveLength(1);
  expect(clone.children[0]).not.toBe(knight.children[0]);
  scene.updateMatrixWorld();
  expect(clone.matrixWorld.equals(knight.matrixWorld)).toBe(true);
  expect([...crowd.instanceMatrix.array.slice(32, 48)]).toEqual([...crowd.instanceMatrix.array.slice(0, 16)]);
  expect([clone.color.getHex(), clone.emissive.getHex(), clone.opacity]).toEqual([0x00ff00, 0x0000ff, 0.25]);
  expect(crowd.getUniformAt(2, 'glow', _color)).toEqual(red);
  expect([clone.getPartVisible('Sword'), clone.getPartVisible('Shield')]).toEqual([false, true]);
  expect(crowd.getPartColorAt(2, 'Shield', _color)).toEqual(red);
  expect(crowd.getClipAt(2)).toBe(null);
  clone.color.set(0);
  scene.updateMatrixWorld();
  expect(knight.color.getHex()).toBe(0x00ff00);
});

test('a clone has the morph influences of its own that its source has', () => {
  const { root, clips } = createMorphingStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 0);
  const knight = crowd.createInstance();
  crowd.setProportionsAt(knight.instanceId, { morphs: { Long: 0.5 } });
  const clone = knight.clone();
  const tops = [knight, clone].map(({ instanceId }) =>
    crowd.getVertexPositionAt(instanceId, 2, knight.position.clone()).toArray(),
  );
  expect(tops[1]).toEqual(tops[0]);
  expect(tops[0][1]).toBe(2);
});

test('what was disposed says so', () => {
  const { crowd, knight } = createLooked();
  knight.name = 'Bob';
  knight.dispose().dispose();
  knight.position.x = 5;
  knight.visible = false;
  crowd.updateMatrixWorld();
  expect(() => knight.opacity).toThrow(/SkinnedInstance: "Bob" was disposed, .* crowd\.createInstance\(\)/);
  expect(() => knight.setPartVisible('Sword', false)).toThrow(/was disposed/);
});

test("in three.js's JSON it is an object with its children, and the crowd an InstancedMesh", () => {
  const { crowd, knight, other } = createLooked();
  crowd.material = new MeshStandardMaterial();
  const scene = new Scene().add(crowd, knight);
  knight.name = 'Ann';
  knight.position.set(1, 2, 3);
  const plate = new Group();
  plate.name = 'Plate';
  knight.add(plate);
  other.add(new Group());
  scene.updateMatrixWorld();
  const { instanceCount } = crowd;
  const loaded = new ObjectLoader().parse(scene.toJSON() as never);
  const ann = loaded.getObjectByName('Ann') as Object3D;
  expect(ann.position.toArray()).toEqual([1, 2, 3]);
  expect(ann.children.map(({ name }) => name)).toEqual(['Plate']);
  expect(crowd.instanceCount).toBe(instanceCount);
});

test.each([null, undefined, 'A'])('copy says what it takes instead of %s', (value) => {
  const { knight } = createLooked();
  expect(() => knight.copy(value as never)).toThrow(
    /^SkinnedInstance\.copy: .* is no instance; pass what crowd\.createInstance\(\) returned\./,
  );
});
