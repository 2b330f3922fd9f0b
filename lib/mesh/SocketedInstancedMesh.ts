import { type BufferGeometry, InstancedBufferAttribute, type Material, Matrix4, type Object3D } from 'three';
import { AFFINE_SIZE } from '../constants.js';
import { INSTANCE_ATTRIBUTES } from '../playback/instanceLayout.js';
import type { PlaybackEvent, PlaybackEventType } from '../playback/PlaybackEvents.js';
import { createPoseMix } from '../texture/PoseMix.js';
import { affineToMatrix4 } from '../utils/affine.js';
import { bindToJoint } from './bindToJoint.js';
import { InstanceParts } from './InstanceParts.js';
import { MorphedInstancedMesh } from './MorphedInstancedMesh.js';
import { resizedAttribute } from './resizedAttribute.js';
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
   * @throws If there is no such joint.
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
    if (geometry === undefined || material === undefined) {
      throw new Error(`${NAME}.attach: pass the geometry and material that shall follow "${joint}".`);
    }
    const socket = this.boneTexture.socket(joint, `${NAME}.attach`);
    const bound = bindToJoint(geometry, socket.joint, socket.bind, offset);
    const attachment = this.createAttachment(bound, material);
    bound.dispose();
    attachment.castShadow = this.castShadow;
    attachment.receiveShadow = this.receiveShadow;
    attachment.frustumCulled = this.frustumCulled;
    attachment.layers.mask = this.layers.mask;
    this.adopt(attachment);
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

  /** Brings materials and draw parameters up to what the mesh is now. */
  protected abstract prepareDraw(): void;

  /** Lets those that follow share what this mesh is now. */
  protected shareAgain(): void {
    for (const attachment of this.attachments) attachment.shareFrom(this);
  }

  /** Makes another crowd one that follows this one. */
  protected adopt(attachment: SocketedInstancedMesh): void {
    attachment.owner = this;
    this.attachments = [...this.attachments, attachment];
    attachment.shareFrom(this);
    this.listenersChanged();
  }

  /** Shares what the owner plays and where it stands. */
  private shareFrom(owner: SocketedInstancedMesh): void {
    const { capacity, parts } = this;
    const shared = this.playback === owner.playback;
    if (!shared) this.playback.dispose();
    this.geometry.dispose();
    this.playback = owner.playback;
    this.instanceMatrix = owner.instanceMatrix;
    if (parts !== null && capacity !== owner.capacity) {
      this.replaceParts(new InstanceParts(owner.capacity, parts.count).copy(parts));
    }
    if (this.instanceColor !== null && capacity !== owner.capacity) {
      const colors = resizedAttribute(this.instanceColor, owner.capacity);
      colors.array.fill(1, this.instanceColor.array.length);
      this.instanceColor = colors;
    }
    this.count = owner.count;
    this.adoptGeometry(this.geometry);
    this.forgetBounds();
    this.prepareDraw();
  }

  /** Lets go of what is the owner's, so that disposing this crowd leaves it alone. */
  protected detach(): void {
    const { owner, geometry } = this;
    if (owner === null) return;
    owner.attachments = owner.attachments.filter((attachment) => attachment !== this);
    this.owner = null;
    owner.listenersChanged();
    this.removeFromParent();
    for (const { name } of INSTANCE_ATTRIBUTES) geometry.deleteAttribute(name);
    this.instanceMatrix = new InstancedBufferAttribute(new Float32Array(0), 16);
    this.instanceColor?.dispose?.();
    this.dispatchEvent({ type: 'dispose' });
  }
}
