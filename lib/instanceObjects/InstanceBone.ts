import { Bone, type Euler, type Matrix4, type Object3D, type Quaternion, type Vector3 } from 'three';
import { KIND_POSITION, KIND_ROTATION, KIND_SCALE } from '../edits/editLayout.js';
import { ObservedVector3 } from './ObservedVector3.js';

/** What code has written to a bone. */
export interface WrittenProperty {
  /** What clips gave the joint when it was written: as soon as they give something else, it ends. */
  readonly unedited: Float64Array;
  /** The edit that it became. */
  readonly edit: Float32Array;
}

/** What poses bones. */
export interface BonePoser {
  /** Brings position, quaternion and scale of a bone up to what its instance shows now. */
  read(bone: InstanceBone): void;
  /** Called when code has set one of them: that of a kind, `KIND_ROTATION` and the like. */
  wrote(bone: InstanceBone, kind: number): void;
  /** Ends all edits of a bone's joint. */
  clear(bone: InstanceBone): void;
  readMatrix(bone: InstanceBone, target: Matrix4): void;
  readMatrixWorld(bone: InstanceBone, target: Matrix4): void;
  /** Brings the world matrix of the instance up to date. */
  updateOwner(): void;
  /** Called when something was hung on a bone, or taken off. */
  hungOn(): void;
}

/** The own objects of a bone, behind accessors that see to it that they are up to date. */
interface BoneValues {
  readonly position: ObservedVector3;
  readonly quaternion: Quaternion;
  readonly rotation: Euler;
  readonly scale: ObservedVector3;
}

/**
 * A bone of an instance, see {@link BonedInstance.bones}: it is where the joint is that it has the name of, whatever the instance plays,
 * and what is added to it goes along. It is computed when something asks: as long as nothing hangs on it and nobody reads it, it
 * costs nothing.
 *
 * What is written to `position`, `rotation`, `quaternion` and `scale` changes the joint of this instance, as it does with the bones of
 * a `SkinnedMesh`: it stays until what the clips give for it changes, and then, with the next `crowd.update`, the clips have it
 * again. So whoever writes after each `update` has the last word, `bone.rotation.y += 0.1` adds to what the clips give, and to a joint that
 * they do not move it adds up. For edits that stay, whatever plays, there are `crowd.setJointRotationAt` and the like.
 *
 * `matrix` and `matrixWorld` are always up to date, and not to be written to.
 */
export class InstanceBone extends Bone {
  /** @internal */
  readonly isInstanceBone = true;
  /** Of what the bones last read, see `PosedNodes`. @internal */
  version = 0;
  /** What was written to it, by kind. @internal */
  readonly written: (WrittenProperty | null)[] = [null, null, null];
  /** How many objects that are no bones hang on it and on the bones below. @internal */
  hanging = 0;
  /** @internal */
  readonly values: BoneValues;

  // Behind accessors, and set by the constructor of Object3D already.
  declare private _visible: boolean;
  declare private _matrix: Matrix4;
  declare private _matrixWorld: Matrix4;

  static {
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
    readonly poser: BonePoser,
  ) {
    super();
    this.name = name;
    if (!isJoint) Object.assign(this, { isBone: false, type: 'Object3D' });
    const { quaternion, rotation } = this;
    this.values = {
      quaternion,
      rotation,
      position: new ObservedVector3(0, 0, 0, () => poser.wrote(this, KIND_POSITION)),
      scale: new ObservedVector3(1, 1, 1, () => poser.wrote(this, KIND_SCALE)),
    };
    quaternion._onChange(() => {
      rotation.setFromQuaternion(quaternion, undefined, false);
      poser.wrote(this, KIND_ROTATION);
    });
    rotation._onChange(() => {
      quaternion.setFromEuler(rotation, false);
      poser.wrote(this, KIND_ROTATION);
    });
    Object.defineProperties(this, READING);
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

/** Accessors that read the pose first. Object3D has these properties on each object of its own, and not on its prototype. */
const READING: PropertyDescriptorMap & ThisType<InstanceBone> = {
  position: {
    configurable: true,
    enumerable: true,
    get(): Vector3 {
      this.poser.read(this);
      return this.values.position;
    },
  },
  quaternion: {
    configurable: true,
    enumerable: true,
    get(): Quaternion {
      this.poser.read(this);
      return this.values.quaternion;
    },
  },
  rotation: {
    configurable: true,
    enumerable: true,
    get(): Euler {
      this.poser.read(this);
      return this.values.rotation;
    },
  },
  scale: {
    configurable: true,
    enumerable: true,
    get(): Vector3 {
      this.poser.read(this);
      return this.values.scale;
    },
  },
};
