import { attribute, Break, float, If, ivec4, Loop, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import type { Influences } from '../lib/constants.js';
import multiplyRowsNodes from './palette.glsl.js?nodes=multiplyRowsGLSL';
import type { ShaderVariant } from './ShaderVariant.js';
import { type Rows, zeroRows } from './tsl.js';

/** The product a * b of two affine matrices. */
export const multiplyRows = (a: Rows, b: Rows): Rows =>
  multiplyRowsNodes<{ multiplyRows(a: Rows, b: Rows): Rows }>().multiplyRows(a, b);

/** A variant, or the same for a vertex that follows another joint than its own. */
export type VertexVariant = Omit<ShaderVariant, 'influences'> & { influences: Followed };

/** How many joints a vertex follows; or the one that it follows in place of its own. */
type Followed = Influences | Node<'int'>;

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
 * Builds what poses a vertex, unless it is of a part that is hidden: then all its vertices are at one point.
 *
 * @param part Reads what the part looks like, see `InstanceParts`; called where the variant has parts.
 */
export function whereShown({ parts }: VertexVariant, part: () => Node<'vec4'>, build: () => void): void {
  if (parts) If(part().w.greaterThan(0), build);
  else build();
}

/** Rows that are added up where a vertex is shown. Builds on the current stack. */
export function shownRows(variant: VertexVariant, part: () => Node<'vec4'>, add: (sum: Rows) => void): Rows {
  const sum = zeroRows();
  whereShown(variant, part, () => add(sum));
  return sum;
}

/** Adds a matrix times a weight. Builds on the current stack. */
export function addRows(sum: Rows, rows: Rows, weight: Node<'float'>): void {
  rows.forEach((row, i) => {
    sum[i].addAssign(row.mul(weight));
  });
}
