import { attribute, If, int, ivec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { type Influences, PALETTE_COLUMNS } from '../lib/constants.js';
import followJointsNodes from './palette.glsl.js?nodes=followJointsGLSL';
import multiplyRowsNodes from './palette.glsl.js?nodes=multiplyRowsGLSL';
import type { ShaderVariant } from './ShaderVariant.js';
import { assignAll, type Rows, zeroRows } from './tsl.js';

/** The product a * b of two affine matrices. */
export const multiplyRows = (a: Rows, b: Rows): Rows =>
  multiplyRowsNodes<{ multiplyRows(a: Rows, b: Rows): Rows }>().multiplyRows(a, b);

/** Does something with each joint that a vertex follows and its weight. Builds on the current stack. */
export type FollowJoints = (addJoint: (joint: Node<'int'>, weight: Node<'float'>) => void) => void;

/** Lets a vertex follow so many of its own joints. */
export const followJoints =
  (influences: Influences): FollowJoints =>
  (addJoint) =>
    followJointsNodes<{ followJoints(): void }>({
      INFLUENCES: int(influences),
      [PALETTE_COLUMNS]: ivec4(attribute<'ivec4'>(PALETTE_COLUMNS, 'ivec4')),
      skinWeight: attribute<'vec4'>('skinWeight', 'vec4'),
      followJoint: (joint: Node<'int'>, weight: Node<'float'>) => addJoint(joint.toVar(), weight.toVar()),
    }).followJoints();

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
