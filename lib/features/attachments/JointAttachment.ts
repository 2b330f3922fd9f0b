import { type BufferGeometry, type Material, Matrix4 } from 'three';
import type { BoneTexture } from '../../animation/BoneTexture.js';
import { bindToJoint, rebindToJoint, type Socket, socketOf } from '../../character/bindToJoint.js';
import { jointsOf } from '../../character/crowdGeometry.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { type AttachedMesh, CrowdMesh } from '../../crowd/CrowdMesh.js';
import type { SkinnedInstancedMesh } from '../../crowd/SkinnedInstancedMesh.js';
import { attach, cloneEmpty, copyAttached, detach, followOwners } from '../AttachedMesh.js';
import type { KindMesh } from '../kinds/CrowdKinds.js';

/** Where an attachment is. */
export interface JointAttachmentOptions {
  /** Place in the joint's own space, as of an object that is added to a bone. @default the joint's own */
  offset?: Matrix4;
}

/**
 * Lets a geometry follow a joint of every instance of a crowd, on the GPU: one more draw call, and nothing per instance on the
 * CPU. It becomes a child of the crowd, or of another attachment, and shares what the instances play and where they stand;
 * colours, parts and morph influences it has of its own. What `InstanceUniforms` of the crowd gave instances holds for it too,
 * until it is given some of its own. It is hidden where the instance is; show it on some of them only by
 * `new InstanceParts(swords).setVisibleAt(i, 0, false)`. Playback events are dispatched on it too. Its `dispose` lets go of it; the crowd's
 * disposes it too.
 *
 * ```ts
 * const swords = new JointAttachment(crowd, 'hand_r', swordGeometry, swordMaterial);
 * ```
 *
 * @category Dress and attach
 */
export class JointAttachment extends CrowdMesh {
  override readonly type: string = 'JointAttachment';
  /** For type testing. */
  readonly isJointAttachment = true;

  /** @internal */
  declare drawn: AttachedMesh['drawn'];
  /** Where on its owner it is. @internal */
  socket: Socket;
  /** Where geometry is in the joint's own space. @internal */
  readonly offset: Matrix4;

  /**
   * @param owner A crowd, a kind of one, or another attachment.
   * @param joint Name or index of a joint, or of a node that was baked with `sockets`.
   * @param geometry Has positions. It is copied.
   * @throws If there is no such joint, or the offset is not of finite numbers.
   *
   * @example
   * ```ts
   * const offset = new Matrix4().makeRotationX(Math.PI / 2); // as of a child of the bone
   * const swords = new JointAttachment(crowd, 'hand_r', swordGeometry, swordMaterial, { offset });
   * new InstanceParts(swords).setVisibleAt(3, 0, false); // none for number 3
   * ```
   */
  constructor(
    /** The mesh that it is attached to. */
    readonly owner: SkinnedInstancedMesh | KindMesh | JointAttachment,
    joint: string | number,
    geometry: BufferGeometry,
    material: Material | Material[],
    options: JointAttachmentOptions = {},
  ) {
    followOwners(JointAttachment);
    const { offset = new Matrix4(), socket: bound } = options as JointAttachmentOptions & { socket?: Socket };
    if (!offset.elements.every(Number.isFinite))
      throw new Error(`The offset is ${offset.elements.join(', ')}; use a Matrix4 of finite numbers.`);
    const { boneTexture, interpolate, crowd } = owner;
    const socket = bound ?? socketOf(boneTexture, joint);
    const own = bound === undefined ? bindToJoint(geometry, socket, offset) : geometry;
    super(own, material, crowd, { interpolate, influences: 1 });
    if (own !== geometry) own.dispose();
    this.socket = socket;
    this.offset = offset.clone();
    attach(this);
    this.motionsChanged();
  }

  /** Those of the owner, until it has some of its own. @internal */
  override get instanceUniforms(): DrawnCrowd['instanceUniforms'] {
    return super.instanceUniforms ?? this.owner?.instanceUniforms ?? null;
  }

  /** @throws Always: it shares instances with its crowd. */
  override copy(): this {
    throw new Error('An attachment belongs to its crowd; copy the crowd, or attach another to the other.');
  }

  /** An empty object: only copies of the crowd have attachments of their own in its place. */
  override clone(recursive?: boolean): this {
    return cloneEmpty(this, recursive);
  }

  /** Called once the copy of the crowd has the crowd's instances. @internal */
  copyTo(owner: CrowdMesh): JointAttachment {
    const { geometry, material, socket, count, boundingBox, boundingSphere } = this;
    const { morphTargetInfluences: influences, morphTargetDictionary: dictionary } = this;
    const mesh = new JointAttachment(owner as this['owner'], socket.joint, geometry, material, this);
    if (influences !== undefined) mesh.morphTargetInfluences = [...influences];
    if (dictionary !== undefined) mesh.morphTargetDictionary = { ...dictionary };
    mesh.boundingBox = boundingBox?.clone() ?? null;
    mesh.boundingSphere = boundingSphere?.clone() ?? null;
    mesh.count = count;
    return copyAttached<JointAttachment>(mesh, this);
  }

  /** Frees what the mesh allocated, and lets go of what it is attached to. It shows no instances any more. */
  override dispose(): this {
    if (detach(this)) super.dispose();
    return this;
  }

  /** @internal */
  override checkBoneTexture(boneTexture: BoneTexture): void {
    if (this.isOnSocket()) this.socketIn(boneTexture);
    else super.checkBoneTexture(boneTexture);
  }

  /** @internal */
  override prepareBoneTexture(boneTexture: BoneTexture): void {
    if (!this.isOnSocket()) return;
    const { socket } = this;
    this.socket = this.socketIn(boneTexture);
    const levels = this.attachments.filter((one) => (one as { isLevelMesh?: boolean }).isLevelMesh);
    for (const { geometry } of [this, ...levels]) rebindToJoint(geometry, socket, this.socket);
  }

  /** A copy of a geometry that lies in the joint's own space as the attachment's does, bound to the joint. @internal */
  bound(geometry: BufferGeometry): BufferGeometry {
    return bindToJoint(geometry, this.socket, this.offset);
  }

  /** Whether all vertices follow the one joint; the user may have assigned another geometry. */
  private isOnSocket(): boolean {
    return jointsOf(this.geometry).size === 1;
  }

  /** The same socket in another bone texture, where it may have another place. */
  private socketIn(boneTexture: BoneTexture): Socket {
    const { joint } = this.socket;
    const name = this.boneTexture.jointNames[joint];
    return socketOf(boneTexture, boneTexture.jointNames[joint] === name ? joint : name);
  }
}
