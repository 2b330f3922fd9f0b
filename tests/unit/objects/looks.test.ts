import {
  InstanceParts,
  InstanceUniforms,
  JointEdits,
  loadPlayback,
  savePlayback,
} from 'skinned-instanced-mesh';
import { Color, Group, Matrix4, MeshStandardMaterial, Scene, Vector3 } from 'three';
import { expect, test, vi } from 'vitest';
import { partsOf, uniformsOf } from '../../support/features.js';
import { createKnight } from '../../support/knight.js';
import { bakeCharacter, getVertexPosition, SkinnedInstancedMesh } from '../../support/library.js';
import { SkinnedInstance } from '../../support/objects.js';
import { createStick } from '../../support/stick.js';

const red = new Color(1, 0, 0);
const _color = new Color();

function createLooked() {
  const { root, clips } = createKnight();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 0);
  new InstanceUniforms(crowd, { dirt: 'float', glow: 'color' });
  return { crowd, knight: new SkinnedInstance(crowd), other: new SkinnedInstance(crowd) };
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
  expect(uniformsOf(crowd).getAt(0, 'emissive', _color).toArray()).toEqual([0, 2, 0.5]);
  expect(uniformsOf(crowd).getAt(1, 'emissive', _color).toArray()).toEqual([0.5, 0, 0]);
  expect(crowd.getColorAt(1, _color).getHex()).toBe(0xffffff);
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
  knight.setUniform('glow', red);
  partsOf(crowd).setVisibleAt(knight.instanceId, 'Sword', false).setColorAt(knight.instanceId, 'Shield', red);
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
  expect(uniformsOf(crowd).getAt(2, 'glow', _color)).toEqual(red);
  expect(['Sword', 'Shield'].map((part) => partsOf(crowd).getVisibleAt(2, part))).toEqual([false, true]);
  expect(partsOf(crowd).getColorAt(2, 'Shield', _color)).toEqual(red);
  expect(crowd.getClipAt(2)).toBe(null);
  clone.color.set(0);
  scene.updateMatrixWorld();
  expect(knight.color.getHex()).toBe(0x00ff00);
});

test('what needs a feature that the crowd has not names it, and reads as nobody had set it', () => {
  const { root, clips } = createStick();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 0);
  const knight = new SkinnedInstance(crowd);
  expect([knight.opacity, knight.roughness, knight.metalness, knight.mapLayer]).toEqual([1, null, null, 0]);
  expect(() => {
    knight.opacity = 0.5;
  }).toThrow('The opacity of an instance needs a new InstanceUniforms(crowd).');
  expect(() => knight.emissive).toThrow('new InstanceUniforms(crowd)');
  expect(() => knight.setPose(root)).toThrow('new JointEdits(crowd)');
  expect(() => (knight.bones[0].rotation.x = 1)).toThrow('new JointEdits(crowd)');
  new InstanceUniforms(crowd);
  new JointEdits(crowd);
  knight.opacity = 0.5;
  knight.bones[0].rotation.x = 1;
  expect(knight.opacity).toBe(0.5);
});

test('what the crowd has for all warns once where it is set on one, with what to do', () => {
  const { crowd, knight, other } = createLooked();
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  knight.castShadow = crowd.castShadow;
  knight.renderOrder = 0;
  knight.frustumCulled = true;
  knight.clone();
  expect(warn).not.toHaveBeenCalled();
  for (const one of [knight, other]) {
    one.castShadow = !crowd.castShadow;
    one.receiveShadow = !crowd.receiveShadow;
    one.renderOrder = 2;
    one.frustumCulled = false;
    Object.assign(one, { material: new MeshStandardMaterial(), transparent: true });
  }
  const told = warn.mock.calls.map(([text]) => String(text));
  expect(told.map((text) => text.split(' ')[1])).toEqual([
    'castShadow',
    'receiveShadow',
    'renderOrder',
    'frustumCulled',
    'material',
    'transparent',
  ]);
  expect(told[3]).toContain('perObjectFrustumCulled');
  expect([knight.castShadow, knight.frustumCulled, 'material' in knight && knight.material]).toEqual([
    crowd.castShadow,
    true,
    undefined,
  ]);
});

test('a whole game is saved, and loaded into an empty crowd', () => {
  const { root, clips } = createKnight();
  const character = bakeCharacter(root, clips);
  const game = () => {
    const crowd = new SkinnedInstancedMesh(character, 0);
    return { crowd, parts: new InstanceParts(crowd) };
  };
  const [one, other] = [game(), game()];
  const [ann, bob, cid] = [0, 1, 2].map(() => new SkinnedInstance(one.crowd));
  ann.clipAction(0).setEffectiveWeight(0.3).play();
  ann.clipAction(1).setEffectiveWeight(0.7).play();
  bob.dispose();
  cid.position.set(1, 2, 3);
  cid.color.set(0x00ff00);
  one.parts.setVisibleAt(2, 'Sword', false);
  one.crowd.update(0.4);
  one.crowd.updateMatrixWorld();

  loadPlayback(other.crowd, JSON.parse(JSON.stringify(savePlayback(one.crowd))));
  const matrix = new Matrix4();
  const [annAgain, cidAgain] = [ann, cid].map(({ instanceId: i }) => {
    other.crowd.setMatrixAt(i, one.crowd.getMatrixAt(i, matrix));
    other.crowd.setColorAt(i, one.crowd.getColorAt(i, _color));
    other.parts.setVisibleAt(i, 'Sword', one.parts.getVisibleAt(i, 'Sword'));
    return new SkinnedInstance(other.crowd, i);
  });
  expect(other.crowd.instanceCount).toBe(2);
  for (const clip of [0, 1]) {
    const action = annAgain.clipAction(clip).setEffectiveWeight(other.crowd.getWeightAt(0, clip));
    action.play().time = other.crowd.getTimeAt(0, 'base', clip);
  }
  expect(annAgain.clipAction(1).getEffectiveWeight()).toBeCloseTo(0.7);
  expect(annAgain.clipAction(1).time).toBeCloseTo(0.4);
  expect(cidAgain.position.toArray()).toEqual([1, 2, 3]);
  expect([cidAgain.color.getHex(), other.parts.getVisibleAt(2, 'Sword')]).toEqual([0x00ff00, false]);
  for (const { crowd } of [one, other]) crowd.update(0.9);
  const [p, q] = [one, other].map(({ crowd }) => getVertexPosition(crowd, 0, 5, new Vector3()));
  expect(p.distanceTo(q)).toBeLessThan(1e-5);
});
