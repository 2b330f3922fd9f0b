import { Matrix4, Quaternion, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { encodingByName } from '../../../lib/encodings/index.js';
import { affineFromMatrix4 } from '../../../lib/utils/affine.js';
import { random } from '../../support/random.js';

/** Steps of float32 at 1, by which what is stored may be off. */
const ROUNDING = 4e-7;

const next = random(11);
const between = (low: number, high: number) => low + (high - low) * next();
const rotation = () =>
  new Quaternion(between(-1, 1), between(-1, 1), between(-1, 1), between(-1, 1)).normalize();
const position = () => new Vector3(between(-1, 1), between(-1, 1), between(-1, 1));

function affineOf(at: Vector3, turn: Quaternion, scale: Vector3): Float64Array {
  const affine = new Float64Array(12);
  affineFromMatrix4(new Matrix4().compose(at, turn, scale), affine, 0);
  return affine;
}

function roundTrip(name: 'matrix' | 'quaternion', affine: Float64Array, alpha = 0) {
  const encoding = encodingByName(name);
  const texels = new Float32Array(encoding.texels * 4);
  const error = encoding.encode(affine, 0, texels, 0, -1);
  const decoded = new Float64Array(12);
  encoding.decode(texels, texels, alpha, decoded, 0);
  return { error, off: Math.max(...decoded.map((value, i) => Math.abs(value - affine[i]))) };
}

describe('matrices', () => {
  test('come back rounded to float32, whatever they are', () => {
    for (let i = 0; i < 50; i++) {
      const affine = Float64Array.from({ length: 12 }, () => between(-1, 1));
      const { error, off } = roundTrip('matrix', affine);
      expect(error).toBe(0);
      expect(off).toBeLessThan(6e-8);
    }
  });

  test('are mixed number by number', () => {
    const { decode } = encodingByName('matrix');
    const out = new Float64Array(13);
    decode(new Float32Array(12).fill(1), new Float32Array(12).fill(3), 0.25, out, 1);
    expect([...out]).toEqual([0, ...new Array(12).fill(1.5)]);
  });
});

describe('quaternions', () => {
  test('hold rotation, translation and uniform scale, also turns by 180° about any axis', () => {
    const turns = [
      ...Array.from({ length: 200 }, rotation),
      new Quaternion(1, 0, 0, 0),
      new Quaternion(0, 1, 0, 0),
      new Quaternion(0, 0, 1, 0),
      new Quaternion(1, 1, 1, 0).normalize(),
    ];
    for (const turn of turns) {
      const size = between(0.01, 2);
      const { error, off } = roundTrip(
        'quaternion',
        affineOf(position(), turn, new Vector3(size, size, size)),
        0.5,
      );
      expect(error).toBeLessThan(1e-9);
      expect(off).toBeLessThan(ROUNDING * Math.max(size, 1));
    }
  });

  test.each([
    ['uneven scale', affineOf(position(), rotation(), new Vector3(1, 1.1, 1)), 0.02],
    ['mirroring', affineOf(position(), rotation(), new Vector3(1, -1, 1)), 0.9],
    ['shear', Float64Array.of(1, 0.1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0), 0.04],
  ])('tell of %s', (_, affine, least) => {
    expect(roundTrip('quaternion', affine).error).toBeGreaterThan(least);
  });

  test('hold a joint that is scaled away, which keeps the rotation of the frame before', () => {
    const { encode } = encodingByName('quaternion');
    const texels = new Float32Array(16);
    const turn = rotation();
    encode(affineOf(new Vector3(), turn, new Vector3(1, 1, 1)), 0, texels, 0, -1);
    const error = encode(affineOf(new Vector3(1, 2, 3), turn, new Vector3(0, 0, 0)), 0, texels, 8, 0);
    expect(error).toBe(0);
    const [x, y, z, w] = texels.slice(8).map((value) => value * 1e6);
    expect(new Quaternion(x, y, z, w).angleTo(turn)).toBeLessThan(1e-3);
    const out = new Float64Array(12);
    encodingByName('quaternion').decode(texels.subarray(8), texels.subarray(8), 0, out, 0);
    [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3].forEach((value, i) => {
      expect(out[i]).toBeCloseTo(value, 5);
    });
  });

  test('are written on the side of the frame before, so that mixing them is the short way', () => {
    const { encode, decode } = encodingByName('quaternion');
    const one = new Vector3(1, 1, 1);
    const axis = new Vector3(0, 0, 1);
    const texels = new Float32Array(16);
    const out = new Float64Array(12);
    for (let degrees = 0; degrees < 720; degrees += 40) {
      const turn = (angle: number) => new Quaternion().setFromAxisAngle(axis, (angle * Math.PI) / 180);
      encode(affineOf(new Vector3(), turn(degrees), one), 0, texels, 0, -1);
      encode(affineOf(new Vector3(), turn(degrees + 40), one), 0, texels, 8, 0);
      decode(texels.subarray(0, 8), texels.subarray(8), 0.5, out, 0);
      const expected = affineOf(new Vector3(), turn(degrees + 20), one);
      out.forEach((value, i) => {
        expect(value, `${degrees}°`).toBeCloseTo(expected[i], 6);
      });
    }
  });

  test('keep their size between two frames', () => {
    const { encode, decode } = encodingByName('quaternion');
    const texels = new Float32Array(16);
    encode(affineOf(new Vector3(), rotation(), new Vector3(2, 2, 2)), 0, texels, 0, -1);
    encode(affineOf(new Vector3(), rotation(), new Vector3(4, 4, 4)), 0, texels, 8, 0);
    const out = new Float64Array(12);
    decode(texels.subarray(0, 8), texels.subarray(8), 0.5, out, 0);
    for (const column of [0, 1, 2]) {
      expect(Math.hypot(out[column], out[4 + column], out[8 + column])).toBeCloseTo(3, 5);
    }
  });
});
