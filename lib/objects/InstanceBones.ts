import { Bone, Euler, type Matrix4, type Object3D, Quaternion, type Vector3 } from 'three';
import { KIND_POSITION, KIND_ROTATION, KIND_SCALE, SLOT_BY_HAND } from '../../shaders/editLayout.js';
import type { BoneTexture } from '../animation/BoneTexture.js';
import { PROPERTY_OFFSETS } from '../animation/PoseTracks.js';
import { TRS_SIZE } from '../animation/Rig.js';
import type { SkinnedInstancedMesh } from '../crowd/SkinnedInstancedMesh.js';
import type { JointEdits } from '../features/jointEdits/JointEdits.js';
import { observe, own, type ValueOwner } from '../utils/observe.js';
import { ObservedVector3, observeRotation, setFields } from './observed.js';
import { isInstanceBone, type PlacedInstance } from './PlacedInstance.js';
import { JointPoses, NodePoses, type PosedNodes, storeOf } from './PosedNodes.js';

/** Numbers of a rotation, a position and a scale. */
const SIZES = [4, 3, 3];
/** Numbers that differ by less, as shares, are those of clips that do not move a joint. */
const SAME = 1e-14;

let _unedited = /*@__PURE__*/ new Float64Array(0);

/** The bones of an instance: they read its pose, and what is written to them becomes edits. */
export class InstanceBones {
  /** Of all joints, and of nodes between them. */
  readonly list: InstanceBone[];
  /** Also of nodes above all joints. */
  readonly all: InstanceBone[] = [];
  private readonly writtenTo = new Set<InstanceBone>();
  private boneTexture: BoneTexture;
  private nodes: PosedNodes;
  /** Seconds that the crowd had been advanced in all when code's writes were last looked at. */
  private elapsed = 0;
  /** Whether clips may overwrite any of what was written. */
  private mayEnd = false;
  /** Whether bones are being set to what the instance shows. */
  private isReading = false;

  /** Hangs the bones below their instance, as the nodes of the character are below its root. */
  constructor(readonly owner: PlacedInstance) {
    this.boneTexture = owner.crowd.boneTexture;
    this.nodes = createNodes(owner.crowd);
    const { names, parents } = this.nodes;
    const byNode: InstanceBone[] = [];
    for (let node = 1; node < names.length; node++) {
      const bone = new InstanceBone(names[node], node, isBone(node, this.nodes), this);
      byNode[node] = bone;
      this.all.push(bone);
    }
    for (const bone of this.all) {
      const parent = parents[bone.node] > 0 ? byNode[parents[bone.node]] : owner;
      bone.parent = parent;
      parent.children.push(bone);
    }
    this.list = this.all.filter((bone) => bone.isBone);
    this.hungOn();
  }

  /** Brings position, rotation or scale of a bone, that of a kind, up to what its instance shows now. */
  read(bone: InstanceBone, kind: number): void {
    if (this.isReading || !this.update(bone)) return;
    const { nodes } = this;
    // What was written is not read back, which would round it, and lose which angles its rotation was given.
    if (bone.versions[kind] === nodes.version || this.isWritten(bone, kind)) return;
    bone.versions[kind] = nodes.version;
    const at = nodes.local(bone.node) + PROPERTY_OFFSETS[kind];
    this.isReading = true;
    valueOfKind(bone, kind).fromArray(nodes.trs, at);
    this.isReading = false;
  }

  /** Call when code has set one of them: that of a kind, `KIND_ROTATION` and the like. */
  wrote(bone: InstanceBone, kind: number): void {
    // Those of an instance that is gone are objects like any others.
    if (this.isReading || !this.update(bone)) return;
    const { owner } = this;
    // If it is an error, the bone goes back to what it was.
    bone.versions[kind] = 0;
    let edit: ArrayLike<number>;
    // The value is what was written, and not to be brought up to date.
    this.isReading = true;
    try {
      edit = jointEditsOf(owner.crowd).editNode(owner.instanceId, bone.node, kind, valueOfKind(bone, kind));
    } finally {
      this.isReading = false;
    }
    const before = bone.written[kind];
    if (before !== null) {
      before.edit.set(edit);
      return;
    }
    const unedited = this.readUnedited(bone.node);
    const at = bone.node * TRS_SIZE + PROPERTY_OFFSETS[kind];
    bone.written[kind] = { edit: Float32Array.from(edit), unedited: unedited.slice(at, at + SIZES[kind]) };
    if (this.writtenTo.size === 0) this.elapsed = owner.crowd.playback.time.timeOf(owner.instanceId);
    this.writtenTo.add(bone);
    this.mayEnd = true;
    owner.home.written.add(owner);
  }

  /**
   * Ends what was written to bones for which clips give something else than before, as a mixer would overwrite it. What was written
   * to joints that none moves stays.
   *
   * @returns Whether anything is left.
   */
  advanced(): boolean {
    const { writtenTo } = this;
    const { instanceId, crowd } = this.owner;
    // A live pose may overwrite what was written.
    const isLive = instanceId >= 0 && (storeOf(crowd)?.live.placeOf(instanceId) ?? -1) >= 0;
    if (writtenTo.size === 0 || !(this.mayEnd || isLive)) return writtenTo.size > 0;
    const { playback } = crowd;
    if (!this.update()) writtenTo.clear();
    const { nodes } = this;
    const elapsed = playback.time.timeOf(instanceId);
    const moved = elapsed !== this.elapsed && !playback.isPaused(instanceId);
    this.elapsed = elapsed;
    this.mayEnd = false;
    for (const bone of writtenTo) {
      const unedited = this.readUnedited(bone.node);
      let isLeft = false;
      for (let kind = KIND_ROTATION; kind < SIZES.length; kind++) {
        if (!this.isWritten(bone, kind)) continue;
        const at = bone.node * TRS_SIZE + PROPERTY_OFFSETS[kind];
        const before = bone.written[kind]?.unedited as Float64Array;
        if (isSame(before, unedited, at) && !(moved && nodes.trembles?.(bone.node, kind))) {
          isLeft = true;
          this.mayEnd ||= nodes.isStill?.(bone.node, kind) !== true;
          continue;
        }
        storeOf(crowd)?.remove(instanceId, bone.node, kind, SLOT_BY_HAND);
        bone.written[kind] = null;
      }
      if (!isLeft) writtenTo.delete(bone);
    }
    return writtenTo.size > 0;
  }

  /** Ends all edits of a bone's joint. */
  clear(bone: InstanceBone): void {
    const { crowd, instanceId } = this.owner;
    if (this.update(bone)) storeOf(crowd)?.clear(instanceId, bone.node, SLOT_BY_HAND);
  }

  readMatrix(bone: InstanceBone, target: Matrix4): void {
    if (this.update(bone)) {
      this.nodes.readLocalMatrix(bone.node, target);
      return;
    }
    const { position, quaternion, scale } = bone;
    target.compose(position, quaternion, scale);
  }

  readMatrixWorld(bone: InstanceBone, target: Matrix4): void {
    if (this.update(bone)) {
      this.nodes.readModelMatrix(bone.node, target).premultiply(this.owner.matrixWorld);
      return;
    }
    this.readMatrix(bone, target);
    if (bone.parent !== null) target.premultiply(bone.parent.matrixWorld);
  }

  /** Call when something was hung on a bone, or taken off. */
  hungOn(): void {
    const { owner } = this;
    const idle = this.all.filter(({ parent, hanging }) => parent === owner && hanging === 0);
    owner.idleChildren = idle.length;
    owner.home.relist(owner);
  }

  /** Brings the pose up to the present. Returns whether there is one, in which a bone has a part: the instance may be no more. */
  private update(bone?: InstanceBone): boolean {
    const { crowd, instanceId } = this.owner;
    if (instanceId < 0) return false;
    if (crowd.boneTexture !== this.boneTexture) this.changeNodes();
    this.nodes.update(instanceId);
    return bone === undefined || bone.node >= 0;
  }

  /** Another bone texture may have its nodes in another order; bones go by their names. */
  private changeNodes(): void {
    this.boneTexture = this.owner.crowd.boneTexture;
    this.nodes = createNodes(this.owner.crowd);
    const names: (string | null)[] = [...this.nodes.names];
    names[0] = null;
    for (const bone of this.all) {
      bone.versions.fill(0);
      bone.node = names.indexOf(bone.name);
      if (bone.node > 0) names[bone.node] = null;
      bone.written.fill(null);
    }
    this.writtenTo.clear();
  }

  /** Whether a bone has what code wrote to it, and nobody edited the joint by other means since. */
  private isWritten(bone: InstanceBone, kind: number): boolean {
    const { crowd, instanceId } = this.owner;
    const written = bone.written[kind];
    if (written === null) return false;
    if (storeOf(crowd)?.lists.holds(instanceId, written.edit)) return true;
    bone.written[kind] = null;
    return false;
  }

  private readUnedited(node: number): Float64Array {
    const { nodes } = this;
    if (_unedited.length < nodes.trs.length) _unedited = new Float64Array(nodes.trs.length);
    nodes.readUnedited?.(node, _unedited);
    return _unedited;
  }
}

/**
 * The edits of a crowd's joints, which this module does not make: pages that turn no bones by hand do not download them.
 *
 * @throws If it has none.
 */
export function jointEditsOf({ features }: SkinnedInstancedMesh): JointEdits {
  const edits = features.find((one): one is JointEdits => (one as Partial<JointEdits>).isJointEdits === true);
  if (edits === undefined)
    throw new Error(
      'Instances whose joints are moved by hand, or by an AnimationMixer, need a new JointEdits(crowd); to measure a clip, play it on the model that was baked.',
    );
  return edits;
}

const createNodes = (crowd: SkinnedInstancedMesh): PosedNodes => {
  const { tracks } = crowd.boneTexture.data;
  return tracks === null ? new JointPoses(crowd) : new NodePoses(crowd, tracks);
};

/** Whether a node is a joint, or has one above it. */
function isBone(node: number, { parents, joints }: PosedNodes): boolean {
  for (let i = node; i > 0; i = parents[i]) if (joints.has(i)) return true;
  return false;
}

function valueOfKind(bone: InstanceBone, kind: number): Vector3 | InstanceBone['quaternion'] {
  return kind === KIND_ROTATION ? bone.quaternion : kind === KIND_POSITION ? bone.position : bone.scale;
}

function isSame(a: Float64Array, b: Float64Array, at: number): boolean {
  for (let i = 0; i < a.length; i++)
    if (!(Math.abs(a[i] - b[at + i]) <= SAME * (1 + Math.abs(a[i])))) return false;
  return true;
}

/** Declared by an interface, so that an accessor may take the place of the field. */
interface BoneFields extends Bone {
  visible: boolean;
}

const ThreeBone = Bone as unknown as new () => BoneFields;

/**
 * A bone of an instance, see {@link SkinnedInstance.bones}: it is where the joint is that it has the name of, whatever the instance plays,
 * and what is added to it goes along. It is computed when something asks: as long as nothing hangs on it and nobody reads it, it
 * costs nothing.
 *
 * What is written to `position`, `rotation`, `quaternion` and `scale` changes the joint of this instance, as it does with the bones of
 * a `SkinnedMesh`: it stays until what the clips give for it changes, and then, with the next `crowd.update`, the clips have it
 * again. So whoever writes after each `update` has the last word, `bone.rotation.y += 0.1` adds to what the clips give, and to a joint that
 * they do not move it adds up. For edits that stay, whatever plays, there are `JointEdits`.
 *
 * `matrix` and `matrixWorld` are always up to date, and not to be written to.
 *
 * @category Instances as objects
 */
export class InstanceBone extends ThreeBone {
  /** @internal */
  readonly isInstanceBone = true;
  /** Of the pose when position, rotation and scale were last read, by kind, see `PosedNodes`. @internal */
  readonly versions: number[] = [0, 0, 0];
  /** What was written to it, by kind. @internal */
  readonly written: ({
    /** What clips gave the joint when it was written: as soon as they give something else, it ends. */
    readonly unedited: Float64Array;
    /** The edit that it became. */
    readonly edit: Float32Array;
  } | null)[] = [null, null, null];
  /** How many objects that are no bones hang on it and on the bones below. @internal */
  hanging = 0;
  /** Behind an accessor, and set by the constructor of Object3D already. @internal */
  declare _visible: boolean;

  /**
   * @param node Node of the pose that it follows; -1 for none.
   * @param isJoint Whether it is a bone, and not an object above all bones.
   * @internal
   */
  constructor(
    name: string,
    public node: number,
    isJoint: boolean,
    /** @internal */
    readonly poser: InstanceBones,
  ) {
    observe(InstanceBone.prototype, ['matrix', 'matrixWorld']);
    super();
    const { matrix, matrixWorld } = this;
    own(this, {
      read: (field) =>
        field === 'matrix' ? poser.readMatrix(this, matrix) : poser.readMatrixWorld(this, matrixWorld),
    });
    this.name = name;
    if (!isJoint) Object.assign(this, { isBone: false, type: 'Object3D' });
    const vector = (value: number, kind: number) =>
      new ObservedVector3(value, {
        read: () => poser.read(this, kind),
        wrote: () => poser.wrote(this, kind),
      });
    const read = () => poser.read(this, KIND_ROTATION);
    const quaternion = new BoneQuaternion({ read });
    const rotation = new BoneEuler({ read });
    observeRotation(rotation, quaternion, () => poser.wrote(this, KIND_ROTATION));
    setFields(this, {
      quaternion,
      rotation,
      position: vector(0, KIND_POSITION),
      scale: vector(1, KIND_SCALE),
    });
  }

  /** As of three.js. */
  override get visible(): boolean {
    return this._visible && this.hanging > 0;
  }

  /** Shows as in three.js. */
  override set visible(value: boolean) {
    this._visible = value;
  }

  /** Ends all edits of this joint, whoever made them; the clips have it again. Proportions stay. */
  clearEdits(): this {
    this.poser.clear(this);
    return this;
  }

  /** Does nothing: `matrix` is always up to date. */
  override updateMatrix(): void {}

  /** Visits only what hangs on it, which moves whenever the bone does. */
  override updateMatrixWorld(): void {
    if (this.hanging === 0) return;
    for (const child of this.children) child.updateMatrixWorld(true);
  }

  override updateWorldMatrix(updateParents: boolean, updateChildren: boolean): void {
    if (updateParents) this.poser.owner.updateWorldMatrix(true, false);
    if (!updateChildren || this.hanging === 0) return;
    for (const child of this.children) child.updateWorldMatrix(false, true);
  }

  /** Counts what hangs on it, whichever way it came. */
  override dispatchEvent(event: Parameters<Bone['dispatchEvent']>[0]): void {
    super.dispatchEvent(event);
    const by = event.type === 'childadded' ? 1 : event.type === 'childremoved' ? -1 : 0;
    if (by === 0 || isInstanceBone((event as { child?: Object3D }).child)) return;
    for (let bone: Object3D | null = this; isInstanceBone(bone); bone = bone.parent) bone.hanging += by;
    this.poser.hungOn();
  }
}

/** The rotation of a bone, up to date whenever it is read. It tells of changes as every quaternion does. */
export class BoneQuaternion extends Quaternion {
  constructor(owner?: ValueOwner) {
    observe(BoneQuaternion.prototype, ['_x', '_y', '_z', '_w']);
    super();
    own(this, owner);
  }
}

/** The same as angles. */
export class BoneEuler extends Euler {
  constructor(owner?: ValueOwner) {
    observe(BoneEuler.prototype, ['_x', '_y', '_z', '_order']);
    super();
    own(this, owner);
  }
}
