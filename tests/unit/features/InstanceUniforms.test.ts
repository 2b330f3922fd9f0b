import { InstanceUniforms } from 'skinned-instanced-mesh';
import {
  Color,
  DataArrayTexture,
  MeshBasicMaterial,
  MeshStandardMaterial,
  Vector2,
  Vector3,
  Vector4,
} from 'three';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { uniformsOf } from '../../support/features.js';
import type { SkinnedInstancedMesh } from '../../support/library.js';
import { createStickCrowd } from '../../support/stick.js';

function createCrowd(count: number, uniforms = {}): SkinnedInstancedMesh {
  const crowd = createStickCrowd(count);
  new InstanceUniforms(crowd, uniforms);
  crowd.material = new MeshStandardMaterial({ transparent: true });
  return crowd;
}

describe('a crowd', () => {
  let crowd: SkinnedInstancedMesh;
  beforeEach(() => {
    crowd = createCrowd(4);
  });

  test('gives what was declared, of every type', () => {
    crowd = createCrowd(2, { a: 'float', b: 'vec2', c: 'vec3', d: 'vec4', e: 'color' });
    expect(uniformsOf(crowd).getAt(1, 'a')).toBe(0);
    uniformsOf(crowd)
      .setAt(1, 'a', 0.5)
      .setAt(1, 'b', new Vector2(1, 2))
      .setAt(1, 'c', new Vector3(3, 4, 5));
    uniformsOf(crowd)
      .setAt(1, 'd', new Vector4(6, 7, 8, 9))
      .setAt(1, 'e', new Color(0.25, 0.5, 0.75));
    expect(uniformsOf(crowd).getAt(1, 'a')).toBe(0.5);
    expect(uniformsOf(crowd).getAt(1, 'b', new Vector2())).toEqual(new Vector2(1, 2));
    expect(uniformsOf(crowd).getAt(1, 'c', new Vector3())).toEqual(new Vector3(3, 4, 5));
    expect(uniformsOf(crowd).getAt(1, 'd', new Vector4())).toEqual(new Vector4(6, 7, 8, 9));
    expect(uniformsOf(crowd).getAt(1, 'e', new Color())).toEqual(new Color(0.25, 0.5, 0.75));
    expect(uniformsOf(crowd).getAt(0, 'd', new Vector4(1, 1, 1, 1))).toEqual(new Vector4(0, 0, 0, 0));
    expect(uniformsOf(crowd).setAt(0, 'opacity', 0.5).getAt(0, 'opacity')).toBe(0.5);
    expect(
      uniformsOf(crowd)
        .setAt(0, 'emissive', new Color(1, 2, 3))
        .getAt(0, 'emissive', new Color()),
    ).toEqual(new Color(1, 2, 3));
  });

  test('is typed by what was declared', () => {
    const uniforms = new InstanceUniforms(createStickCrowd(2), { dirt: 'float', tint: 'color' });
    const dirt: number = uniforms.setAt(0, 'dirt', 1).setAt(0, 'roughness', null).getAt(0, 'dirt');
    const tint: Color = uniforms.getAt(0, 'tint', new Color());
    expect([dirt, tint.r]).toEqual([1, 0]);
    // @ts-expect-error: a name that was not declared
    expect(() => uniforms.setAt(0, 'dust', 1)).toThrow('no uniform "dust"');
    // @ts-expect-error: a value of another type
    expect(() => uniforms.setAt(0, 'tint', 1)).toThrow('"tint" is 1');
    expect([crowd.parts?.names, crowd.uniforms?.setAt(0, 'opacity', 1).getAt(0, 'opacity')]).toEqual([
      undefined,
      1,
    ]);
  });
});

describe('errors', () => {
  const crowd = createCrowd(2, { dirt: 'float', glow: 'color' });
  test.each<[string, () => void, string]>([
    ['no instance', () => uniformsOf(crowd).setAt(2, 'opacity', 1), 'no instance 2'],
    [
      'a range beyond the end',
      () => uniformsOf(crowd).setAt({ start: 1, count: 2 }, 'emissive', new Color()),
      'The range',
    ],
    [
      'an opacity that is none',
      () => uniformsOf(crowd).setAt(0, 'opacity', Number.NaN),
      '"opacity" is NaN; use a finite number.',
    ],
    [
      'a roughness below 0',
      () => uniformsOf(crowd).setAt(0, 'roughness', -0.5),
      'roughness is -0.5; use a number from 0, or null',
    ],
    [
      'a uniform that was not declared',
      () => uniformsOf(crowd).setAt(0, 'dust', 1),
      'no uniform "dust"; there are "dirt", "roughness", ',
    ],
    ['a type that is none', () => createCrowd(1, { dirt: 'int' }), 'uniforms.dirt is "int"; use "float"'],
    [
      'a name that GLSL would not take',
      () => createCrowd(1, { '2nd': 'float' }),
      '"2nd" cannot be the name of a uniform',
    ],
    [
      'too many numbers',
      () => createCrowd(1, { a: 'vec4', b: 'vec4', c: 'vec4', d: 'vec4', e: 'float' }),
      'Uniforms are 17 numbers for each instance, of at most 16',
    ],
  ])('%s is one', (_, act, message) => {
    expect(act).toThrow(message);
  });

  test.each<[string, (some: SkinnedInstancedMesh) => void, string]>([
    ['emission', (some) => uniformsOf(some).setAt(0, 'emissive', new Color()), 'emits no light'],
    ['opacity', (some) => uniformsOf(some).setAt(0, 'opacity', 1), 'is opaque; set transparent'],
    ['roughness', (some) => uniformsOf(some).setAt(0, 'roughness', 1), 'has no roughness'],
    ['metalness', (some) => uniformsOf(some).setAt(0, 'metalness', 1), 'has no metalness'],
    ['layers', (some) => uniformsOf(some).setAt(0, 'mapLayer', 1), 'has no texture array'],
  ])('a material without %s is warned of, once', (_, act, message) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const some = createCrowd(1);
    some.material = new MeshBasicMaterial({ name: `plain ${message}` });
    act(some);
    act(some);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0][0]).toContain(`MeshBasicMaterial "plain ${message}" ${message}`);
    warn.mockClear();
    const map = new DataArrayTexture(new Uint8Array(8), 1, 1, 2);
    some.material = [some.material, new MeshStandardMaterial({ alphaTest: 0.5, map })];
    act(some);
    expect(warn).not.toHaveBeenCalled();
  });
});
