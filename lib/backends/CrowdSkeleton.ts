import { type DataTexture, Skeleton, type Texture } from 'three';

/**
 * Stands where three.js looks for a skeleton, so that it binds the bone texture of each crowd at each draw, also when
 * crowds share a material. It has no bones: there is nothing to pose on the CPU.
 */
export class CrowdSkeleton extends Skeleton {
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
  setTextures(...bound: readonly Texture[]): void {
    const textures = this.boneTexture as unknown as Texture[];
    textures.length = bound.length;
    bound.forEach((texture, i) => {
      textures[i] = texture;
    });
  }

  /** Binds what the instances play too, for shaders that have no attributes left to read it from. */
  setSlots(slots: Texture): void {
    const textures = this.boneTexture as unknown as Texture[];
    textures[3] = slots;
  }

  /** Binds something at every place that shaders may read, so that none is left at a unit of another kind of texture. */
  fill(count: number): void {
    const textures = this.boneTexture as unknown as Texture[];
    for (let i = textures.length; i < count; i++) textures[i] = textures[0];
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
