import { BufferGeometry, Float32BufferAttribute, Uint8BufferAttribute, Uint16BufferAttribute } from 'three';
import { describe, expect, test } from 'vitest';
import { setSkin, skinOf } from '../../../lib/character/crowdSkin.js';
import { type BoneTexture, SkinnedInstancedMesh } from '../../support/library.js';
import { random } from '../../support/random.js';
import { createStick } from '../../support/stick.js';

const textureOf = (joints: number) => ({ jointNames: new Array<string>(joints) }) as unknown as BoneTexture;

/** A geometry whose vertices follow joints 0, 1, 2 and 3 of `joints`. */
function geometryOf(weights: Float32BufferAttribute | Uint8BufferAttribute, joints = [0, 1, 2, 3]) {
  const geometry = new BufferGeometry();
  const indices = Array.from({ length: weights.count }, () => joints).flat();
  geometry.setAttribute('position', new Float32BufferAttribute(new Float32Array(weights.count * 3), 3));
  geometry.setAttribute('skinIndex', new Uint16BufferAttribute(indices, 4));
  geometry.setAttribute('skinWeight', weights);
  return geometry;
}

function skinned(source: BufferGeometry, joints = 4): BufferGeometry {
  const geometry = new BufferGeometry();
  setSkin(geometry, source, textureOf(joints), 4, 'Crowd');
  return geometry;
}

/** Bytes of a vertex: those of joint and part, then those of weights. */
function bytesOf(geometry: BufferGeometry): number[] {
  const { joints, weights } = skinOf(geometry);
  const { count } = geometry.getAttribute('skinIndex');
  return [joints.byteLength / count, weights.byteLength / count];
}

/** Weight of each of the joints 0 to 3 at a vertex, as users and shaders read them. */
function weightsOf(geometry: BufferGeometry, vertex: number): number[] {
  const weights = [0, 0, 0, 0];
  for (let i = 0; i < 4; i++) {
    const weight = geometry.getAttribute('skinWeight').getComponent(vertex, i);
    if (weight > 0) weights[geometry.getAttribute('skinIndex').getComponent(vertex, i)] = weight;
  }
  return weights;
}

const floatWeights = (next: () => number) => {
  const weights = new Float32BufferAttribute(new Float32Array(400), 4);
  for (let vertex = 0; vertex < 100; vertex++) {
    const four = Array.from({ length: 4 }, next);
    const sum = four.reduce((a, b) => a + b);
    four.forEach((weight, i) => {
      weights.setComponent(vertex, i, weight / sum);
    });
  }
  return weights;
};

describe('joints, weights and parts of a vertex', () => {
  test('seed 7: weights of any precision stay floats, and are what they were', () => {
    const weights = floatWeights(random(7));
    const geometry = skinned(geometryOf(weights));
    expect(bytesOf(geometry)).toEqual([8, 16]);
    for (let vertex = 0; vertex < weights.count; vertex++) {
      const expected = [...weights.array.subarray(vertex * 4, vertex * 4 + 4)];
      expect(weightsOf(geometry, vertex)).toEqual(expected.map((weight) => expect.closeTo(weight, 7)));
    }
  });

  test('8-bit weights stay 8 bits and lose nothing, even if they do not quite add up to 1', () => {
    const bytes = [
      [100, 99, 30, 25],
      [128, 128, 0, 0],
      [254, 0, 0, 0],
    ];
    const geometry = skinned(geometryOf(new Uint8BufferAttribute(bytes.flat(), 4, true)));
    expect(bytesOf(geometry)).toEqual([8, 4]);
    bytes.forEach((weights, vertex) => {
      const drawn = weightsOf(geometry, vertex).map((weight) => weight * 255);
      expect(drawn).toEqual(weights.map((weight) => expect.closeTo(weight, 9)));
    });
  });

  test('a float just above 1, as it is drawn by three.js, stays a float', () => {
    const geometry = skinned(geometryOf(new Float32BufferAttribute([1.005, 0, 0, 0], 4)));
    expect(weightsOf(geometry, 0)).toEqual([expect.closeTo(1.005, 6), 0, 0, 0]);
  });

  test('joints or parts beyond 8 bits take 16', () => {
    const weights = new Float32BufferAttribute([0.5, 0.5, 0, 0], 4);
    const many = skinned(geometryOf(weights, [0, 300, 0, 0]), 301);
    expect(bytesOf(many)).toEqual([12, 16]);
    expect(many.getAttribute('skinIndex').getY(0)).toBe(300);

    const source = geometryOf(weights);
    source.setAttribute('partIndex', new Uint16BufferAttribute([256], 1));
    const parts = skinned(source);
    expect(bytesOf(parts)).toEqual([12, 16]);
    expect(parts.getAttribute('partIndex').getX(0)).toBe(256);
  });

  test('16-bit weights stay 16 bits', () => {
    const shares = [40000, 20000, 5535, 0];
    const geometry = skinned(geometryOf(new Uint16BufferAttribute(shares, 4, true)));
    expect(bytesOf(geometry)).toEqual([8, 8]);
    expect(Array.from(geometry.getAttribute('skinWeight').array)).toEqual(shares);
  });

  test('what follows one joint has room for any other, to which it may be moved', () => {
    const geometry = skinned(geometryOf(new Float32BufferAttribute([1, 0, 0, 0, 1, 0, 0, 0], 4)));
    expect(bytesOf(geometry)).toEqual([12, 4]);
  });

  test('joints beyond 16 bits are an error', () => {
    const geometry = geometryOf(new Float32BufferAttribute([1, 0, 0, 0], 4));
    geometry.setAttribute('skinIndex', new Float32BufferAttribute([65536, 0, 0, 0], 4));
    expect(() => skinned(geometry, 70_000)).toThrow(
      'Crowd: vertex 0 of geometry "" follows joint 65536, but vertices can follow the first 65536 joints only',
    );
  });

  test('a clone of a crowd geometry makes the same again', () => {
    const { root, mesh, clips } = createStick();
    mesh.geometry.getAttribute('skinWeight').setXYZW(0, 0.2, 0.8, 0, 0);
    const crowd = SkinnedInstancedMesh.from(root, clips, 1);
    const read = () =>
      ['skinIndex', 'skinWeight', 'partIndex'].map((name) => {
        const attribute = crowd.geometry.getAttribute(name);
        return Array.from({ length: 3 }, (_, i) => [attribute.getX(i), attribute.getY(i)]);
      });
    const before = read();
    crowd.geometry = crowd.geometry.clone();
    expect(read()).toEqual(before);
  });
});
