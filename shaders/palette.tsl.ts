import { attribute, Break, float, If, ivec4, Loop, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import type { Influences } from '../lib/constants.js';
import multiplyRowsNodes from './palette.glsl.js?nodes=multiplyRowsGLSL';
import { type Rows, zeroRows } from './tsl.js';

/** The product a * b of two affine matrices. */
export const multiplyRows = (a: Rows, b: Rows): Rows =>
  multiplyRowsNodes<{ multiplyRows(a: Rows, b: Rows): Rows }>().multiplyRows(a, b);

/**
 * Twin of `paletteMatrixGLSL`: the weighted sum of the vertex's joints, as rows, from what the pose pass has written.
 * Builds on the current stack.
 *
 * @param jointMatrix Reads the skinning matrix of a joint of the instance that is drawn: in GLSL, `addJoint` also adds it up.
 * @param shown Above zero where the vertex's part is shown; where it is hidden, all its vertices are at one point. Null if no
 * part is ever hidden.
 */
export function paletteMatrix(
  jointMatrix: (joint: Node<'int'>) => Rows,
  influences: Followed,
  shown: Node<'float'> | null,
): Rows {
  const sum = zeroRows();
  const weigh = (joint: Node<'int'>, weight: Node<'float'>) =>
    jointMatrix(joint).map((row) => row.mul(weight)) as Rows;
  addJoints(sum, weigh, influences, shown);
  return sum;
}

/** How many joints a vertex follows; or the one that it follows in place of its own. */
export type Followed = Influences | Node<'int'>;

/**
 * Adds up the joints that a vertex follows. Builds on the current stack.
 *
 * @param jointMatrix Reads the skinning matrix of a joint, and multiplies it by a weight.
 * @param shown See `paletteMatrix`.
 */
export function addJoints(
  sum: Rows,
  jointMatrix: (joint: Node<'int'>, weight: Node<'float'>) => Rows,
  influences: Followed,
  shown: Node<'float'> | null = null,
): void {
  const add = (row: Node<'vec4'>, i: number) => {
    sum[i].addAssign(row);
  };
  if (typeof influences === 'object') {
    jointMatrix(influences, float(1)).forEach(add);
    return;
  }
  const joints = ivec4(attribute<'ivec4'>('skinIndex', 'ivec4')).toVar();
  const weights = vec4(attribute<'vec4'>('skinWeight', 'vec4')).toVar();
  // A variant may follow fewer joints than the geometry has: then weights of those it follows add up to 1 again.
  if (influences === 1) weights.x.assign(1);
  if (influences === 2) weights.divAssign(weights.x.add(weights.y));
  if (shown !== null) {
    If(shown.lessThanEqual(0), () => {
      weights.assign(vec4(0));
    });
  }
  Loop(influences, () => {
    If(weights.x.lessThanEqual(0), () => {
      Break();
    });
    const weight = weights.x.toVar();
    jointMatrix(joints.x.toVar(), weight).forEach(add);
    joints.assign(joints.yzwx);
    weights.assign(weights.yzwx);
  });
}
