import { BoxGeometry, BufferGeometry, Color, Matrix4, Mesh, MeshBasicMaterial, Vector3 } from 'three';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

afterEach(() => vi.restoreAllMocks());

function createCrowd() {
  const { root, clips } = createStick();
  return SkinnedInstancedMesh.from(root, clips, 2);
}

describe('numbers that would be drawn as garbage are refused', () => {
  test.each([3, -1, 0.5, Number.NaN])('vertex %s', (vertex) => {
    expect(() => createCrowd().getVertexPositionAt(0, vertex, new Vector3())).toThrow(
      `SkinnedInstancedMesh.getVertexPositionAt: no vertex ${vertex}; the geometry has 3, 0 to 2.`,
    );
  });

  test.each([Number.NaN, Infinity])('colours of %s', (bad) => {
    const crowd = createCrowd();
    const color = new Color(0, bad, 1);
    expect(() => crowd.setColorAt(0, color)).toThrow(
      `SkinnedInstancedMesh.setColorAt: color is 0, ${bad}, 1; use a Color of finite numbers.`,
    );
    expect(() => crowd.setPartColorAt(0, 0, color)).toThrow(
      `SkinnedInstancedMesh.setPartColorAt: color is 0, ${bad}, 1`,
    );
    expect(() => crowd.setColorAt(0, undefined as unknown as Color)).toThrow('color is undefined');
    expect(crowd.instanceColor).toBe(null);
    expect(crowd.parts).toBe(null);
  });

  test.each([0, 3, 5, 13, 15])('matrices with element %i of NaN', (element) => {
    const crowd = createCrowd();
    const matrix = new Matrix4();
    matrix.elements[element] = Number.NaN;
    expect(() => crowd.setMatrixAt(1, matrix)).toThrow('SkinnedInstancedMesh.setMatrixAt: the matrix is ');
    crowd.getMatrixAt(1, matrix);
    expect(matrix).toEqual(new Matrix4());
  });

  test.each([null, undefined, {}])('%s in the place of what is asked for', (nothing) => {
    const crowd = createCrowd();
    const none = nothing as never;
    expect(() => crowd.setMatrixAt(0, none)).toThrow(/^SkinnedInstancedMesh\.setMatrixAt: .* is no Matrix4/);
    expect(() => crowd.addLevel(null, none)).toThrow(
      /^SkinnedInstancedMesh\.addLevel: (start|screenShare) is /,
    );
    crowd.geometry.morphAttributes.position = [crowd.geometry.getAttribute('position').clone() as never];
    expect(() => crowd.setMorphAt(0, none)).toThrow(/^SkinnedInstancedMesh\.setMorphAt: the object has no/);
  });

  test('a text as the time that has passed', () => {
    const crowd = createCrowd();
    expect(() => crowd.update('1' as never)).toThrow('SkinnedInstancedMesh.update: delta is 1');
    expect(crowd.update(1).elapsed).toBe(1);
  });

  test('morph influences', () => {
    const crowd = createCrowd();
    const object = Object.assign(new Mesh(), { morphTargetInfluences: [Number.NaN] });
    const { geometry } = crowd;
    geometry.morphAttributes.position = [geometry.getAttribute('position').clone() as never];
    crowd.geometry = geometry.clone();
    expect(() => crowd.setMorphAt(0, object)).toThrow(
      'SkinnedInstancedMesh.setMorphAt: morphTargetInfluences[0] is NaN; use a finite number.',
    );
    expect(crowd.morphTexture).toBe(null);
  });

  test('what is attached', () => {
    const crowd = createCrowd();
    const material = new MeshBasicMaterial();
    const offset = new Matrix4().makeTranslation(0, Number.NaN, 0);
    expect(() => crowd.attachToJoint('Tip', new BoxGeometry(), material, offset)).toThrow(
      'SkinnedInstancedMesh.attachToJoint: offset is 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, NaN, 0, 1; use a Matrix4 of finite numbers.',
    );
    expect(() => crowd.attachToJoint('Tip', new BufferGeometry(), material)).toThrow(
      'SkinnedInstancedMesh.attachToJoint: the geometry "" has no attribute "position"',
    );
    expect(() => crowd.attachToJoint('Tip', {} as BufferGeometry, material)).toThrow(
      'pass the geometry and material',
    );
    expect(crowd.children).toEqual([]);
  });

  test('parts that are not listed', () => {
    expect(() => createCrowd().setVisiblePartsAt(0, 'StickMesh' as unknown as string[])).toThrow(
      'SkinnedInstancedMesh.setVisiblePartsAt: visible is "StickMesh"; pass an array of parts.',
    );
  });
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
      'SkinnedInstancedMesh.setMatrixAt: a matrix mirrors, and its instance will be drawn inside out; put mirrored instances in a crowd of their own whose scale.x is -1.',
    ],
  ]);
  const matrix = new Matrix4();
  crowd.getMatrixAt(1, matrix);
  expect(matrix).toEqual(mirrored);
});
