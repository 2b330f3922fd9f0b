import { Interpolant, Quaternion } from 'three';

const _quaternion = /*@__PURE__*/ new Quaternion();

/**
 * glTF's cubic splines, whose keys hold a tangent, a value and another tangent. GLTFLoader has the same, and gives tracks a function
 * that makes one; a function cannot be sent to a worker.
 */
export class GLTFCubicSpline extends Interpolant {
  override copySampleValue_(index: number) {
    const { resultBuffer, sampleValues, valueSize } = this;
    const from = (index * 3 + 1) * valueSize;
    for (let i = 0; i < valueSize; i++) resultBuffer[i] = sampleValues[from + i];
    return resultBuffer;
  }

  // In the order of GLTFLoader's arithmetic, so that both give the same to the last bit.
  override interpolate_(key: number, t0: number, t: number, t1: number) {
    const { resultBuffer, sampleValues: values, valueSize: size } = this;
    const td = t1 - t0;
    const p = (t - t0) / td;
    const pp = p * p;
    const ppp = pp * p;
    const after = key * size * 3;
    const before = after - size * 3;
    const s2 = -2 * ppp + 3 * pp;
    const s3 = ppp - pp;
    const s0 = 1 - s2;
    const s1 = s3 - pp + p;
    for (let i = 0; i < size; i++) {
      const p0 = values[before + i + size];
      const m0 = values[before + i + size * 2] * td;
      const p1 = values[after + i + size];
      const m1 = values[after + i] * td;
      resultBuffer[i] = s0 * p0 + s1 * m0 + s2 * p1 + s3 * m1;
    }
    return resultBuffer;
  }
}

/** The same of rotations. */
export class GLTFCubicSplineQuaternion extends GLTFCubicSpline {
  override interpolate_(key: number, t0: number, t: number, t1: number) {
    const result = super.interpolate_(key, t0, t, t1);
    _quaternion.fromArray(result).normalize().toArray(result);
    return result;
  }
}
