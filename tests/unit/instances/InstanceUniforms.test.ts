import {
  BoxGeometry,
  Color,
  DataArrayTexture,
  MeshBasicMaterial,
  MeshStandardMaterial,
  Vector2,
  Vector3,
  Vector4,
} from 'three';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { layoutOf } from '../../../lib/instances/UniformLayout.js';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { random, SEEDS } from '../../support/random.js';
import { createStick } from '../../support/stick.js';

function createCrowd(count: number, uniforms = {}): SkinnedInstancedMesh {
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, count, { uniforms });
  crowd.material = new MeshStandardMaterial({ transparent: true });
  return crowd;
}

const texelsOf = (crowd: SkinnedInstancedMesh) => crowd.instanceUniforms?.layout.texels ?? 0;

describe('layouts', () => {
  test('of the same uniforms are one, in whatever order, and large ones come first', () => {
    const a = layoutOf([
      ['dirt', 'float'],
      ['glow', 'color'],
      ['at', 'vec2'],
    ]);
    const b = layoutOf([
      ['at', 'vec2'],
      ['dirt', 'float'],
      ['glow', 'color'],
    ]);
    expect(b).toBe(a);
    expect(a.texels).toBe(2);
    expect(a.places.get('glow')).toMatchObject({ at: 0, size: 3 });
    expect(a.places.get('at')).toMatchObject({ at: 4, size: 2 });
    expect(a.places.get('dirt')).toMatchObject({ at: 3, size: 1 });
    expect(layoutOf([]).number).toBe(0);
    expect(layoutOf([]).texels).toBe(0);
  });

  test('put no uniform over the end of a texel, and no two in one place', () => {
    const next = random(5);
    const types = ['float', 'vec2', 'vec3', 'vec4', 'color'] as const;
    for (let round = 0; round < 100; round++) {
      const names = Array.from({ length: 1 + Math.floor(next() * 6) }, (_, i) => `u${i}`);
      const layout = layoutOf(names.map((name) => [name, types[Math.floor(next() * types.length)]]));
      const taken = new Set<number>();
      for (const { at, size } of layout.places.values()) {
        expect(Math.floor(at / 4)).toBe(Math.floor((at + size - 1) / 4));
        for (let i = at; i < at + size; i++) {
          expect(taken.has(i)).toBe(false);
          taken.add(i);
        }
      }
    }
  });
});

describe('a crowd', () => {
  let crowd: SkinnedInstancedMesh;
  beforeEach(() => {
    crowd = createCrowd(4);
  });

  test('has no numbers until an instance is given something', () => {
    expect(crowd.instanceUniforms).toBeNull();
    expect(crowd.getEmissiveAt(0, new Color(1, 1, 1))).toEqual(new Color(0, 0, 0));
    expect(crowd.getOpacityAt(0)).toBe(1);
    expect(crowd.getRoughnessAt(0)).toBeNull();
    expect(crowd.getMetalnessAt(0)).toBeNull();
    expect(crowd.getMapLayerAt(0)).toBe(0);
    expect(crowd.instanceUniforms).toBeNull();
  });

  test('takes as many texels as it needs', () => {
    crowd.setOpacityAt(0, 0.5);
    expect(texelsOf(crowd)).toBe(1);
    crowd.setEmissiveAt({ start: 1, count: 2 }, new Color(1, 2, 3));
    expect(texelsOf(crowd)).toBe(1);
    crowd.setRoughnessAt(2, 0.25).setMetalnessAt(2, 1).setMetalnessAt(3, 1).setMetalnessAt(3, null);
    expect(texelsOf(crowd)).toBe(2);
    expect([0, 1, 2, 3].map((i) => crowd.getOpacityAt(i))).toEqual([0.5, 1, 1, 1]);
    expect([0, 1, 2, 3].map((i) => crowd.getEmissiveAt(i, new Color()).b)).toEqual([0, 3, 3, 0]);
    expect([0, 1, 2, 3].map((i) => crowd.getRoughnessAt(i))).toEqual([null, null, 0.25, null]);
    expect([0, 1, 2, 3].map((i) => crowd.getMetalnessAt(i))).toEqual([null, null, 1, null]);
  });

  test('gives what was declared, of every type', () => {
    crowd = createCrowd(2, { a: 'float', b: 'vec2', c: 'vec3', d: 'vec4', e: 'color' });
    expect(crowd.getUniformAt(1, 'a')).toBe(0);
    crowd
      .setUniformAt(1, 'a', 0.5)
      .setUniformAt(1, 'b', new Vector2(1, 2))
      .setUniformAt(1, 'c', new Vector3(3, 4, 5));
    crowd.setUniformAt(1, 'd', new Vector4(6, 7, 8, 9)).setUniformAt(1, 'e', new Color(0.25, 0.5, 0.75));
    expect(crowd.getUniformAt(1, 'a')).toBe(0.5);
    expect(crowd.getUniformAt(1, 'b', new Vector2())).toEqual(new Vector2(1, 2));
    expect(crowd.getUniformAt(1, 'c', new Vector3())).toEqual(new Vector3(3, 4, 5));
    expect(crowd.getUniformAt(1, 'd', new Vector4())).toEqual(new Vector4(6, 7, 8, 9));
    expect(crowd.getUniformAt(1, 'e', new Color())).toEqual(new Color(0.25, 0.5, 0.75));
    expect(crowd.getUniformAt(0, 'd', new Vector4(1, 1, 1, 1))).toEqual(new Vector4(0, 0, 0, 0));
    expect(crowd.setUniformAt(0, 'opacity', 0.5).getOpacityAt(0)).toBe(0.5);
    expect(crowd.setEmissiveAt(0, new Color(1, 2, 3)).getUniformAt(0, 'emissive', new Color())).toEqual(
      new Color(1, 2, 3),
    );
  });

  test('lets what is attached have the same, until it is given some of its own', () => {
    const hat = crowd.attachToJoint(
      'Tip',
      new BoxGeometry(),
      new MeshStandardMaterial({ transparent: true }),
    );
    crowd.setOpacityAt(2, 0.5);
    expect(hat.getOpacityAt(2)).toBe(0.5);
    expect(hat.instanceUniforms).toBe(crowd.instanceUniforms);
    hat.setEmissiveAt(2, new Color(1, 0, 0));
    expect(hat.instanceUniforms).not.toBe(crowd.instanceUniforms);
    expect(hat.getOpacityAt(2), 'begins with what it had').toBe(0.5);
    expect(crowd.getEmissiveAt(2, new Color()).r).toBe(0);
    crowd.swapInstances(1, 2);
    expect(hat.getEmissiveAt(1, new Color()).r).toBe(1);
    const copy = crowd.clone();
    expect(copy.getOpacityAt(1)).toBe(0.5);
    const [copiedHat] = copy.attachments as unknown as (typeof hat)[];
    expect(copiedHat.getEmissiveAt(1, new Color()).r).toBe(1);
    hat.dispose();
    expect(crowd.getOpacityAt(1)).toBe(0.5);
  });

  test('keeps what shaders of the user ask for when it becomes a copy of another', () => {
    crowd = createCrowd(4, { dirt: 'float' });
    crowd.setUniformAt(0, 'dirt', 1);
    const other = createCrowd(4);
    other.setOpacityAt(1, 0.25);
    crowd.copy(other);
    expect(crowd.getOpacityAt(1)).toBe(0.25);
    expect(crowd.getUniformAt(0, 'dirt')).toBe(0);
  });

  test('shares them with levels of detail', () => {
    const level = crowd.addLevel(crowd.geometry, 10);
    crowd.setOpacityAt(1, 0.5);
    expect(level.instanceUniforms).toBe(crowd.instanceUniforms);
  });

  test('uploads nothing where nothing has changed, and else what has', () => {
    crowd = createCrowd(1000, { dirt: 'float' });
    const numbers = crowd.instanceUniforms;
    const { plain, layered } = numbers!.texture;
    plain.clearUpdateRanges();
    layered.clearLayerUpdates();
    const versions = [plain.version, layered.version];
    crowd.setUniformAt(crowd.all, 'dirt', 0);
    expect([plain.version, layered.version]).toEqual(versions);
    crowd.setUniformAt(300, 'dirt', 0.1).setUniformAt(300, 'dirt', 0.1).setUniformAt(302, 'dirt', 0.1);
    expect(plain.updateRanges).toEqual([{ start: 1200, count: 12 }]);
    expect([...layered.layerUpdates]).toEqual([1]);
  });
});

describe('errors', () => {
  const crowd = createCrowd(2, { dirt: 'float', glow: 'color' });
  test.each<[string, () => void, string]>([
    ['no instance', () => crowd.setOpacityAt(2, 1), 'setOpacityAt: no instance 2'],
    [
      'a range beyond the end',
      () => crowd.setEmissiveAt({ start: 1, count: 2 }, new Color()),
      'setEmissiveAt: the range',
    ],
    [
      'an opacity that is none',
      () => crowd.setOpacityAt(0, Number.NaN),
      'setOpacityAt: "opacity" is NaN; use a finite number.',
    ],
    [
      'a colour that is none',
      () => crowd.setEmissiveAt(0, 0xff0000 as never),
      'use a Color of finite numbers.',
    ],
    [
      'a roughness below 0',
      () => crowd.setRoughnessAt(0, -0.5),
      'setRoughnessAt: roughness is -0.5; use a number from 0, or null',
    ],
    [
      'half a layer',
      () => crowd.setMapLayerAt(0, 0.5),
      'setMapLayerAt: layer is 0.5; use a whole number from 0.',
    ],
    [
      'a uniform that was not declared',
      () => crowd.setUniformAt(0, 'dust', 1),
      'setUniformAt: no uniform "dust"; the crowd has "glow", "dirt". Declare it',
    ],
    [
      'a value of another type',
      () => crowd.setUniformAt(0, 'glow', 1),
      'setUniformAt: "glow" is , , ; use a Color of finite numbers.',
    ],
    [
      'no target',
      () => crowd.getUniformAt(0, 'glow'),
      'getUniformAt: target is undefined; pass a Color for the color "glow".',
    ],
    [
      'a type that is none',
      () => createCrowd(1, { dirt: 'int' }),
      'SkinnedInstancedMesh: uniforms.dirt is "int"; use \'float\'',
    ],
    [
      'a name that GLSL would not take',
      () => createCrowd(1, { '2nd': 'float' }),
      '"2nd" cannot be the name of a uniform',
    ],
    [
      'a name that GLSL keeps',
      () => createCrowd(1, { a__b: 'float' }),
      '"a__b" cannot be the name of a uniform',
    ],
    [
      'a known name of another type',
      () => createCrowd(1, { opacity: 'vec2' }),
      "uniforms.opacity is 'vec2', but what setOpacityAt sets is a 'float'",
    ],
    [
      'too many numbers',
      () => createCrowd(1, { a: 'vec4', b: 'vec4', c: 'vec4', d: 'vec4', e: 'float' }),
      'uniforms are 17 numbers for each instance, of at most 16',
    ],
  ])('%s is one', (_, act, message) => {
    expect(act).toThrow(message);
  });

  test('a deleted instance is one', () => {
    const some = createCrowd(3);
    some.deleteInstance(1);
    expect(() => some.setOpacityAt(1, 0.5)).toThrow('instance 1 was deleted');
    expect(() => some.getOpacityAt(1)).toThrow('instance 1 was deleted');
    some.setOpacityAt(some.all, 0.5);
    expect(some.addInstance()).toBe(1);
    expect(some.getOpacityAt(1)).toBe(1);
  });

  test.each<[string, (some: SkinnedInstancedMesh) => void, string]>([
    ['emission', (some) => some.setEmissiveAt(0, new Color()), 'emits no light'],
    ['opacity', (some) => some.setOpacityAt(0, 1), 'is opaque; set transparent'],
    ['roughness', (some) => some.setRoughnessAt(0, 1), 'has no roughness'],
    ['metalness', (some) => some.setMetalnessAt(0, 1), 'has no metalness'],
    ['layers', (some) => some.setMapLayerAt(0, 1), 'has no texture array'],
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
    warn.mockRestore();
  });
});

/** What an instance has, in plain words. */
interface Expected {
  emissive: number[];
  opacity: number;
  roughness: number | null;
  layer: number;
  dirt: number;
  at: number[];
}

const fresh = (): Expected => ({
  emissive: [0, 0, 0],
  opacity: 1,
  roughness: null,
  layer: 0,
  dirt: 0,
  at: [0, 0],
});

describe.each(SEEDS)('random changes, seed %i,', (seed) => {
  test('leave every instance what it was given', () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    const next = random(seed);
    const whole = (below: number) => Math.floor(next() * below);
    // what a float32 holds exactly
    const number = () => whole(256) / 256;
    let crowd = createCrowd(6, { dirt: 'float', at: 'vec2' });
    let model = Array.from({ length: 6 }, fresh);
    let deleted = new Set<number>();
    const living = () => model.map((_, i) => i).filter((i) => !deleted.has(i));
    for (let step = 0; step < 400; step++) {
      const ids = living();
      const id = ids[whole(ids.length)];
      const value = number();
      const actions = [
        () => {
          crowd.setEmissiveAt(id, new Color(value, 0.5, 2));
          model[id].emissive = [value, 0.5, 2];
        },
        () => {
          const start = whole(model.length);
          const count = whole(model.length - start + 1);
          crowd.setOpacityAt({ start, count }, value);
          for (const i of living()) if (i >= start && i < start + count) model[i].opacity = value;
        },
        () => {
          model[id].roughness = whole(3) === 0 ? null : value;
          crowd.setRoughnessAt(id, model[id].roughness);
        },
        () => {
          model[id].layer = whole(9);
          crowd.setMapLayerAt(id, model[id].layer);
        },
        () => {
          model[id].dirt = value;
          crowd.setUniformAt(id, 'dirt', value);
        },
        () => {
          crowd.setUniformAt(id, 'at', new Vector2(value, -value));
          model[id].at = [value, -value];
        },
        () => {
          const other = ids[whole(ids.length)];
          crowd.swapInstances(id, other);
          [model[id], model[other]] = [model[other], model[id]];
        },
        () => {
          if (ids.length < 2) return;
          crowd.deleteInstance(id);
          deleted.add(id);
        },
        () => {
          const added = crowd.addInstance();
          deleted.delete(added);
          model[added] = fresh();
        },
        () => {
          crowd.setCapacity(crowd.count + whole(5));
        },
        () => {
          const copy = crowd.clone();
          crowd.dispose();
          crowd = copy;
        },
        () => {
          crowd.optimize();
          model = model.slice(0, crowd.count);
          deleted = new Set([...deleted].filter((i) => i < crowd.count));
        },
      ];
      actions[whole(actions.length)]();
      expect(model.length).toBe(crowd.count);
      for (const i of living()) {
        expect({
          emissive: crowd.getEmissiveAt(i, new Color()).toArray(),
          opacity: crowd.getOpacityAt(i),
          roughness: crowd.getRoughnessAt(i),
          layer: crowd.getMapLayerAt(i),
          dirt: crowd.getUniformAt(i, 'dirt'),
          at: crowd.getUniformAt(i, 'at', new Vector2()).toArray(),
        }).toEqual(model[i]);
      }
    }
    vi.restoreAllMocks();
  });
});

describe('what is attached', () => {
  const attach = (crowd: SkinnedInstancedMesh) =>
    crowd.attachToJoint('Base', new BoxGeometry(), new MeshStandardMaterial());

  test('keeps what it has of its owner when it is given something of its own', () => {
    const crowd = createCrowd(2, { dirt: 'float' });
    const sword = attach(crowd);
    crowd.setUniformAt(0, 'dirt', 0.25).setOpacityAt(1, 0.5);
    sword.setEmissiveAt(0, new Color(1, 0, 0));
    expect([sword.getUniformAt(0, 'dirt'), sword.getOpacityAt(1)]).toEqual([0.25, 0.5]);
    expect(sword.getEmissiveAt(0, new Color()).toArray()).toEqual([1, 0, 0]);
    expect(crowd.getEmissiveAt(0, new Color()).toArray()).toEqual([0, 0, 0]);
    crowd.dispose();
  });

  test('has it in a clone of its own, and goes on following its owner in a clone of the crowd', () => {
    const crowd = createCrowd(2);
    const sword = attach(crowd);
    crowd.setOpacityAt(1, 0.5);
    const alone = sword.clone();
    expect(alone.getOpacityAt(1)).toBe(0.5);
    crowd.setOpacityAt(1, 0.75);
    expect([sword.getOpacityAt(1), alone.getOpacityAt(1)]).toEqual([0.75, 0.5]);

    const copy = crowd.clone();
    const [attached] = copy.attachments as (typeof sword)[];
    expect(attached.getOpacityAt(1)).toBe(0.75);
    copy.setOpacityAt(1, 0.25);
    expect(attached.getOpacityAt(1)).toBe(0.25);
    for (const one of [crowd, alone, copy]) one.dispose();
  });
});

test('a copy leaves declared uniforms of the type that they were declared as', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const crowd = createCrowd(1, { dirt: 'float', glow: 'float' });
  const other = createCrowd(1, { dirt: 'vec2', glow: 'float' });
  other.setUniformAt(0, 'dirt', new Vector2(3, 4)).setUniformAt(0, 'glow', 2);
  crowd.copy(other);
  expect([crowd.getUniformAt(0, 'dirt'), crowd.getUniformAt(0, 'glow')]).toEqual([0, 2]);
  expect(() => crowd.setUniformAt(0, 'dirt', 1)).not.toThrow();
  expect(warn.mock.calls.join()).toContain('"dirt" is of type "float" here and of "vec2" there');
  warn.mockRestore();
  for (const one of [crowd, other]) one.dispose();
});
