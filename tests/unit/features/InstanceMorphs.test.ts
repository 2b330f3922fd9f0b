import { DataTexture, Mesh, PerspectiveCamera, Vector3 } from 'three';
import { expect, test, vi } from 'vitest';
import {
  bakeCharacter,
  getVertexPosition,
  InstanceMorphs,
  SkinnedInstance,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { createMorphingStick } from '../../support/stick.js';

function createCrowd(count = 3) {
  const { root, clips } = createMorphingStick();
  return new SkinnedInstancedMesh(bakeCharacter(root, clips), count);
}

/** How far the morph target 'Long' takes the vertex that it moves, by the pose that rays and pictures have. */
const long = (crowd: SkinnedInstancedMesh, index: number) =>
  getVertexPosition(crowd, index, 2, new Vector3()).y;

test('instances have influences of their own, by name, by range and as of InstancedMesh', () => {
  const crowd = createCrowd();
  const before = long(crowd, 0);
  const morphs = new InstanceMorphs(crowd);
  expect(crowd.morphTexture).toBeNull();
  expect(morphs.getInfluenceAt(1, 'Long')).toBe(0);
  morphs.setInfluenceAt({ start: 1, count: 2 }, 'Long', 0.5);
  const half = long(crowd, 1) - before;
  expect(half).toBeGreaterThan(0);
  expect([long(crowd, 0), long(crowd, 2)]).toEqual([before, before + half]);
  crowd.setMorphAt(2, Object.assign(new Mesh(), { morphTargetInfluences: [1] }));
  expect(long(crowd, 2) - before).toBeCloseTo(2 * half, 6);
  expect(morphs.getInfluenceAt(2, 'Long')).toBe(1);
  morphs.setInfluenceAt(2, 'Long', null);
  expect(long(crowd, 2)).toBe(before);
  expect(() => morphs.setInfluenceAt(0, 'Wide', 1)).toThrow('no morph target "Wide"; there are "Long"');
  expect(() => morphs.setInfluenceAt(3, 'Long', 1)).toThrow('no instance 3');
  expect(() => new InstanceMorphs(crowd)).toThrow('has InstanceMorphs already');
});

test('without the feature there is an error or a warning, which name it', () => {
  const crowd = createCrowd();
  const object = Object.assign(new Mesh(), { morphTargetInfluences: [1] });
  expect(() => crowd.setMorphAt(0, object)).toThrow('make a new InstanceMorphs(crowd)');
  expect(() => new SkinnedInstance(createCrowd()).setMorphInfluence('Long', 1)).toThrow('new InstanceMorphs');
  crowd.getMorphAt(0, object);
  expect(object.morphTargetInfluences).toEqual([0]);

  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  crowd.morphTexture = new DataTexture(new Float32Array(6), 2, 3);
  expect(() =>
    crowd.onBeforeRender(
      {} as never,
      {} as never,
      new PerspectiveCamera(),
      crowd.geometry,
      {} as never,
      null,
    ),
  ).toThrow();
  expect(warn.mock.calls.flat().join()).toContain('make a new InstanceMorphs(crowd)');
});
