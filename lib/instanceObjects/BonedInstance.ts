import { Matrix4, type Object3D, Skeleton } from 'three';
import type { Proportions } from '../crowd/setProportions.js';
import { affineToMatrix4 } from '../utils/affine.js';
import { DressedInstance } from './DressedInstance.js';
import { type InstanceBone, isInstanceBone } from './InstanceBone.js';
import { InstanceBones } from './InstanceBones.js';

/** An instance with bones, which are made when they are first asked for. */
export abstract class BonedInstance extends DressedInstance {
  private ownBones: InstanceBones | null = null;
  private ownSkeleton: Skeleton | null = null;

  /**
   * Its bones, in the order in which `traverse` meets them. They hang below the instance as the character's bones below its root, and
   * are made when they are first asked for: by this, by `getObjectByName`, or by `new SkeletonHelper(knight)`.
   *
   * With encodings other than `'tracks'` they follow the joints too, but cannot be written to, and nodes between joints are left out.
   */
  get bones(): InstanceBone[] {
    return this.makeBones().list;
  }

  /** Its bones as three.js's `Skeleton` has them, with the inverses of their bind matrices, for whatever asks for one. */
  get skeleton(): Skeleton {
    this.ownSkeleton ??= new Skeleton(
      [...this.bones],
      this.bones.map(({ name }) => this.inverseOf(name)),
    );
    return this.ownSkeleton;
  }

  /** False: it is no bone. three.js's `SkeletonHelper` asks this before it looks for bones below, which is when they are made. */
  get isBone(): false {
    this.makeBones();
    return false;
  }

  /** Finds bones as well, which it makes if the name is that of one. */
  override getObjectByProperty(name: string, value: unknown): Object3D | undefined {
    const { tracks, jointNames } = this.crowd.boneTexture.data;
    if (name === 'name' && (tracks?.names ?? jointNames).includes(value as string)) this.makeBones();
    return super.getObjectByProperty(name, value);
  }

  /** Ends all edits of its joints, whoever made them. Proportions and live poses stay. */
  clearEdits(): this {
    this.crowd.clearJointEditsAt(this.index);
    return this;
  }

  /**
   * Builds it otherwise than the character was, see `setProportionsAt`: `knight.setProportions({ joints: { Head: 1.4 } })`.
   *
   * @throws As `setProportionsAt`.
   */
  setProportions(proportions: Proportions | null): this {
    this.crowd.setProportionsAt(this.index, proportions);
    return this;
  }

  /** Copies what hangs on bones to those of the same names, and between instances of one crowd also proportions. */
  override copy(source: this, recursive = true): this {
    super.copy(source, false);
    if (source === this) return this;
    if (source.crowd === this.crowd) this.crowd.crowd.edits.copyProportions(source.index, this.index);
    if (!recursive) return this;
    for (const child of source.children) {
      // In the same order, by which `SkeletonUtils.clone` goes.
      if (isInstanceBone(child)) this.makeBones();
      else this.add(child.clone());
    }
    for (const bone of source.ownBones?.all ?? []) {
      for (const child of bone.children) {
        if (!isInstanceBone(child)) this.getObjectByName(bone.name)?.add(child.clone());
      }
    }
    return this;
  }

  /** @internal */
  idleBonesChanged(count: number): void {
    this.idleChildren = count;
    this.relist();
  }

  /** @internal */
  bonesWritten(bones: InstanceBones): void {
    this.home.objects.bonesWritten(bones);
  }

  /** @internal */
  override lost(): void {
    if (this.ownBones !== null) this.home.objects.bonesLost(this.ownBones);
    super.lost();
  }

  private makeBones(): InstanceBones {
    this.ownBones ??= new InstanceBones(this);
    return this.ownBones;
  }

  private inverseOf(name: string): Matrix4 {
    const { jointNames, jointBinds } = this.crowd.boneTexture.data;
    const bind = jointBinds[jointNames.indexOf(name)] ?? null;
    return bind === null ? new Matrix4() : affineToMatrix4(bind, 0, new Matrix4()).invert();
  }
}
