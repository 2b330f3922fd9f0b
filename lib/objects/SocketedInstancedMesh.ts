import { type BufferGeometry, InstancedBufferAttribute, type Material, Matrix4, type Object3D } from 'three';
import { bindToJoint, rebindToJoint, type Socket } from '../character/bindToJoint.js';
import { jointsOf, removePlaybackAttributes } from '../character/crowdGeometry.js';
import { AFFINE_SIZE } from '../constants.js';
import type { PlaybackEvent, PlaybackEventType } from '../playback/playbackEventTypes.js';
import { createPoseMix } from '../poses/PoseMix.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import { affineToMatrix4 } from '../utils/affine.js';
import { releaseBuffers } from '../utils/releaseBuffers.js';
import { MorphedInstancedMesh } from './MorphedInstancedMesh.js';
import type { SkinnedInstancedMesh } from './SkinnedInstancedMesh.js';

const NAME = 'SkinnedInstancedMesh';

const _pose = /*@__PURE__*/ createPoseMix();
const _affine = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);
const _matrix = /*@__PURE__*/ new Matrix4();

/**
 * A mesh whose joints can be asked where they are, and things be attached to. What is attached is a mesh of its own, an
 * attachment, which shares what the instances of its owner play and where they stand.
 */
export abstract class SocketedInstancedMesh extends MorphedInstancedMesh {
  /** Meshes that are attached to joints of this one. A new array at each change, so that a loop over it is not disturbed. */
  protected attachments: readonly SocketedInstancedMesh[] = [];
  /** The mesh that this one is attached to. */
  protected owner: SocketedInstancedMesh | null = null;
  /** Where on its owner this mesh is attached. */
  private socket: Socket | null = null;

  /** Whether two baked frames are mixed; else the nearest is shown. */
  abstract interpolate: boolean;

  /**
   * Skinning matrix of a joint as the instance shows it now: what `Skeleton.boneMatrices` holds, relative to the
   * instance. It carries a vertex from where it was modelled to where it is drawn, before the instance matrix.
   *
   * @param bone Name or index of a joint of the bone texture.
   */
  getBoneMatrixAt(index: number, bone: string | number, target: Matrix4): Matrix4 {
    this.checkIndex(index, 'getBoneMatrixAt');
    const joint = this.boneTexture.jointIndex(bone, `${NAME}.getBoneMatrixAt`);
    this.boneTexture.readPose(this.playback.pose(index, this.interpolate, _pose), joint, _affine);
    return affineToMatrix4(_affine, 0, target);
  }

  /**
   * Lets an object follow a joint of every instance, on the GPU: one more draw call, and nothing per instance on the CPU.
   * It is a crowd of its own, child of this one, that shares what this one plays and where it stands: show it on some
   * instances only by `setPartVisibleAt(i, 0, false)`, colour it by `setColorAt`. Do not `update` it; this
   * crowd's events are dispatched on it too. Its `dispose` lets go of it; this crowd's disposes it too.
   *
   * @param joint Name or index of a joint, or of a node that was baked with `sockets`.
   * @param geometry Is copied.
   * @param offset Place in the joint's own space, as of an object that is added to a bone.
   * @throws If there is no such joint, the geometry has no positions, or the offset is not of finite numbers.
   */
  attach(
    joint: string | number,
    geometry: BufferGeometry,
    material: Material | Material[],
    offset?: Matrix4,
  ): SkinnedInstancedMesh;
  /** As `Object3D.attach`: adds an object where it stands in the world. */
  attach(object: Object3D): this;
  override attach(
    joint: Object3D | string | number,
    geometry?: BufferGeometry,
    material?: Material | Material[],
    offset = new Matrix4(),
  ): this | SkinnedInstancedMesh {
    if (typeof joint === 'object') return super.attach(joint);
    const caller = `${NAME}.attach`;
    if (!geometry?.isBufferGeometry || !material) {
      throw new Error(`${caller}: pass the geometry and material that shall follow "${joint}".`);
    }
    if (!geometry.hasAttribute('position')) {
      throw new Error(`${caller}: the geometry "${geometry.name}" has no attribute "position".`);
    }
    if (!offset.elements.every(Number.isFinite)) {
      throw new Error(`${caller}: offset is ${offset.elements.join(', ')}; use finite numbers.`);
    }
    const socket = this.boneTexture.socket(joint, caller);
    const bound = bindToJoint(geometry, socket, offset);
    const attachment = this.createAttachment(bound, material);
    bound.dispose();
    attachment.count = this.count;
    attachment.castShadow = this.castShadow;
    attachment.receiveShadow = this.receiveShadow;
    attachment.frustumCulled = this.frustumCulled;
    attachment.layers.mask = this.layers.mask;
    this.adopt(attachment, socket);
    this.add(attachment);
    return attachment;
  }

  /**
   * Where a joint of an instance is now, as `bone.matrixWorld` would be: in the crowd's local space, instance matrix
   * applied. For the world's, premultiply by `matrixWorld`.
   *
   * @param joint Name or index of a joint, or of a node that was baked with `sockets`.
   */
  getSocketMatrixAt(index: number, joint: string | number, target: Matrix4): Matrix4 {
    this.checkIndex(index, 'getSocketMatrixAt');
    const socket = this.boneTexture.socket(joint, `${NAME}.getSocketMatrixAt`);
    this.getBoneMatrixAt(index, socket.joint, target);
    target.multiply(affineToMatrix4(socket.bind, 0, _matrix));
    return target.premultiply(_matrix.fromArray(this.instanceMatrix.array, index * 16));
  }

  /**
   * Makes room for more instances, or gives room back. What the instances are and play stays; new ones have the identity
   * matrix and play nothing. Whatever is attached gets as much room.
   */
  abstract setCapacity(capacity: number): this;

  /** Exchanges two instances: places, colours, parts, morph targets and what they play; those of attached crowds too. */
  override swapInstances(i: number, j: number): this {
    // Places and playback are the owner's, so its looks and those of everything attached to it must move with them.
    if (this.owner !== null) this.owner.swapInstances(i, j);
    else super.swapInstances(i, j);
    return this;
  }

  protected override swapLooks(i: number, j: number): void {
    super.swapLooks(i, j);
    for (const attachment of this.attachments) attachment.swapLooks(i, j);
  }

  /** What is attached to an instance of which nothing is drawn is not drawn either. */
  protected override shownChanged(index: number): void {
    for (const attachment of this.attachments) {
      attachment.showWithOwner(index, this);
      attachment.shownChanged(index);
    }
  }

  private showWithOwner(index: number, owner: SocketedInstancedMesh): void {
    const shown = owner.isAnyDrawnAt(index);
    if (this.parts !== null || !shown) this.needParts().showWithOwner(index, shown);
  }

  protected override isHeard(type: PlaybackEventType): boolean {
    return super.isHeard(type) || this.attachments.some((attachment) => attachment.isHeard(type));
  }

  protected override announce(event: PlaybackEvent): void {
    super.announce(event);
    for (const attachment of this.attachments) attachment.announce(event);
  }

  /** The owner, who is updated, finds the events for all that is attached to it. */
  protected override listenersChanged(): void {
    if (this.owner !== null) this.owner.listenersChanged();
    else super.listenersChanged();
  }

  /** A crowd of as many instances, for geometry that is bound to one joint. */
  protected abstract createAttachment(
    geometry: BufferGeometry,
    material: Material | Material[],
  ): SkinnedInstancedMesh;

  /** Called when the geometry, or what the instances play, became another object. */
  protected abstract adoptGeometry(geometry: BufferGeometry): void;

  /** Lets go of bounds that no longer hold. */
  protected abstract forgetBounds(): void;

  /** Takes another bone texture, which poses the geometry. */
  protected abstract replaceBoneTexture(boneTexture: BoneTexture): void;

  /** @throws If another bone texture cannot pose this mesh, or something that is attached to it. */
  protected checkBoneTexture(boneTexture: BoneTexture, caller: string): void {
    const { geometry, socket } = this;
    const { jointNames } = this.boneTexture;
    const joints = jointsOf(geometry);
    if (socket !== null && joints.size === 1) {
      this.socketIn(boneTexture, socket, caller);
    } else {
      for (const joint of joints) {
        if (boneTexture.jointNames[joint] === jointNames[joint]) continue;
        throw new Error(
          `${caller}: the bone texture was baked for another skeleton: its joint ${joint} is "${boneTexture.jointNames[joint]}", ` +
            `and the geometry's is "${jointNames[joint]}"; bake one from this character.`,
        );
      }
    }
    this.checkAttachments(boneTexture, caller);
  }

  /** @throws If another bone texture has no joint for something that is attached. */
  protected checkAttachments(boneTexture: BoneTexture, caller: string): void {
    for (const attachment of this.attachments) attachment.checkBoneTexture(boneTexture, caller);
  }

  /** Shows another bone texture, which was checked, with everything that is attached. */
  protected takeBoneTexture(boneTexture: BoneTexture): void {
    const { geometry, socket } = this;
    if (socket !== null && jointsOf(geometry).size === 1) {
      this.socket = this.socketIn(boneTexture, socket);
      rebindToJoint(geometry, socket, this.socket);
    }
    this.replaceBoneTexture(boneTexture);
    this.passOnBoneTexture();
  }

  /** Lets what is attached show the bone texture that this mesh has now. */
  protected passOnBoneTexture(): void {
    for (const attachment of this.attachments) attachment.takeBoneTexture(this.boneTexture);
  }

  /** The same socket in another bone texture, where it may have another place. */
  private socketIn(boneTexture: BoneTexture, { joint }: Socket, caller?: string): Socket {
    const name = this.boneTexture.jointNames[joint];
    return boneTexture.socket(boneTexture.jointNames[joint] === name ? joint : name, caller);
  }

  /** Lets attachments share what this mesh is now. */
  protected shareAgain(): void {
    for (const attachment of this.attachments) attachment.shareFrom(this);
  }

  /** Attaches another crowd, which was on its own, to this one. */
  private adopt(attachment: SocketedInstancedMesh, socket: Socket): void {
    attachment.playback.dispose();
    attachment.owner = this;
    attachment.socket = socket;
    this.attachments = [...this.attachments, attachment];
    attachment.shareFrom(this);
    this.listenersChanged();
  }

  /**
   * Attaches the copies of what is attached to another mesh.
   *
   * @param first Place of the copy of that mesh's first child among this one's children.
   */
  protected adoptCopies(source: SocketedInstancedMesh, first: number): void {
    for (const attachment of source.attachments) {
      const place = source.children.indexOf(attachment);
      const copy = place < 0 ? undefined : this.children[first + place];
      if (copy instanceof SocketedInstancedMesh && attachment.socket !== null)
        this.adopt(copy, attachment.socket);
    }
  }

  /** Shares what the owner plays and where its instances stand, and has room for as many. */
  private shareFrom(owner: SocketedInstancedMesh): void {
    if (this.playback !== owner.playback) {
      releaseBuffers(this.geometry, [this.instanceColor]);
      this.playback = owner.playback;
    }
    this.instanceMatrix = owner.instanceMatrix;
    if (this.count > this.capacity) this.count = this.capacity;
    this.resizeLooks();
    for (let i = 0; i < this.capacity; i++) this.showWithOwner(i, owner);
    this.adoptGeometry(this.geometry);
    this.forgetBounds();
    this.prepareDraw();
    this.shareAgain();
  }

  /** Lets go of what is the owner's, so that disposing this crowd leaves it alone. It shows no instances any more. */
  protected detach(): void {
    const { owner } = this;
    if (owner === null) return;
    owner.attachments = owner.attachments.filter((attachment) => attachment !== this);
    this.owner = null;
    this.socket = null;
    owner.listenersChanged();
    this.removeFromParent();
    this.count = 0;
    removePlaybackAttributes(this.geometry);
    this.instanceMatrix = new InstancedBufferAttribute(new Float32Array(0), 16);
    this.playback = this.createPlayback(0);
  }
}
