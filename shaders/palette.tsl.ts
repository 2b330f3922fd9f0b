import { attribute, Break, float, If, ivec4, Loop, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import type { Influences } from '../lib/constants.js';
import multiplyRowsNodes from './palette.glsl.js?nodes=multiplyRowsGLSL';
import { type Rows, zeroRows } from './tsl.js';

/** The product a * b of two affine matrices. */
export const multiplyRows = (a: Rows, b: Rows): Rows =>
  multiplyRowsNodes<{ multiplyRows(a: Rows, b: Rows): Rows }>().multiplyRows(a, b);

/** How many joints a vertex follows; or the one that it follows in place of its own. */
export type Followed = Influences | Node<'int'>;

/**
 * Does something with each joint that a vertex follows and its weight. Twin of `eachJointGLSL`, and too short to be worth a text. Builds
 * on the current stack.
 */
export function followJoints(
  influences: Followed,
  addJoint: (joint: Node<'int'>, weight: Node<'float'>) => void,
): void {
  if (typeof influences === 'object') {
    addJoint(influences, float(1));
    return;
  }
  const joints = ivec4(attribute<'ivec4'>('skinIndex', 'ivec4')).toVar();
  const weights = vec4(attribute<'vec4'>('skinWeight', 'vec4')).toVar();
  // A variant may follow fewer joints than the geometry has: then weights of those it follows add up to 1 again.
  if (influences === 1) weights.x.assign(1);
  if (influences === 2) weights.divAssign(weights.x.add(weights.y));
  Loop(influences, () => {
    If(weights.x.lessThanEqual(0), () => {
      Break();
    });
    addJoint(joints.x.toVar(), weights.x.toVar());
    joints.assign(joints.yzwx);
    weights.assign(weights.yzwx);
  });
}

/**
 * Rows that are added up, unless the vertex is of a part that is hidden: then all its vertices are at one point. Builds on the current
 * stack.
 *
 * @param shown Above zero where the part is shown; null if none is ever hidden.
 */
export function shownRows(shown: Node<'float'> | null, add: (sum: Rows) => void): Rows {
  const sum = zeroRows();
  if (shown === null) add(sum);
  else If(shown.greaterThan(0), () => add(sum));
  return sum;
}

/** Adds a matrix times a weight. Builds on the current stack. */
export function addRows(sum: Rows, rows: Rows, weight: Node<'float'>): void {
  rows.forEach((row, i) => {
    sum[i].addAssign(row.mul(weight));
  });
}
