import { type DataTexture, Skeleton, type Texture } from 'three';

/**
 * Stands where three.js looks for a skeleton, so that it binds the bone texture of each crowd at each draw, also when
 * crowds share a material. It has no bones: there is nothing to pose on the CPU.
 */
export class CrowdSkeleton extends Skeleton {
  /** What three.js shall take for the crowd's `count` while it draws; null while it does not, and for all instances. */
  drawnCount: number | null = null;

  private readonly onUpdate: () => void;

  /** @param onUpdate Called by WebGLRenderer in each frame that draws the crowd, before it chooses programs. */
  constructor(onUpdate: () => void) {
    super([], []);
    this.boneTexture = [] as unknown as DataTexture;
    this.onUpdate = onUpdate;
  }

  /**
   * What WebGLRenderer binds at each draw. It sets a uniform of this name from what it finds here: an array of textures,
   * since the crowd's shaders declare it as one.
   */
  get textures(): Texture[] {
    return this.boneTexture as unknown as Texture[];
  }

  /** Binds something at every place that shaders may read, so that none is left at a unit of another kind of texture. */
  fill(count: number): void {
    const { textures } = this;
    for (let i = 0; i < Math.max(count, textures.length); i++) textures[i] ??= textures[0];
  }

  override update(): void {
    this.onUpdate();
  }

  /** There are none; node materials use only the length of `bones`, as a key. */
  override getBoneByName(): undefined {}

  override pose(): void {}

  override calculateInverses(): void {}

  /** Itself: `SkeletonUtils.clone` would else make a plain skeleton of it. */
  override clone(): this {
    return this;
  }

  /** The bone texture belongs to whoever baked it. */
  override dispose(): void {}
}
