import { type BufferGeometry, type Material, Matrix4 } from 'three';
import { bindToJoint, rebindToJoint, type Socket } from '../character/bindToJoint.js';
import { removePlaybackAttributes } from '../character/crowdGeometry.js';
import { jointsOf } from '../character/crowdSkin.js';
import { Crowd } from '../crowd/Crowd.js';
import type { CrowdMotions } from '../motion/CrowdMotions.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import { checkAreOptions } from '../utils/checkOptions.js';
import { describe } from '../utils/describe.js';
import { MAX_LEVELS } from '../views/LevelTable.js';
import { AttachmentLevel } from './AttachmentLevel.js';
import { CharacterMesh } from './CharacterMesh.js';
import type { CrowdMesh } from './CrowdMesh.js';
import { checkMaterial } from './checks.js';
import type { LevelOptions } from './createLevel.js';
import type { DrawOptions } from './crowdTypes.js';

const NAME = 'JointAttachment';

/** How a level of an attachment is drawn. */
export type AttachmentLevelOptions = Pick<LevelOptions, 'material' | 'castShadow' | 'receiveShadow'>;

/**
 * A geometry that follows a joint of every instance of a crowd, made by `attachToJoint`. It shares what the instances play
 * and where they stand; colours, parts and morph influences it has of its own. What `setOpacityAt`, `setUniformAt` and the like
 * gave instances holds for it too, until it is given some of its own. What is drawn of an instance decides whether its
 * attachments are drawn too.
 */
export class JointAttachment extends CharacterMesh {
  override readonly type: string = 'JointAttachment';
  /** For type testing. */
  readonly isJointAttachment = true;

  /** The mesh that this one is attached to. */
  private owner: CrowdMesh | null = null;
  /** Where geometry is in the joint's own space. */
  private readonly offset = new Matrix4();
  /** Number of the level from which on nothing is drawn. */
  private hiddenFrom = Infinity;

  /**
   * @param crowd Of its own, until it is attached.
   * @param socket Where on its owner it is attached.
   * @internal
   */
  constructor(
    geometry: BufferGeometry,
    material: Material | Material[],
    crowd: Crowd,
    private socket: Socket,
    options: DrawOptions,
  ) {
    super(geometry, material, crowd, options);
  }

  /** @internal */
  static create(
    owner: CrowdMesh,
    joint: string | number,
    geometry: BufferGeometry | undefined,
    material: Material | Material[] | undefined,
    offset = new Matrix4(),
    caller: string,
  ): JointAttachment {
    if (!geometry?.isBufferGeometry || !material) {
      throw new Error(`${caller}: pass the geometry and material that shall follow "${joint}".`);
    }
    checkMaterial(material, caller);
    if (!geometry.hasAttribute('position')) {
      throw new Error(`${caller}: the geometry "${geometry.name}" has no attribute "position".`);
    }
    if (!offset?.elements?.every(Number.isFinite)) {
      const given = offset?.elements?.join(', ') ?? describe(offset);
      throw new Error(`${caller}: offset is ${given}; use a Matrix4 of finite numbers.`);
    }
    const { boneTexture, interpolate } = owner;
    const socket = boneTexture.socket(joint, caller);
    const bound = bindToJoint(geometry, socket, offset);
    const options = { interpolate, influences: 1 } as const;
    const attachment = new JointAttachment(bound, material, new Crowd(boneTexture, 0), socket, options);
    attachment.offset.copy(offset);
    bound.dispose();
    attachment.castShadow = owner.castShadow;
    attachment.receiveShadow = owner.receiveShadow;
    attachment.frustumCulled = owner.frustumCulled;
    attachment.layers.mask = owner.layers.mask;
    attachment.attachTo(owner);
    attachment.count = owner.count;
    owner.add(attachment);
    return attachment;
  }

  /** As `SkinnedInstancedMesh.attachToJoint`: lets a further geometry follow a joint, hidden wherever this one is. */
  override attachToJoint(
    joint: string | number,
    geometry: BufferGeometry,
    material: Material | Material[],
    offset?: Matrix4,
  ): JointAttachment {
    return JointAttachment.create(this, joint, geometry, material, offset, `${NAME}.attachToJoint`);
  }

  /**
   * Draws another geometry in the place of this one, or nothing, where the crowd is drawn at a level of detail or behind it. It
   * follows the same joint with the same offset. Rays still hit this one.
   *
   * ```ts
   * crowd.addLevel(coarseRoot, 20);
   * crowd.addLevel(coarserRoot, 60);
   * sword.addLevel(coarseSword, 1);
   * sword.addLevel(null, 2);
   * ```
   *
   * @param geometry In the space of the first one; it is copied. Null for nothing.
   * @param from Number of the crowd's level from which on it is drawn, 1 or more; such a level may be added later.
   * @returns The mesh that draws it, a child of this one; `dispose` removes it.
   * @throws If it is no geometry, or there is no such level.
   */
  addLevel(geometry: BufferGeometry, from: number, options?: AttachmentLevelOptions): AttachmentLevel;
  addLevel(geometry: null, from: number): null;
  addLevel(
    geometry: BufferGeometry | null,
    from: number,
    options: AttachmentLevelOptions = {},
  ): AttachmentLevel | null {
    const caller = `${NAME}.addLevel`;
    checkAreOptions(options, caller);
    const { material = this.material, castShadow, receiveShadow } = options;
    checkMaterial(material, caller);
    if (!(Number.isInteger(from) && from >= 1 && from < MAX_LEVELS)) {
      throw new Error(`${caller}: ${from} is no level of the crowd; use 1 to ${MAX_LEVELS - 1}.`);
    }
    if (geometry === null) {
      this.hiddenFrom = from;
      return null;
    }
    if (geometry?.isBufferGeometry !== true || !geometry.hasAttribute('position')) {
      throw new Error(
        `${caller}: ${String(geometry)} is no geometry with an attribute "position"; pass one, or null for nothing.`,
      );
    }
    const { boneTexture, socket, interpolate } = this;
    const bound = bindToJoint(geometry, socket, this.offset);
    const drawn = { interpolate, influences: 1 } as const;
    const level = new AttachmentLevel(bound, material, new Crowd(boneTexture, 0), drawn, from);
    bound.dispose();
    level.name = this.name;
    level.castShadow = castShadow ?? this.castShadow;
    level.receiveShadow = receiveShadow ?? this.receiveShadow;
    level.renderOrder = this.renderOrder;
    level.layers.mask = this.layers.mask;
    level.attachTo(this);
    this.add(level);
    return level;
  }

  /** @internal */
  override get level(): number | null {
    return this.crowd.levels.isUsed ? this.listOf(this) : null;
  }

  /** @internal */
  listOf(mesh: CrowdMesh): number | null {
    const { levels } = this.crowd;
    return levels.isUsed ? levels.listFor(this.levelsOf(mesh)) : -1;
  }

  /** The crowd's levels at which something of this is drawn: bit `1 << level`. */
  private get shownLevels(): number {
    const { owner } = this;
    const all = owner instanceof JointAttachment ? owner.shownLevels : this.crowd.levels.attachedLevels;
    return this.hiddenFrom < MAX_LEVELS ? all & ((1 << this.hiddenFrom) - 1) : all;
  }

  /** Those at which it is this mesh that is drawn, or one in its place. */
  private levelsOf(mesh: CrowdMesh): number {
    const { shownLevels, attachments } = this;
    let bits = 0;
    for (let level = 0; level < MAX_LEVELS; level++) {
      let shown: CrowdMesh = this;
      let from = 0;
      for (const one of attachments) {
        if (!(one instanceof AttachmentLevel) || one.from > level || one.from < from) continue;
        shown = one;
        from = one.from;
      }
      if (shown === mesh) bits |= 1 << level;
    }
    return bits & shownLevels;
  }

  /** @internal */
  attachTo(owner: CrowdMesh): void {
    const { crowd } = this;
    this.joinCrowd(owner.crowd);
    crowd.dispose();
    this.owner = owner;
    owner.attachments = [...owner.attachments, this];
    this.uniforms.follow(owner.uniforms);
    this.motionsChanged();
    this.showWithOwner();
  }

  protected override get ownerMotions(): CrowdMotions | null {
    return this.owner?.motions ?? null;
  }

  /** @internal */
  ownerShown(index: number, shown: boolean): void {
    this.wardrobe.showWithOwner(index, shown);
    this.shownChanged(index);
  }

  /** @internal */
  override instancesResized(): void {
    super.instancesResized();
    this.showWithOwner();
  }

  /** @internal */
  override geometryReplaced(source: BufferGeometry): void {
    super.geometryReplaced(source);
    this.showWithOwner();
  }

  override copy(source: this, recursive?: boolean): this {
    if (this.owner !== null && source !== this) {
      throw new Error(
        `${NAME}.copy: this mesh is attached to another, which it shares instances with; clone the source instead.`,
      );
    }
    super.copy(source, recursive);
    this.socket = source.socket;
    this.offset.copy(source.offset);
    this.hiddenFrom = source.hiddenFrom;
    return this;
  }

  /** A copy that shows what this one shows now, and is attached to nothing. */
  override clone(recursive?: boolean): this {
    const { geometry, material, boneTexture, capacity, socket } = this;
    const crowd = new Crowd(boneTexture, capacity);
    return new JointAttachment(geometry, material, crowd, socket, this).copy(this, recursive) as this;
  }

  /** Frees what the mesh allocated, and lets go of what it is attached to. It shows no instances any more. */
  override dispose(): this {
    for (const attachment of this.attachments) attachment.dispose();
    this.detach();
    super.dispose();
    this.crowd.dispose();
    return this;
  }

  /** @internal */
  override checkBoneTexture(boneTexture: BoneTexture, caller: string): void {
    if (this.isOnSocket()) this.socketIn(boneTexture, caller);
    else super.checkBoneTexture(boneTexture, caller);
  }

  /** @internal */
  override prepareBoneTexture(boneTexture: BoneTexture): void {
    if (this.copying || !this.isOnSocket()) return;
    const { socket } = this;
    this.socket = this.socketIn(boneTexture);
    rebindToJoint(this.geometry, socket, this.socket);
    for (const level of this.attachments) {
      if (level instanceof AttachmentLevel) rebindToJoint(level.geometry, socket, this.socket);
    }
  }

  /** Hides the instances that the owner hides: call it when the owner, or the numbers of the parts, were replaced. */
  private showWithOwner(): void {
    const { owner } = this;
    if (owner === null) return;
    for (let i = 0; i < this.capacity; i++) this.ownerShown(i, owner.wardrobe.isAnyDrawn(i));
  }

  /** Whether all vertices follow the one joint; the user may have assigned another geometry. */
  private isOnSocket(): boolean {
    return jointsOf(this.geometry).size === 1;
  }

  /** The same socket in another bone texture, where it may have another place. */
  private socketIn(boneTexture: BoneTexture, caller?: string): Socket {
    const { joint } = this.socket;
    const name = this.boneTexture.jointNames[joint];
    return boneTexture.socket(boneTexture.jointNames[joint] === name ? joint : name, caller);
  }

  private detach(): void {
    const { owner } = this;
    if (owner === null) return;
    owner.attachments = owner.attachments.filter((attachment) => attachment !== this);
    this.owner = null;
    this.uniforms.follow(null);
    this.motionsChanged();
    this.removeFromParent();
    this.count = 0;
    // The buffer of what the instances play is the owner's, and must not go with this geometry.
    removePlaybackAttributes(this.geometry);
    this.enterCrowd(new Crowd(this.boneTexture, 0));
  }
}
