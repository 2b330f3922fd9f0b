import { cross, dot, Fn, float, If, mix, normalize, select, sqrt, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { layoutOf } from './tsl.js';

/** Coefficients of `slerpShare`, the last one first. */
const SERIES = [
  [136, 8, 17],
  [105, 7, 15],
  [78, 6, 13],
  [55, 5, 11],
  [36, 4, 9],
  [21, 3, 7],
  [10, 2, 5],
  [3, 1, 3],
];

/** Twin of `slerpShare` in GLSL. */
const slerpShare = /*@__PURE__*/ Fn(
  ([t, x]: [Node<'float'>, Node<'float'>]) => {
    const tt = t.mul(t).toVar();
    const sum = float(1).toVar();
    for (const [square, above, below] of SERIES) {
      sum.assign(
        sum
          .mul(x)
          .mul(tt.mul(1 / square).sub(above / below))
          .add(1),
      );
    }
    return t.mul(sum);
  },
  /*@__PURE__*/ layoutOf('slerpShare', 'float', { t: 'float', x: 'float' }),
);

/** Twin of `slerp` in GLSL. */
export const slerp = /*@__PURE__*/ Fn(
  ([start, end, t]: [Node<'vec4'>, Node<'vec4'>, Node<'float'>]) => {
    const signed = dot(start, end).toVar();
    const cosine = signed.abs().toVar();
    const a = vec4(start).toVar();
    const b = select(signed.lessThan(0), end.negate(), end).toVar();
    If(cosine.greaterThanEqual(0.9995), () => {
      a.assign(normalize(mix(a, b, t)));
    }).Else(() => {
      const half = sqrt(cosine.add(1).mul(0.5)).toVar();
      const middle = a.add(b).mul(float(0.5).div(half)).toVar();
      const t2 = t.mul(2).toVar();
      If(t2.lessThan(1), () => {
        b.assign(middle);
      }).Else(() => {
        a.assign(middle);
        t2.subAssign(1);
      });
      const x = half.sub(1).toVar();
      a.assign(a.mul(slerpShare(t2.oneMinus(), x)).add(b.mul(slerpShare(t2, x))));
    });
    return select(start.equal(end).all(), start, a);
  },
  /*@__PURE__*/ layoutOf('slerp', 'vec4', { start: 'vec4', end: 'vec4', t: 'float' }),
);

/** The product of two quaternions: twin of `multiplyQuaternions` in GLSL. */
export const multiplyQuaternions = (a: Node<'vec4'>, b: Node<'vec4'>): Node<'vec4'> =>
  vec4(b.xyz.mul(a.w).add(a.xyz.mul(b.w)).add(cross(a.xyz, b.xyz)), a.w.mul(b.w).sub(dot(a.xyz, b.xyz)));
