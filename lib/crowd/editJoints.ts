import type { Object3D, Quaternion, Skeleton, Vector3 } from 'three';
import { AFFINE_SIZE, MIXED_POSES } from '../constants.js';
import { EDIT_STRIDE } from '../edits/EditPool.js';
import {
  EDIT_AXIS,
  EDIT_COSINE,
  EDIT_KIND,
  EDIT_NODE,
  EDIT_SINE,
  EDIT_VALUE,
  EDIT_WEIGHT,
  KIND_ADD,
  KIND_LOOK_AT,
  KIND_MODEL,
  KIND_POSITION,
  KIND_ROTATION,
  KIND_SCALE,
} from '../edits/editLayout.js';
import type { JointEdits } from '../edits/JointEdits.js';
import { nodeNames } from '../edits/nodeNames.js';
import { checkIndex, forEachInstance, type Instances } from '../instances/instanceRange.js';
import { checkFade, checkWeight } from '../playback/PlayOptions.js';
import type { PoseTracks } from '../tracks/PoseTracks.js';
import { checkAreOptions, isWithin } from '../utils/checkOptions.js';
import { describe } from '../utils/describe.js';
import type { Crowd } from './Crowd.js';

/** How the value of a joint's edit meets what the clips give. */
export interface JointEditOptions {
  /** Whether the value takes the place of what the clips give, or is added to it. @default 'replace' */
  mode?: 'replace' | 'add';
  /** Whether the value is relative to the joint's parent, as `Bone.quaternion` is, or to the character. @default 'local' */
  space?: 'local' | 'model';
  /** How much of the edit shows, 0 to 1. @default 1 */
  weight?: number;
}

/** How a joint looks at a target. */
export interface LookAtOptions {
  /** Direction that shall point at the target, in the joint's own space. @default (0, 0, 1) */
  axis?: Vector3;
  /** Radians that the joint turns at most from where the clips let it look. @default Math.PI */
  limit?: number;
  /** How much of the turn is made, 0 to 1. @default 1 */
  weight?: number;
}

/** A value, null for none, or a function that gives one of these for each instance. */
export type ValueOfInstance<T> = T | null | ((index: number) => T | null);

/** In place of what a user has left out, so that its numbers can be looked at. */
const NOTHING = { x: Number.NaN, y: Number.NaN, z: Number.NaN, w: Number.NaN };

/** The edit that is being made. */
const _edit = /*@__PURE__*/ new Float64Array(EDIT_STRIDE);

/** Turns joints of instances. */
export function editRotations(
  crowd: Crowd,
  instances: Instances,
  joint: string | number,
  value: ValueOfInstance<Quaternion>,
  options: JointEditOptions,
  caller: string,
): void {
  begin(crowd, joint, KIND_ROTATION, options, caller);
  edit(crowd, instances, KIND_ROTATION, value, writeQuaternion, caller);
}

/** Moves joints of instances. */
export function editPositions(
  crowd: Crowd,
  instances: Instances,
  joint: string | number,
  value: ValueOfInstance<Vector3>,
  options: JointEditOptions,
  caller: string,
): void {
  begin(crowd, joint, KIND_POSITION, options, caller);
  edit(crowd, instances, KIND_POSITION, value, writeVector, caller);
}

/** Scales joints of instances. */
export function editScales(
  crowd: Crowd,
  instances: Instances,
  joint: string | number,
  value: ValueOfInstance<Vector3>,
  options: Omit<JointEditOptions, 'space'> & { space?: string },
  caller: string,
): void {
  checkAreOptions(options, caller);
  const { mode, weight, space } = options;
  if (space !== undefined && space !== 'local') {
    throw new Error(
      `${caller}: space is "${space}"; a scale is along the joint's own axes, leave space out.`,
    );
  }
  begin(crowd, joint, KIND_SCALE, { mode, weight }, caller);
  edit(crowd, instances, KIND_SCALE, value, writeVector, caller);
}

/** Lets joints of instances look at targets in the crowd's space. */
export function lookAt(
  crowd: Crowd,
  instances: Instances,
  joint: string | number,
  target: ValueOfInstance<Vector3>,
  options: LookAtOptions,
  caller: string,
): void {
  checkAreOptions(options, caller);
  const { axis, limit = Math.PI, weight } = options;
  if (!isWithin(limit)) throw new Error(`${caller}: limit is ${describe(limit)}; use radians from 0.`);
  const { x, y, z } = axis ?? FORWARD;
  const length = Math.sqrt(x * x + y * y + z * z);
  if (!(length > 0 && length < Infinity)) {
    throw new Error(`${caller}: axis is ${textOf(axis)}; use the direction that shall point at the target.`);
  }
  begin(crowd, joint, KIND_LOOK_AT, { space: 'model', weight }, caller);
  const turnsAll = limit >= Math.PI;
  _edit[EDIT_COSINE] = turnsAll ? -1 : Math.cos(limit / 2);
  _edit[EDIT_SINE] = turnsAll ? 0 : Math.sin(limit / 2);
  _edit[EDIT_AXIS] = x / length;
  _edit[EDIT_AXIS + 1] = y / length;
  _edit[EDIT_AXIS + 2] = z / length;
  edit(crowd, instances, KIND_LOOK_AT, target, writeVector, caller);
}

const FORWARD = { x: 0, y: 0, z: 1 };

/**
 * Turns, moves or scales a node of an instance, in the place of what the clips give.
 *
 * @param kind One of `KIND_ROTATION`, `KIND_POSITION` and `KIND_SCALE`.
 * @returns The numbers of the edit, which hold until the next edit is made.
 * @throws If the value is not finite, or the node cannot be edited.
 */
export function editNode(
  { boneTexture, edits }: Crowd,
  index: number,
  node: number,
  kind: number,
  value: Quaternion | Vector3,
  caller: string,
): ArrayLike<number> {
  checkEditable(tracksOf(boneTexture.data.tracks, caller), node, caller);
  _edit.fill(0);
  _edit[EDIT_NODE] = node;
  _edit[EDIT_KIND] = kind;
  _edit[EDIT_WEIGHT] = 1;
  if (kind === KIND_ROTATION) writeQuaternion(value as Quaternion, caller);
  else writeVector(value as Vector3, caller);
  edits.set(index, _edit);
  return _edit;
}

/** Ends the edits of a joint of instances, or of all joints. */
export function clearEdits(
  crowd: Crowd,
  instances: Instances,
  joint: string | number | undefined,
  caller: string,
): void {
  const { edits, visibility } = crowd;
  const node = joint === undefined ? undefined : nodeOf(crowd, joint, caller);
  forEachInstance(instances, visibility, caller, (index) => edits.clear(index, node));
}

/** Gives instances the pose of objects, or lets them go back to their clips. */
export function setPoses(
  { edits, visibility, boneTexture }: Crowd,
  instances: Instances,
  pose: ValueOfInstance<Object3D | Skeleton>,
  options: { fade?: number },
  caller: string,
): void {
  checkAreOptions(options, caller);
  const { fade } = options;
  tracksOf(boneTexture.data.tracks, caller);
  if (fade !== undefined) checkFade(fade, caller);
  forEachInstance(instances, visibility, caller, (index) => {
    const one = typeof pose === 'function' ? pose(index) : pose;
    if (one === null) {
      edits.leavePose(index, fade ?? 0);
      return;
    }
    if (!((one as Object3D)?.isObject3D || Array.isArray((one as Skeleton)?.bones))) {
      throw new Error(
        `${caller}: the pose is ${textOf(one)}; pass an Object3D or a Skeleton, or null to end it.`,
      );
    }
    edits.setPose(index, one, fade, caller);
  });
}

/** Checks what an edit has in common for all instances, and begins to write it. */
function begin(
  crowd: Crowd,
  joint: string | number,
  kind: number,
  options: JointEditOptions,
  caller: string,
): void {
  checkAreOptions(options, caller);
  const { mode, space, weight } = options;
  if (mode !== undefined && mode !== 'replace' && mode !== 'add') {
    throw new Error(`${caller}: mode is "${mode}"; use "replace" or "add".`);
  }
  if (space !== undefined && space !== 'local' && space !== 'model') {
    throw new Error(`${caller}: space is "${space}"; use "local" or "model".`);
  }
  if (weight !== undefined) checkWeight(weight, caller);
  _edit.fill(0);
  _edit[EDIT_NODE] = nodeOf(crowd, joint, caller);
  _edit[EDIT_KIND] = kind + (mode === 'add' ? KIND_ADD : 0) + (space === 'model' ? KIND_MODEL : 0);
  _edit[EDIT_WEIGHT] = weight ?? 1;
}

/** Gives each instance the edit with its own value, which `write` checks and writes, or ends it. */
function edit<T>(
  crowd: Crowd,
  instances: Instances,
  kind: number,
  value: ValueOfInstance<T>,
  write: (value: T, caller: string) => void,
  caller: string,
): void {
  const { edits, visibility } = crowd;
  // The usual call makes no objects: crowds look at something anew in every frame.
  if (typeof instances === 'number' && !isFunction(value)) {
    checkIndex(instances, visibility, caller);
    editOne(edits, instances, kind, value, write, caller);
    return;
  }
  const common = _edit.slice();
  forEachInstance(instances, visibility, caller, (index) => {
    const one = isFunction(value) ? value(index) : value;
    // The function may have edited something itself.
    _edit.set(common);
    editOne(edits, index, kind, one, write, caller);
  });
}

function editOne<T>(
  edits: JointEdits,
  index: number,
  kind: number,
  value: T | null,
  write: (value: T, caller: string) => void,
  caller: string,
): void {
  if (value === null) {
    edits.remove(index, _edit[EDIT_NODE], kind);
    return;
  }
  write(value, caller);
  edits.set(index, _edit);
}

const isFunction = <T>(value: ValueOfInstance<T>): value is (index: number) => T | null =>
  typeof value === 'function';

function writeQuaternion(value: Quaternion, caller: string): void {
  const { x, y, z, w } = value ?? NOTHING;
  const length = Math.sqrt(x * x + y * y + z * z + w * w);
  if (!(length > 0 && length < Infinity)) {
    throw new Error(`${caller}: the value is ${textOf(value)}; pass a Quaternion, or null to end the edit.`);
  }
  _edit[EDIT_VALUE] = x / length;
  _edit[EDIT_VALUE + 1] = y / length;
  _edit[EDIT_VALUE + 2] = z / length;
  _edit[EDIT_VALUE + 3] = w / length;
}

function writeVector(value: Vector3, caller: string): void {
  const { x, y, z } = value ?? NOTHING;
  if (!Number.isFinite(x + y + z)) {
    throw new Error(
      `${caller}: the value is ${textOf(value)}; pass a Vector3 of finite numbers, or null to end the edit.`,
    );
  }
  _edit[EDIT_VALUE] = x;
  _edit[EDIT_VALUE + 1] = y;
  _edit[EDIT_VALUE + 2] = z;
}

/**
 * The node that a joint is, or a node above joints.
 *
 * @throws If there is none, or it cannot be edited.
 */
export function nodeOf({ boneTexture }: Crowd, joint: string | number, caller: string): number {
  const tracks = tracksOf(boneTexture.data.tracks, caller);
  const node =
    (typeof joint === 'string' ? nodeNames(tracks).first.get(joint) : undefined) ??
    tracks.jointNodes[boneTexture.jointIndex(joint, caller)];
  checkEditable(tracks, node, caller);
  return node;
}

function checkEditable({ fixed, names }: PoseTracks, node: number, caller: string): void {
  if (Number.isNaN(fixed[node * AFFINE_SIZE])) return;
  throw new Error(
    `${caller}: "${names[node]}" cannot be edited: its matrixAutoUpdate was off when it was baked, so that it has a matrix only.`,
  );
}

/** @throws If there are none. */
function tracksOf(tracks: PoseTracks | null, caller: string): PoseTracks {
  if (tracks !== null) return tracks;
  throw new Error(`${caller}: needs ${MIXED_POSES}`);
}

const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null && 'toArray' in value
    ? `(${(value as Vector3).toArray().join(', ')})`
    : String(value);
