import { type BufferGeometry, type Material, Object3D } from 'three';
import { removePlaybackAttributes, setPlaybackAttributes } from '../character/crowdGeometry.js';
import { Crowd } from '../crowd/Crowd.js';
import type { InstanceData } from '../instances/InstanceData.js';
import { warnOnce } from '../utils/warnOnce.js';
import { guardedLevel, type Level } from '../views/Level.js';
import { CrowdMesh } from './CrowdMesh.js';
import type { DrawOptions } from './crowdTypes.js';
import type { OwnedResources } from './OwnedResources.js';
import { shareLooks } from './shareLooks.js';

const NAME = 'LevelMesh';

/** From where on a level is drawn, and how: a {@link Level} without what it draws. */
export type LevelNumbers = Omit<Level, 'object'>;

/**
 * What a crowd draws of instances that are far away, made by `addLevel`: another geometry of the same character. It shares
 * everything that instances have with the crowd: where they stand, what they play, colours, parts, morph influences. Its
 * material, `castShadow` and `influences` are its own.
 *
 * Only instances that a camera sees at this level are drawn. Rays hit the crowd itself, whatever is drawn.
 */
export class LevelMesh extends CrowdMesh {
  override readonly type: string = 'LevelMesh';
  /** For type testing. */
  readonly isLevelMesh = true;
  /** From where on the level is drawn. */
  readonly entry: Level;
  /** The crowd has all of it. @internal */
  override readonly looks: readonly InstanceData[] = [];

  protected owner: CrowdMesh | null = null;
  /** What was made for the level, or for that which it is a copy of. */
  private owned: OwnedResources | null;

  /**
   * @param crowd Of its own, until it is attached.
   * @internal
   */
  constructor(
    geometry: BufferGeometry,
    material: Material | Material[],
    crowd: Crowd,
    options: DrawOptions,
    numbers: LevelNumbers,
    owned: OwnedResources | null = null,
  ) {
    super(geometry, material, crowd, options);
    this.entry = guardedLevel({ ...numbers, object: this });
    this.owned = owned?.retain() ?? null;
    shareLooks(this, () => this.owner);
  }

  /** Its number among the crowd's `levels`, -1 after it was removed. */
  override get level(): number | null {
    return this.crowd.levels.indexOf(this);
  }

  /** @internal */
  attachTo(owner: CrowdMesh): void {
    const { crowd } = this;
    this.owner = owner;
    this.joinCrowd(owner.crowd);
    crowd.dispose();
    owner.attachments = [...owner.attachments, this];
    this.begin(owner);
    this.count = owner.count;
    this.fitMorphs();
  }

  /** Instances of which nothing is shown have no parts at this level either. @internal */
  ownerShown(): void {}

  /** @internal */
  override geometryReplaced(): void {
    setPlaybackAttributes(this.geometry, this.playback);
    this.fitMorphs();
    this.bounds.drop();
    this.prepareDraw();
  }

  /** Sphere around every pose that any instance may take at this level. */
  override computeBoundingSphere(): void {
    this.bounds.computeSphere();
  }

  /** Box around every pose that any instance may take at this level. */
  override computeBoundingBox(): void {
    this.bounds.computeBox();
  }

  override updateMatrixWorld(force?: boolean): void {
    this.bounds.dropStale();
    super.updateMatrixWorld(force);
  }

  /** Rays hit the geometry of level 0, the crowd's own. */
  override raycast(): void {}

  /** Does nothing: a level is bound to the bone texture of its crowd. `SkeletonUtils.clone` calls it. */
  bind(): void {}

  /** @throws Always: a level is of the crowd that it was added to. */
  override copy(): this {
    throw new Error(
      `${NAME}.copy: a level belongs to its crowd; copy the crowd, or add a level to the other.`,
    );
  }

  /** A copy that is no crowd's level, and so draws nothing; clones of crowds make it one of theirs. */
  override clone(recursive?: boolean): this {
    const { geometry, material, boneTexture, entry, owned } = this;
    const copy = new LevelMesh(geometry, material, new Crowd(boneTexture, 0), this, entry, owned);
    Object3D.prototype.copy.call(copy, this, recursive);
    return copy as this;
  }

  /** Frees what the level allocated, and removes it from its crowd. */
  override dispose(): this {
    this.detach();
    super.dispose();
    this.crowd.dispose();
    this.owned?.release();
    this.owned = null;
    return this;
  }

  /** Has its crowd draw it. */
  protected begin(owner: CrowdMesh): void {
    owner.crowd.levels.add(this.entry);
  }

  protected end(owner: CrowdMesh): void {
    owner.crowd.levels.remove(this.entry);
  }

  private detach(): void {
    const { owner } = this;
    if (owner === null) return;
    owner.attachments = owner.attachments.filter((attachment) => attachment !== this);
    this.end(owner);
    // From here on nothing is shared, so that nothing of the owner's is freed.
    this.owner = null;
    this.removeFromParent();
    this.count = 0;
    removePlaybackAttributes(this.geometry);
    this.enterCrowd(new Crowd(this.boneTexture, 0));
  }

  /** Morph targets need influences for each, and these are the crowd's. @internal */
  fitMorphs(): void {
    const { geometry, owner } = this;
    const targets = geometry.morphAttributes.position?.length ?? 0;
    const influences = owner?.morphTargetInfluences?.length ?? 0;
    if (owner === null || targets === 0 || targets === influences) return;
    warnOnce(
      `${NAME}: the geometry "${geometry.name}" has ${targets} morph targets and the crowd ${influences}; the level is drawn without them.`,
    );
    geometry.morphAttributes = {};
  }
}
