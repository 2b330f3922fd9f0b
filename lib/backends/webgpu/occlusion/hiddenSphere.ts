import { bool, cross, dot, float, If, int, length, max, min, sqrt, vec2 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { While } from '../../../../shaders/tsl.js';
import { type DepthPyramid, FINEST, LEVELS } from './DepthPyramid.js';

/** The most squares on a side of what is asked about a sphere, at the least. */
const FEW = 4;
/** A sphere that is larger on the screen than so many of the largest squares is near, and seen. */
const MANY = 8;
/** What depth is uncertain by: of itself, and a step of a depth buffer of 24 bits. */
const ROUNDING = 2e-6;
const STEP = 1.2e-7;
/**
 * By how much places are uncertain, as a share of their distance from the origin: some steps of a number of 32 bits. It is so of the
 * sphere here, and of what is drawn in the end.
 */
export const DRIFT = 1e-6;

/** Where the camera looks, in the crowd's space: four rows of a matrix, and the pixels of its picture. */
export interface ScreenNodes {
  readonly x: Node<'vec4'>;
  readonly y: Node<'vec4'>;
  /** Without a multiple of `w`, see `base`, and such that greater numbers are farther away. */
  readonly z: Node<'vec4'>;
  readonly w: Node<'vec4'>;
  /** What to add to z / w for depth. */
  readonly base: Node<'float'>;
  /** By how much places are uncertain for being far from the crowd's origin, or that of the world. */
  readonly slack: Node<'float'>;
  readonly width: Node<'float'>;
  readonly height: Node<'float'>;
}

/**
 * Whether a sphere is farther away, as a whole, than all pixels of the rectangle that it takes up on the screen. A pixel around it is
 * asked too. Builds on the current stack.
 *
 * @param sphere Centre and radius, in the crowd's space.
 */
export function hiddenSphere(pyramid: DepthPyramid, screen: ScreenNodes, sphere: Node<'vec4'>): Node<'bool'> {
  const hidden = bool(false).toVar();
  const center = sphere.xyz;
  const at = (row: Node<'vec4'>) => dot(row.xyz, center).add(row.w);
  const w = at(screen.w).toVar();
  const radius = sphere.w.add(screen.slack).add(length(center).mul(DRIFT)).toVar();
  const reach = radius.mul(radius).toVar();
  const scale = w
    .mul(w)
    .sub(reach.mul(dot(screen.w.xyz, screen.w.xyz)))
    .toVar();
  // Whoever reaches behind the camera is seen.
  If(w.greaterThan(0).and(scale.greaterThan(w.mul(w).mul(1e-4))), () => {
    // The planes through the eye on which a coordinate is the same everywhere, and which touch the sphere: least and greatest.
    const range = (row: Node<'vec4'>): Node<'vec2'> => {
      const value = at(row).toVar();
      const turned = row.xyz.mul(w).sub(screen.w.xyz.mul(value)).toVar();
      const between = cross(row.xyz, screen.w.xyz).toVar();
      const middle = value.mul(w).sub(reach.mul(dot(row.xyz, screen.w.xyz)));
      const square = reach.mul(dot(turned, turned).sub(reach.mul(dot(between, between))));
      const half = sqrt(max(square, 0)).toVar();
      return vec2(middle.sub(half), middle.add(half)).div(scale).toVar();
    };
    const nearest = range(screen.z).x.add(screen.base).toVar();
    const across = range(screen.x).mul(0.5).add(0.5).mul(screen.width).toVar();
    const down = range(screen.y).mul(-0.5).add(0.5).mul(screen.height).toVar();
    const pixel = (value: Node<'float'>, size: Node<'float'>) =>
      int(min(max(value, float(0)), size.sub(1))).toVar();
    const x0 = pixel(across.x.sub(1), screen.width);
    const x1 = pixel(across.y.add(1), screen.width);
    const y0 = pixel(down.y.sub(1), screen.height);
    const y1 = pixel(down.x.add(1), screen.height);
    const level = int(0).toVar();
    const count = (from: Node<'int'>, to: Node<'int'>) =>
      to.shiftRight(level.add(FINEST)).sub(from.shiftRight(level.add(FINEST)));
    const reaches = (most: number) =>
      count(x0, x1).greaterThanEqual(most).or(count(y0, y1).greaterThanEqual(most));
    While(level.lessThan(LEVELS - 1).and(reaches(FEW)), () => {
      level.addAssign(1);
    });
    If(reaches(MANY).not(), () => {
      hidden.assign(bool(true));
      const shift = level.add(FINEST).toVar();
      const first = x0.shiftRight(shift).toVar();
      const right = x1.shiftRight(shift).toVar();
      const bottom = y1.shiftRight(shift).toVar();
      const x = first.toVar();
      const y = y0.shiftRight(shift).toVar();
      While(hidden.and(y.lessThanEqual(bottom)), () => {
        const farthest = pyramid.farthest(level, x, y).toVar();
        const limit = farthest.add(farthest.abs().mul(ROUNDING)).add(STEP);
        If(nearest.lessThanEqual(limit), () => {
          hidden.assign(bool(false));
        });
        x.addAssign(1);
        If(x.greaterThan(right), () => {
          x.assign(first);
          y.addAssign(1);
        });
      });
    });
  });
  return hidden;
}
