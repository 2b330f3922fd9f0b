import { type DataTexture, Skeleton, type Texture } from 'three';

/**
 * What three.js finds as the `skeleton` of a crowd. It has no bones, since nothing is posed on the CPU: its purpose is that
 * WebGLRenderer binds the crowd's own textures at each draw, also where several crowds share a material.
 */
export class CrowdSkeleton extends Skeleton {
  /** What the crowd's `count` reads as while three.js draws a view of it; null at all other times. */
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

  /**
   * Fills the array up to `count` textures. WebGL refuses to draw if a sampler has no texture of its kind bound, also where
   * the shader never reads it.
   */
  fill(count: number): void {
    const { textures } = this;
    for (let i = 0; i < Math.max(count, textures.length); i++) textures[i] ??= textures[0];
  }

  override update(): void {
    this.onUpdate();
  }

  /** There are no bones. */
  override getBoneByName(): undefined {}

  override pose(): void {}

  override calculateInverses(): void {}

  /** Returns itself, since `SkeletonUtils.clone` would replace it by a plain skeleton otherwise. */
  override clone(): this {
    return this;
  }

  /** The bone texture belongs to whoever baked it. */
  override dispose(): void {}
}
