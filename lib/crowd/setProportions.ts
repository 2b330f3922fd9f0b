import type { Vector3 } from 'three';
import { EDIT_STRIDE } from '../edits/EditPool.js';
import {
  EDIT_KIND,
  EDIT_NODE,
  EDIT_SLOT,
  EDIT_VALUE,
  EDIT_WEIGHT,
  KIND_ADD,
  KIND_SCALE,
  SLOT_PROPORTION,
} from '../edits/editLayout.js';
import type { InstanceMorphs } from '../instances/InstanceMorphs.js';
import { forEachInstance, type Instances } from '../instances/instanceRange.js';
import type { Crowd } from './Crowd.js';
import { nodeOf, type ValueOfInstance } from './editJoints.js';

/** How a character is built: what its clips do not undo. What is not named stays as it is. */
export interface Proportions {
  /**
   * Factors by joint, or by node above joints: a number, or one along each of the joint's axes. The joint is scaled with all
   * that hangs on it, as by `Bone.scale`. Null for the character's own size.
   */
  joints?: Readonly<Record<string, number | Vector3 | null>>;
  /** Influences of morph targets by name; null for the one that all instances share. */
  morphs?: Readonly<Record<string, number | null>>;
}

const _edit = /*@__PURE__*/ new Float32Array(EDIT_STRIDE);

/** Builds instances as they are to be built. All that is passed for an instance is checked before the instance is changed. */
export function setProportions(
  crowd: Crowd,
  morphs: InstanceMorphs,
  instances: Instances,
  proportions: ValueOfInstance<Proportions>,
  caller: string,
): void {
  forEachInstance(instances, crowd.visibility, caller, (index) => {
    const one = typeof proportions === 'function' ? proportions(index) : proportions;
    if (one === null) {
      crowd.edits.clearProportions(index);
      morphs.reset(index);
      return;
    }
    if (typeof one !== 'object') {
      throw new Error(
        `${caller}: ${String(one)} are no proportions; pass { joints, morphs }, or null to end them.`,
      );
    }
    const { joints = {}, morphs: influences = {} } = one;
    for (const joint in joints) writeEdit(crowd, joint, joints[joint], caller);
    for (const name in influences) morphs.check(name, influences[name], caller);
    for (const joint in joints) {
      if (writeEdit(crowd, joint, joints[joint], caller)) crowd.edits.set(index, _edit);
      else crowd.edits.remove(index, _edit[EDIT_NODE], KIND_SCALE, SLOT_PROPORTION);
    }
    for (const name in influences) morphs.set(index, name, influences[name]);
  });
}

/**
 * Writes the edit that scales a joint: it is added, which for scales means multiplied, after all else.
 *
 * @returns Whether it makes a difference.
 * @throws If there is no such joint, it cannot be edited, or the value is not finite.
 */
function writeEdit(crowd: Crowd, joint: string, value: number | Vector3 | null, caller: string): boolean {
  _edit.fill(0);
  _edit[EDIT_NODE] = nodeOf(crowd, joint, caller);
  _edit[EDIT_KIND] = KIND_SCALE + KIND_ADD;
  _edit[EDIT_WEIGHT] = 1;
  _edit[EDIT_SLOT] = SLOT_PROPORTION;
  if (value === null) return false;
  const { x, y, z } = typeof value === 'number' ? { x: value, y: value, z: value } : (value ?? {});
  if (!Number.isFinite((x as number) + (y as number) + (z as number))) {
    throw new Error(
      `${caller}: the scale of "${joint}" is ${typeof value === 'object' ? `(${x}, ${y}, ${z})` : value}; use a finite number, a Vector3 of them, or null.`,
    );
  }
  _edit[EDIT_VALUE] = x as number;
  _edit[EDIT_VALUE + 1] = y as number;
  _edit[EDIT_VALUE + 2] = z as number;
  return x !== 1 || y !== 1 || z !== 1;
}
