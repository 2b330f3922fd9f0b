import type { BufferGeometry, Material, Raycaster } from 'three';
import type { BoneTexture } from '../../animation/BoneTexture.js';
import type { DrawnCrowd, DrawOptions } from '../../core/Crowd.js';
import { type AttachedMesh, CrowdMesh } from '../../crowd/CrowdMesh.js';
import type { ListNumber } from '../../culling/LODSelector.js';
import type { CrowdIntersection } from '../../queries/raycastCrowd.js';
import type { InstanceParts } from '../../surface/InstanceParts.js';
import { warnOnce } from '../../utils/messages.js';
import { attach, cloneEmpty, copyAttached, detach, followOwners } from '../AttachedMesh.js';

/** The owner's, if the geometry has targets: three.js takes whoever has any of these for a mesh with morph targets. */
function ofOwner(
  key: 'morphTexture' | 'morphTargetInfluences' | 'morphTargetDictionary',
  none: null | undefined,
) {
  return {
    get(this: LevelMesh) {
      const isMorphed = (this.geometry?.morphAttributes.position?.length ?? 0) > 0;
      return isMorphed ? this.owner?.[key] : none;
    },
    set() {},
  };
}

/** Not in a static block, for which bundlers would keep the class where nobody uses it. */
function shareMorphs(): void {
  if (Object.hasOwn(LevelMesh.prototype, 'morphTexture')) return;
  Object.defineProperties(LevelMesh.prototype, {
    morphTexture: ofOwner('morphTexture', null),
    morphTargetInfluences: ofOwner('morphTargetInfluences', undefined),
    morphTargetDictionary: ofOwner('morphTargetDictionary', undefined),
  });
}

/**
 * What a crowd draws of instances that are far away: another geometry of the same character, made by `CrowdLevels.add`. All that
 * instances have is the crowd's: where they stand, what they play and how it poses them, colours, parts, morph influences. Its material and
 * `influences` are its own; `castShadow`, `receiveShadow`, `renderOrder` and `layers` are the crowd's until they are set.
 *
 * Only instances that a camera sees at this level are drawn. Rays hit the crowd itself, whatever is drawn.
 *
 * @category See
 */
export class LevelMesh extends CrowdMesh {
  override readonly type: string = 'LevelMesh';
  /** For type testing. */
  readonly isLevelMesh = true;
  /** @internal */
  declare drawn: AttachedMesh['drawn'];
  /** 2 while WebGLRenderer draws it right after its owner, and not as an object of the scene; 1 where it is about to. @internal */
  follows = 0;
  /** Called when it was disposed. @internal */
  removed: (() => void) | null = null;

  /**
   * @param owner In whose place it is drawn, and whose child it becomes.
   * @param material One, or one for each group of the geometry.
   * @param options What is left out is as of the owner; in shadow maps, as it is elsewhere.
   * @param from Number of the crowd's level from which on it is drawn in the owner's place; null if it is that level itself.
   * @internal
   */
  constructor(
    readonly owner: CrowdMesh,
    geometry: BufferGeometry,
    material: Material | Material[],
    { influences, shadowInfluences, interpolate = owner.interpolate }: DrawOptions,
    readonly from: number | null = null,
  ) {
    shareMorphs();
    followOwners(LevelMesh);
    const own = {
      influences: influences ?? owner.influences,
      shadowInfluences: shadowInfluences ?? influences ?? owner.shadowInfluences,
      interpolate,
    };
    super(geometry, material, owner.crowd, own, owner);
    this.name = owner.name;
    attach(this);
    const { layers } = this;
    const { test } = layers;
    // Renderers ask it first: a mesh of no level costs no draw call.
    layers.test = (other) => this.follows < 2 && this.list !== 0 && test.call(layers, other);
    this.motions = owner.motions;
    // What is drawn in the same materials casts shadows in the same, too.
    if ([material].flat()[0] === [owner.material].flat()[0]) {
      this.customDepthMaterial = owner.customDepthMaterial;
      this.customDistanceMaterial = owner.customDistanceMaterial;
    }
    this.ownerReplaced();
    this.prepareDraw();
  }

  /** None after it was removed. @internal */
  override get list(): ListNumber {
    return this.views.splitter === null && this.views.kinds === null ? 0 : super.list;
  }

  /** @internal */
  override get instanceUniforms(): DrawnCrowd['instanceUniforms'] {
    return (this.owner as CrowdMesh | undefined)?.instanceUniforms ?? null;
  }

  /** @internal */
  override get parts(): InstanceParts | null {
    return (this.owner as CrowdMesh | undefined)?.parts ?? null;
  }

  /** What renderers begin with: another kind may be next, which draws it as an object. @internal */
  override updateMatrixWorld(force?: boolean): void {
    super.updateMatrixWorld(force);
    this.follows = 0;
  }

  /** The same where a program updates matrices itself. @internal */
  override endDraws(): void {
    super.endDraws();
    this.follows = 0;
  }

  /** @internal */
  override motionsChanged(): void {
    this.motions = this.owner.motions;
    this.prepareDraw();
  }

  /** @internal */
  override geometryReplaced(): void {
    this.ownerReplaced();
    this.bounds.drop();
    this.prepareDraw();
  }

  /** What an attachment is attached to sees to that. @internal */
  override checkBoneTexture(boneTexture: BoneTexture): void {
    if ((this.owner as { isJointAttachment?: boolean }).isJointAttachment !== true)
      super.checkBoneTexture(boneTexture);
  }

  /** Morph targets need influences for each, and these are the owner's. @internal */
  ownerReplaced(): void {
    const { geometry, owner } = this;
    const targets = geometry.morphAttributes.position?.length ?? 0;
    const influences = owner.morphTargetInfluences?.length ?? 0;
    if (targets === 0 || targets === influences) return;
    warnOnce(
      `SkinnedInstancedMesh: the geometry "${geometry.name}" has ${targets} morph targets and the crowd ${influences}; it is drawn without them.`,
    );
    geometry.morphAttributes = {};
  }

  /** The same for a copy of its owner. @internal */
  copyFor(owner: CrowdMesh): LevelMesh {
    return new LevelMesh(owner, this.geometry, this.material, this, this.from);
  }

  /** Rays hit the geometry of level 0, the crowd's own. */
  override raycast(_raycaster: Raycaster, _intersects: CrowdIntersection[]): void {}

  /** @throws Always: a level is of the crowd that it was added to. */
  override copy(): this {
    throw new Error('A level of detail belongs to its crowd; copy the crowd, or add a level to the other.');
  }

  /** An empty object: only copies of the crowd have levels of their own in its place. */
  override clone(recursive?: boolean): this {
    return cloneEmpty(this, recursive);
  }

  /** @internal */
  copyTo(owner: CrowdMesh): LevelMesh {
    return copyAttached(this.copyFor(owner), this);
  }

  /** Frees what the level allocated, and removes it from its crowd. */
  override dispose(): this {
    if (!detach(this)) return this;
    for (const attachment of this.attachments) attachment.dispose();
    Object.defineProperty(this, 'instanceColor', { value: null });
    // Renderers free what they have for the object.
    this.dispatchEvent({ type: 'dispose' } as never);
    this.free();
    this.removed?.();
    return this;
  }

  protected override fitGeometry(): void {}
}
