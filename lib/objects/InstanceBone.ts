import { Bone, Euler, type Matrix4, type Object3D, Quaternion, Vector3 } from 'three';
import { KIND_POSITION, KIND_ROTATION, KIND_SCALE } from '../../shaders/editLayout.js';
import type { InstanceBones } from './InstanceBones.js';
import { observe, own, type ValueOwner } from './observed.js';

/** What code has written to a bone. */
export interface WrittenProperty {
  /** What clips gave the joint when it was written: as soon as they give something else, it ends. */
  readonly unedited: Float64Array;
  /** The edit that it became. */
  readonly edit: Float32Array;
}

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
export class InstanceBone extends Bone {
  /** @internal */
  readonly isInstanceBone = true;
  /** Of the pose when position, rotation and scale were last read, by kind, see `PosedNodes`. @internal */
  readonly versions: number[] = [0, 0, 0];
  /** What was written to it, by kind. @internal */
  readonly written: (WrittenProperty | null)[] = [null, null, null];
  /** How many objects that are no bones hang on it and on the bones below. @internal */
  hanging = 0;
  // Behind accessors, and set by the constructor of Object3D already.
  /** @internal */
  declare _visible: boolean;
  /** @internal */
  declare _matrix: Matrix4;
  /** @internal */
  declare _matrixWorld: Matrix4;

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
    observeInstanceBone();
    super();
    this.name = name;
    if (!isJoint) Object.assign(this, { isBone: false, type: 'Object3D' });
    const vector = (value: number, kind: number) =>
      new BoneVector3(value, { read: () => poser.read(this, kind), wrote: () => poser.wrote(this, kind) });
    const read = () => poser.read(this, KIND_ROTATION);
    const quaternion = new BoneQuaternion({ read });
    const rotation = new BoneEuler({ read });
    quaternion._onChange(() => {
      rotation.setFromQuaternion(quaternion, undefined, false);
      poser.wrote(this, KIND_ROTATION);
    });
    rotation._onChange(() => {
      quaternion.setFromEuler(rotation, false);
      poser.wrote(this, KIND_ROTATION);
    });
    const values = { quaternion, rotation, position: vector(0, KIND_POSITION), scale: vector(1, KIND_SCALE) };
    for (const [name, value] of Object.entries(values)) {
      // Not to be written over, as in every Object3D.
      Object.defineProperty(this, name, { configurable: true, enumerable: true, value });
    }
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
    if (updateParents) this.poser.updateOwner();
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

  /** A `Bone` as this one is now, with copies of what hangs on it, which follows nothing. */
  override clone(recursive?: boolean): this {
    return new Bone().copy(this, recursive) as this;
  }
}

/** For type testing. */
export const isInstanceBone = (object: Object3D | null | undefined): object is InstanceBone =>
  (object as InstanceBone | null | undefined)?.isInstanceBone === true;

function observeInstanceBone(): void {
  if (Object.hasOwn(InstanceBone.prototype, 'matrix')) return;
  // TypeScript does not let accessors take the place of fields.
  Object.defineProperties(InstanceBone.prototype, {
    visible: {
      get(this: InstanceBone) {
        return this._visible && this.hanging > 0;
      },
      set(this: InstanceBone, value: boolean) {
        this._visible = value;
      },
    },
    matrix: {
      get(this: InstanceBone) {
        this.poser.readMatrix(this, this._matrix);
        return this._matrix;
      },
      set(this: InstanceBone, value: Matrix4) {
        this._matrix = value;
      },
    },
    matrixWorld: {
      get(this: InstanceBone) {
        this.poser.readMatrixWorld(this, this._matrixWorld);
        return this._matrixWorld;
      },
      set(this: InstanceBone, value: Matrix4) {
        this._matrixWorld = value;
      },
    },
  });
}

/** A vector of a bone: up to date whenever it is read, also where a program holds on to it. */
export class BoneVector3 extends Vector3 {
  constructor(value: number, owner?: ValueOwner) {
    observe(BoneVector3.prototype, ['x', 'y', 'z']);
    super(value, value, value);
    own(this, owner);
  }

  /** As a plain vector is written. */
  toJSON(): { x: number; y: number; z: number } {
    return { x: this.x, y: this.y, z: this.z };
  }

  // That of Vector3 would pass its numbers to the constructor.
  override clone(): this {
    return new Vector3(this.x, this.y, this.z) as this;
  }
}

/** The same for its rotation. It tells of changes as every quaternion does. */
export class BoneQuaternion extends Quaternion {
  constructor(owner?: ValueOwner) {
    observe(BoneQuaternion.prototype, ['_x', '_y', '_z', '_w']);
    super();
    own(this, owner);
  }

  override clone(): this {
    return new Quaternion().copy(this) as this;
  }
}

/** The same as angles. */
export class BoneEuler extends Euler {
  constructor(owner?: ValueOwner) {
    observe(BoneEuler.prototype, ['_x', '_y', '_z', '_order']);
    super();
    own(this, owner);
  }

  override clone(): this {
    return new Euler().copy(this) as this;
  }
}
