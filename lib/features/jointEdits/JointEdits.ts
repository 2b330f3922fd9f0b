import type { Object3D, Quaternion, Skeleton, Vector3 } from 'three';
import {
  EDIT_AXIS,
  EDIT_COSINE,
  EDIT_KIND,
  EDIT_NODE,
  EDIT_SINE,
  EDIT_SLOT,
  EDIT_STRIDE,
  EDIT_VALUE,
  EDIT_WEIGHT,
  KIND_ADD,
  KIND_LOOK_AT,
  KIND_MODEL,
  KIND_POSITION,
  KIND_ROTATION,
  KIND_SCALE,
  SLOT_BY_HAND,
  SLOT_PROPORTION,
} from '../../../shaders/editLayout.js';
import type { PoseTracks } from '../../animation/PoseTracks.js';
import { AFFINE_SIZE, MIXED_POSES } from '../../constants.js';
import type { Crowd } from '../../core/Crowd.js';
import type { CrowdFeature, FeaturedCrowd } from '../../core/CrowdFeature.js';
import type { CrowdMesh } from '../../crowd/CrowdMesh.js';
import type { SkinnedInstancedMesh } from '../../crowd/SkinnedInstancedMesh.js';
import { checkIndex, forEachInstance, type Instances } from '../../instances/instanceRange.js';
import { checkFade, checkWeight } from '../../playback/PlayOptions.js';
import { EditStore } from './EditStore.js';
import { nodeNames, readPose } from './LivePoses.js';

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

/**
 * How a character is built: factors by joint, or by node above joints. A number, or one along each of the joint's axes; null
 * for the character's own size. What is not named stays as it is.
 */
export type Proportions = Readonly<Record<string, number | Vector3 | null>>;

/** A value, null for none, or a function that gives one of these for each instance. */
export type ValueOfInstance<T> = T | null | ((index: number) => T | null);

const FORWARD = { x: 0, y: 0, z: 1 };
/** In place of what a user has left out. */
const NOTHING = { x: Number.NaN, y: Number.NaN, z: Number.NaN, w: Number.NaN };

/** The edit that is being made. */
const _edit = /*@__PURE__*/ new Float64Array(EDIT_STRIDE);

/**
 * Changes joints of single instances by hand, on top of what their clips give, as user code changes the bones of a
 * `SkinnedMesh` after `mixer.update`; gives instances poses of other objects; and builds them otherwise than the character
 * was. Rays, sockets, attachments and bounds follow. It needs tracks.
 *
 * ```ts
 * const edits = new JointEdits(crowd);
 * edits.lookAt(0, 'Head', target, { limit: 1 }).setScaleAt(1, 'Head', new Vector3(2, 2, 2));
 * ```
 *
 * A joint is the name or index of a joint of the bone texture, or the name of a node above joints. It has one edit of its
 * rotation, one of its position, one of its scale, and one target to look at. Values may be functions of the instance's index;
 * null ends what was set.
 *
 * @category Play and blend
 */
export class JointEdits implements CrowdFeature {
  /** For type testing. */
  readonly isJointEdits = true;
  private readonly crowd: Crowd;
  private store: EditStore | null = null;

  /** @throws If the crowd has some already. */
  constructor(mesh: SkinnedInstancedMesh) {
    const { crowd } = mesh;
    this.crowd = crowd;
    crowd.use(this);
    this.renew();
  }

  /**
   * Turns a joint, until another call changes that: in `'replace'` the value takes the place of what the clips give, in `'add'`
   * it comes on top. It is relative to the joint's parent as `Bone.quaternion` is; with `space: 'model'` it is the joint's
   * rotation as seen from the character, or turns the joint about the character's axes.
   *
   * @param value Need not be of unit length.
   * @throws If there is no such instance or joint, the value is not finite, `weight` is out of range, or the bone texture's
   * encoding is not `'tracks'`.
   *
   * @example
   * ```ts
   * edits.setRotationAt(0, 'Spine', lean, { mode: 'add', weight: 0.5 }); // half of it, on top of the clips
   * edits.setRotationAt(crowd.all, 'Turret', (i) => aims[i], { space: 'model' });
   * edits.setRotationAt(0, 'Spine', null); // the clips' own again
   * ```
   */
  setRotationAt(
    instances: Instances,
    joint: string | number,
    value: ValueOfInstance<Quaternion>,
    options: JointEditOptions = {},
  ): this {
    this.begin(joint, KIND_ROTATION, options);
    return this.edit(instances, KIND_ROTATION, value, writeQuaternion);
  }

  /**
   * Moves a joint, as {@link JointEdits.setRotationAt} turns it.
   *
   * @param value Scene units, relative to the joint's parent as `Bone.position` is; with `space: 'model'` relative to the
   * character.
   * @throws As `setRotationAt`.
   */
  setPositionAt(
    instances: Instances,
    joint: string | number,
    value: ValueOfInstance<Vector3>,
    options: JointEditOptions = {},
  ): this {
    this.begin(joint, KIND_POSITION, options);
    return this.edit(instances, KIND_POSITION, value, writeVector);
  }

  /**
   * Scales a joint with all that hangs on it, as {@link JointEdits.setRotationAt} turns it. In `'add'` the clips' scale is
   * multiplied by the value.
   *
   * @param value Factors along the joint's axes, as of `Bone.scale`.
   * @throws As `setRotationAt`.
   */
  setScaleAt(
    instances: Instances,
    joint: string | number,
    value: ValueOfInstance<Vector3>,
    { mode, weight }: Omit<JointEditOptions, 'space'> = {},
  ): this {
    this.begin(joint, KIND_SCALE, { mode, weight });
    return this.edit(instances, KIND_SCALE, value, writeVector);
  }

  /**
   * Lets a joint look at a target, whatever plays: from where the clips and other edits point its axis, it turns to the target
   * by the shortest way, but by no more than `limit`. The target stays where it is in the crowd's space when instances move
   * (`instanceMatrix.needsUpdate`). A joint at the target itself does not turn.
   *
   * @param target In the crowd's local space.
   * @throws As `setRotationAt`, and if `axis` or `limit` are out of range.
   *
   * @example
   * ```ts
   * edits.lookAt(crowd.all, 'Head', target, { axis: new Vector3(0, 0, 1), limit: Math.PI / 3 });
   * ```
   */
  lookAt(
    instances: Instances,
    joint: string | number,
    target: ValueOfInstance<Vector3>,
    { axis, limit = Math.PI, weight }: LookAtOptions = {},
  ): this {
    if (!(limit >= 0)) throw new Error(`The limit is ${limit}; use radians from 0.`);
    const { x, y, z } = axis ?? FORWARD;
    const length = Math.sqrt(x * x + y * y + z * z);
    if (!(length > 0 && length < Infinity)) {
      throw new Error(`The axis is ${textOf(axis)}; use the direction that shall point at the target.`);
    }
    this.begin(joint, KIND_LOOK_AT, { space: 'model', weight });
    const turnsAll = limit >= Math.PI;
    _edit[EDIT_COSINE] = turnsAll ? -1 : Math.cos(limit / 2);
    _edit[EDIT_SINE] = turnsAll ? 0 : Math.sin(limit / 2);
    _edit[EDIT_AXIS] = x / length;
    _edit[EDIT_AXIS + 1] = y / length;
    _edit[EDIT_AXIS + 2] = z / length;
    return this.edit(instances, KIND_LOOK_AT, target, writeVector);
  }

  /**
   * Ends all edits of a joint: rotation, position, scale and what it looks at. Live poses and proportions stay.
   *
   * @param joint Of all joints if left out.
   * @throws If there is no such instance or joint.
   */
  clearAt(instances: Instances, joint?: string | number): this {
    const node = joint === undefined ? undefined : nodeOf(this.crowd, joint);
    forEachInstance(instances, this.crowd.visibility, (index) =>
      this.store?.clear(index, node, SLOT_BY_HAND),
    );
    return this;
  }

  /**
   * Gives instances a live pose, which takes the place of their clips: that of a ragdoll, of an `AnimationMixer`, of anything
   * that moves objects. Position, quaternion and scale are copied from objects of the same names as the character's
   * joints and the nodes above them, so call it each time that the pose has changed; nodes that it has not stay with the
   * clips. The pose's own root is left out, since the instance stands where its matrix says. Edits of joints come on top.
   *
   * @param pose An object with the others below it, or a skeleton, whose bones are taken. Null lets the clips come back, which
   * have gone on meanwhile.
   * @param options In `fade` seconds the pose takes over, or goes; by default at once. An instance that has a live pose
   * already goes on as it is, unless `fade` is 0.
   * @throws If there is no such instance, nothing in the pose has the name of a node, or a transform is not finite.
   *
   * @example
   * ```ts
   * edits.setPoseAt(0, ragdoll, { fade: 0.2 });
   * edits.setPoseAt(0, null, { fade: 0.5 }); // back to the clips
   * ```
   */
  setPoseAt(
    instances: Instances,
    pose: ValueOfInstance<Object3D | Skeleton>,
    { fade }: { fade?: number } = {},
  ): this {
    const tracks = tracksOf(this.crowd);
    if (fade !== undefined) checkFade(fade);
    forEachInstance(instances, this.crowd.visibility, (index) => {
      const one = typeof pose === 'function' ? pose(index) : pose;
      if (one === null) this.store?.leavePose(index, fade ?? 0);
      else this.store?.setPose(index, readPose(one, tracks), fade);
    });
    return this;
  }

  /**
   * Builds instances otherwise than the character was: with a larger head, longer arms. Whatever they play, this stays: the
   * scale that clips, live poses and edits give a joint is multiplied by the joint's factor. It is no edit, so `setScaleAt`
   * and `clearAt` leave it alone.
   *
   * ```ts
   * edits.setProportionsAt(0, { Head: 1.4, UpperLeg_L: new Vector3(1, 1.2, 1) });
   * edits.setProportionsAt(0, { Head: null }); // its own size again
   * ```
   *
   * @param proportions Null for the character's own build.
   * @throws If there is no such instance or joint, or a number is not finite. Then the instance was not changed.
   */
  setProportionsAt(instances: Instances, proportions: ValueOfInstance<Proportions>): this {
    const { crowd } = this;
    forEachInstance(instances, crowd.visibility, (index) => {
      const one = typeof proportions === 'function' ? proportions(index) : proportions;
      const { store } = this;
      if (one === null) {
        store?.clear(index, undefined, SLOT_PROPORTION);
        return;
      }
      for (const joint in one) writeProportion(crowd, joint, one[joint]);
      for (const joint in one) {
        if (writeProportion(crowd, joint, one[joint])) store?.set(index, _edit);
        else store?.remove(index, _edit[EDIT_NODE], KIND_SCALE, SLOT_PROPORTION);
      }
    });
    return this;
  }

  /**
   * Turns, moves or scales a node of an instance, in the place of what the clips give.
   *
   * @param kind One of `KIND_ROTATION`, `KIND_POSITION` and `KIND_SCALE`.
   * @returns The numbers of the edit, which hold until the next edit is made.
   * @throws If the value is not finite, or the node cannot be edited.
   * @internal
   */
  editNode(index: number, node: number, kind: number, value: Quaternion | Vector3): ArrayLike<number> {
    checkEditable(tracksOf(this.crowd), node);
    startEdit(node, kind, 1);
    if (kind === KIND_ROTATION) writeQuaternion(value as Quaternion);
    else writeVector(value as Vector3);
    this.store?.set(index, _edit);
    return _edit;
  }

  resize(capacity: number): void {
    this.store?.resize(capacity);
  }

  swap(i: number, j: number): void {
    this.store?.swap(i, j);
  }

  reset(index: number): void {
    this.store?.clear(index);
    this.store?.leavePose(index, 0);
  }

  copy({ store }: JointEdits): void {
    this.renew();
    if (store !== null) this.store?.take(store);
  }

  /** None for a crowd that has come to a bone texture without tracks. */
  cloneFor(crowd: FeaturedCrowd): JointEdits | null {
    return (
      (crowd as Crowd).boneTexture.data.tracks &&
      new JointEdits((crowd as Crowd).mesh as CrowdMesh as SkinnedInstancedMesh)
    );
  }

  /** Edits and poses go to the nodes of the same names; with an encoding that has none they are lost. */
  boneTextureReplaced(): void {
    const { store, crowd } = this;
    if (store?.tracks === crowd.boneTexture.data.tracks) return;
    this.renew();
    if (store !== null) this.store?.take(store);
  }

  /** Lets all instances be as their clips have them. */
  dispose(): void {
    const { crowd } = this;
    crowd.drop(this);
    crowd.poseEdits = null;
    this.store?.dispose();
    this.store = null;
    // Those that are posed less often than drawn too.
    for (let id = 0; id < crowd.count; id++) crowd.playback.texels.changed(id);
  }

  /** Begins anew, without any edits. */
  private renew(): void {
    const { boneTexture, capacity, places, playback } = this.crowd;
    const { tracks } = boneTexture.data;
    this.store?.dispose();
    this.store = tracks === null ? null : new EditStore(capacity, tracks, places, playback.time);
    this.crowd.poseEdits = this.store;
  }

  /** Begins to write an edit by what it has in common for all instances. */
  private begin(joint: string | number, kind: number, { mode, space, weight = 1 }: JointEditOptions): void {
    checkWeight(weight);
    const bits = (mode === 'add' ? KIND_ADD : 0) + (space === 'model' ? KIND_MODEL : 0);
    startEdit(nodeOf(this.crowd, joint), kind + bits, weight);
  }

  /** Gives each instance the edit with its own value, or ends it. */
  private edit<T>(
    instances: Instances,
    kind: number,
    value: ValueOfInstance<T>,
    write: (value: T) => void,
  ): this {
    const { visibility } = this.crowd;
    // The usual call makes no objects: crowds look at something anew in every frame.
    if (typeof instances === 'number' && !isFunction(value)) {
      checkIndex(instances, visibility);
      this.editOne(instances, kind, value, write);
      return this;
    }
    const common = _edit.slice();
    forEachInstance(instances, visibility, (index) => {
      const one = isFunction(value) ? value(index) : value;
      // The function may have edited something itself.
      _edit.set(common);
      this.editOne(index, kind, one, write);
    });
    return this;
  }

  private editOne<T>(index: number, kind: number, value: T | null, write: (value: T) => void): void {
    if (value === null) {
      this.store?.remove(index, _edit[EDIT_NODE], kind, SLOT_BY_HAND);
      return;
    }
    write(value);
    this.store?.set(index, _edit);
  }
}

const isFunction = <T>(value: ValueOfInstance<T>): value is (index: number) => T | null =>
  typeof value === 'function';

function startEdit(node: number, kind: number, weight: number): void {
  _edit.fill(0);
  _edit[EDIT_NODE] = node;
  _edit[EDIT_KIND] = kind;
  _edit[EDIT_WEIGHT] = weight;
}

function writeQuaternion(value: Quaternion): void {
  const { x, y, z, w } = value ?? NOTHING;
  const length = Math.sqrt(x * x + y * y + z * z + w * w);
  if (!(length > 0 && length < Infinity)) {
    throw new Error(`The value is ${textOf(value)}; pass a Quaternion, or null to end the edit.`);
  }
  _edit[EDIT_VALUE] = x / length;
  _edit[EDIT_VALUE + 1] = y / length;
  _edit[EDIT_VALUE + 2] = z / length;
  _edit[EDIT_VALUE + 3] = w / length;
}

function writeVector(value: Vector3): void {
  if (isWritten(value)) return;
  throw new Error(
    `The value is ${textOf(value)}; pass a Vector3 of finite numbers, or null to end the edit.`,
  );
}

/** Writes three numbers; false if they are not finite. */
function isWritten(value: Pick<Vector3, 'x' | 'y' | 'z'>): boolean {
  const { x, y, z } = value ?? NOTHING;
  _edit[EDIT_VALUE] = x;
  _edit[EDIT_VALUE + 1] = y;
  _edit[EDIT_VALUE + 2] = z;
  return Number.isFinite(x + y + z);
}

/**
 * Writes the edit that scales a joint: it is added, which for scales means multiplied, after all else.
 *
 * @returns Whether it makes a difference.
 * @throws If there is no such joint, it cannot be edited, or the value is not finite.
 */
function writeProportion(crowd: Crowd, joint: string, value: number | Vector3 | null): boolean {
  startEdit(nodeOf(crowd, joint), KIND_SCALE + KIND_ADD, 1);
  _edit[EDIT_SLOT] = SLOT_PROPORTION;
  if (value === null) return false;
  if (!isWritten(typeof value === 'number' ? { x: value, y: value, z: value } : value)) {
    throw new Error(
      `The scale of "${joint}" is ${textOf(value)}; use a finite number, a Vector3 of them, or null.`,
    );
  }
  return _edit.subarray(EDIT_VALUE, EDIT_VALUE + 3).some((factor) => factor !== 1);
}

/**
 * The node that a joint is, or a node above joints.
 *
 * @throws If there is none, or it cannot be edited.
 */
function nodeOf(crowd: Crowd, joint: string | number): number {
  const tracks = tracksOf(crowd);
  const node =
    (typeof joint === 'string' ? nodeNames(tracks).first.get(joint) : undefined) ??
    tracks.jointNodes[crowd.boneTexture.jointIndex(joint)];
  checkEditable(tracks, node);
  return node;
}

function checkEditable({ fixed, names }: PoseTracks, node: number): void {
  if (Number.isNaN(fixed[node * AFFINE_SIZE])) return;
  throw new Error(
    `"${names[node]}" cannot be edited: its matrixAutoUpdate was off when it was baked, so that it has a matrix only.`,
  );
}

/** @throws If there are none. */
function tracksOf({ boneTexture }: Crowd): PoseTracks {
  const { tracks } = boneTexture.data;
  if (tracks === null) throw new Error(`Edits of joints need ${MIXED_POSES}`);
  return tracks;
}

const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null && 'toArray' in value
    ? `(${(value as Vector3).toArray().join(', ')})`
    : String(value);
