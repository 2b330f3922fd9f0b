import { type Box3, BoxGeometry, Matrix4, MeshBasicMaterial, Raycaster, type Sphere, Vector3 } from 'three';
import { expect, test, vi } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { partsOf } from '../../support/features.js';
import {
  bakeCharacter,
  getVertexPosition,
  JointAttachment,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { createStick, createStickCrowd } from '../../support/stick.js';

const createCrowd = (count = 2) => createStickCrowd(count);

test('bounds that a crowd computed follow the instances of its clone', () => {
  const crowd = createCrowd();
  crowd.computeBoundingBox();
  crowd.computeBoundingSphere();
  const clone = crowd.clone();
  clone.setMatrixAt(0, new Matrix4().makeTranslation(500, 0, 0));
  clone.instanceMatrix.needsUpdate = true;
  clone.updateMatrixWorld();
  clone.computeBoundingSphere();
  expect(clone.boundingSphere!.radius).toBeGreaterThan(240);
  expect(clone.boundingBox).toBe(null);
  expect(crowd.boundingSphere!.radius).toBeLessThan(20);
});

test('a crowd may become a copy of another character', () => {
  const { root, clips } = createCharacter();
  const character = bakeCharacter(root, clips, { fps: 5 });
  const big = new SkinnedInstancedMesh(character, 5, {
    influences: 2,
    shadowInfluences: 1,
  });
  big.setMatrixAt(4, new Matrix4().makeTranslation(1, 2, 3));
  partsOf(big.play(4, 'Run', { time: 0.2 })).setVisibleAt(3, 0, false);
  const small = createCrowd(2);
  small.computeBoundingSphere();
  small.copy(big);
  expect(small).toMatchObject({ boneTexture: big.boneTexture, influences: 2, shadowInfluences: 1 });
  expect(small).toMatchObject({ capacity: 5, count: 5 });
  expect(small.getClipAt(4)).toBe('Run');
  expect(partsOf(small).getVisibleAt(3, 0)).toBe(false);
  const vertices = big.geometry.getAttribute('position').count;
  const expected = new Vector3();
  const copied = new Vector3();
  for (let vertex = 0; vertex < vertices; vertex += 7) {
    getVertexPosition(big, 4, vertex, expected);
    expect(getVertexPosition(small, 4, vertex, copied)).toEqual(expected);
  }
  small.computeBoundingSphere();
  big.computeBoundingSphere();
  expect(small.boundingSphere).toEqual(big.boundingSphere);
});

test('copy says what it cannot do, before it does any of it', () => {
  const { root, clips } = createCharacter();
  const big = new SkinnedInstancedMesh(bakeCharacter(root, clips, { fps: 5 }), 1);
  const stick = createCrowd();
  const hat = new JointAttachment(stick, 'Tip', new BoxGeometry(), new MeshBasicMaterial());
  const before = stick.boneTexture;
  expect(() => stick.copy(big)).toThrow('There is no joint "Tip"; there are');
  expect(stick.boneTexture).toBe(before);
  expect(() => hat.copy()).toThrow('An attachment belongs to its crowd');
  expect(hat.playback).toBe(stick.playback);
});

test('bounds are those of the geometry that was assigned', () => {
  const { root, mesh, clips } = createStick();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 600);
  crowd.computeBoundingBox();
  crowd.computeBoundingSphere();
  const { radius } = crowd.boundingSphere!;
  crowd.geometry = mesh.geometry.clone().scale(50, 50, 50);
  expect(crowd.boundingBox).toBe(null);
  expect(crowd.boundingSphere).toBe(null);
  crowd.updateMatrixWorld();
  const ray = new Raycaster(new Vector3(10, 10, 9), new Vector3(0, 0, -1));
  expect(ray.intersectObject(crowd).length).toBe(600);
  crowd.computeBoundingSphere();
  expect((crowd.boundingSphere as unknown as Sphere).radius).toBeGreaterThan(radius * 5);
  crowd.computeBoundingBox();
  const box = crowd.boundingBox as unknown as Box3;
  for (let vertex = 0; vertex < 3; vertex++) {
    expect(box.distanceToPoint(getVertexPosition(crowd, 0, vertex, new Vector3()))).toBeLessThan(1e-4);
  }
});

test('numbers that would be drawn as garbage are refused', () => {
  for (const vertex of [3, -1, 0.5, Number.NaN])
    expect(() => getVertexPosition(createCrowd(), 0, vertex, new Vector3())).toThrow(
      `There is no vertex ${vertex}; the geometry has 3, 0 to 2.`,
    );
  const matrix = new Matrix4();
  for (const element of [0, 3, 5, 13, 15]) {
    const elements = matrix.identity().elements.with(element, Number.NaN);
    expect(() => createCrowd().setMatrixAt(1, matrix.fromArray(elements))).toThrow('The matrix is ');
  }
});

test('a matrix that mirrors is placed, with one warning', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const crowd = createCrowd();
  crowd.setMatrixAt(0, new Matrix4().makeRotationY(2).scale(new Vector3(2, 3, 0.5)));
  crowd.setMatrixAt(0, new Matrix4().makeScale(-1, -1, 1));
  crowd.setMatrixAt(0, new Matrix4().makeScale(0, 0, 0));
  expect(warn).not.toHaveBeenCalled();
  const mirrored = new Matrix4().makeScale(1, -2, 1);
  crowd.setMatrixAt(0, mirrored).setMatrixAt(1, mirrored);
  expect(warn.mock.calls).toEqual([
    [
      'SkinnedInstancedMesh: a matrix mirrors, so its instance is drawn inside out; put mirrored instances in a crowd of their own whose scale.x is -1.',
    ],
  ]);
  const matrix = new Matrix4();
  crowd.getMatrixAt(1, matrix);
  expect(matrix).toEqual(mirrored);
});
