import { attribute, Break, If, ivec4, Loop, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import type { Influences } from '../lib/constants.js';
import multiplyRowsNodes from './palette.glsl.js?nodes=multiplyRowsGLSL';
import type { ShaderVariant } from './ShaderVariant.js';
import { assignAll, type Rows, zeroRows } from './tsl.js';

/** The product a * b of two affine matrices. */
export const multiplyRows = (a: Rows, b: Rows): Rows =>
  multiplyRowsNodes<{ multiplyRows(a: Rows, b: Rows): Rows }>().multiplyRows(a, b);

/** Does something with each joint that a vertex follows and its weight. Builds on the current stack. */
export type FollowJoints = (addJoint: (joint: Node<'int'>, weight: Node<'float'>) => void) => void;

/** Lets a vertex follow so many of its own joints. Twin of `eachJointGLSL`, and too short to be worth a text. */
export const followJoints =
  (influences: Influences): FollowJoints =>
  (addJoint) => {
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
  };

/**
 * The rows of a matrix that poses a vertex, unless it is of a part that is hidden: then all its vertices are at one point. Builds on
 * the current stack.
 *
 * @param part Reads what the part looks like, see `InstanceParts`; called where the variant has parts.
 */
export function shownRows({ parts }: ShaderVariant, part: () => Node<'vec4'>, rows: () => Rows): Rows {
  if (!parts) return rows();
  const shown = zeroRows();
  If(part().w.greaterThan(0), () => {
    assignAll(shown, rows());
  });
  return shown;
}

/** The sum of rows of the vertex's joints by their weights. Builds on the current stack. */
export function jointRows(follow: FollowJoints, rowsOf: (joint: Node<'int'>) => Rows): Rows {
  const sum = zeroRows();
  follow((joint, weight) => {
    rowsOf(joint).forEach((row, i) => {
      sum[i].addAssign(row.mul(weight));
    });
  });
  return sum;
}
