import { type BufferGeometry, type Material, Object3D } from 'three';
import { Crowd } from '../crowd/Crowd.js';
import type { CrowdMesh } from './CrowdMesh.js';
import type { DrawOptions } from './crowdTypes.js';
import { LevelMesh } from './LevelMesh.js';

/** What an attachment asks of those that are drawn in its place. */
export interface LeveledAttachment extends CrowdMesh {
  /** The list of the instances at whose levels a mesh is drawn, see `LevelTable.listFor`. */
  listOf(mesh: CrowdMesh): number | null;
}

const NOWHERE = { distance: 0, screenShare: null, hysteresis: 0, poseRate: 0, attachments: true };

/**
 * What is drawn in the place of an attachment from a level of its crowd on, made by its `addLevel`. It follows the same joint,
 * and looks as the attachment does, but for its material, `castShadow` and `receiveShadow`.
 */
export class AttachmentLevel extends LevelMesh {
  override readonly type: string = 'AttachmentLevel';
  /** For type testing. */
  readonly isAttachmentLevel = true;
  /** What `visible` was set to. */
  private isShown = true;

  /**
   * @param crowd Of its own, until it is attached.
   * @param from Number of the crowd's level from which on it is drawn.
   * @internal
   */
  constructor(
    geometry: BufferGeometry,
    material: Material | Material[],
    crowd: Crowd,
    options: DrawOptions,
    readonly from: number,
  ) {
    super(geometry, material, crowd, options, NOWHERE);
    Object.defineProperty(this, 'visible', {
      enumerable: true,
      // Where the crowd has no levels, there is nothing for renderers to find.
      get: () => this.isShown && this.level !== -1,
      set: (value: boolean) => {
        this.isShown = value;
      },
    });
  }

  /** @internal */
  override get level(): number | null {
    return this.owner === null ? -1 : (this.owner as LeveledAttachment).listOf(this);
  }

  /** What it is attached to sees to that. @internal */
  override checkBoneTexture(): void {}

  override clone(recursive?: boolean): this {
    const { geometry, material, boneTexture, from } = this;
    const copy = new AttachmentLevel(geometry, material, new Crowd(boneTexture, 0), this, from);
    Object3D.prototype.copy.call(copy, this, recursive);
    copy.visible = this.isShown;
    return copy as this;
  }

  /** The attachment knows it as one of its own. */
  protected override begin(): void {}
  protected override end(): void {}
}
