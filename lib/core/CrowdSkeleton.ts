import type { Camera, Material, WebGLRenderer } from 'three';
import {
  DataTexture,
  FloatType,
  RGBAFormat,
  RGBAIntegerFormat,
  Skeleton,
  type Texture,
  UnsignedIntType,
} from 'three';

const NO_MOTION = /*@__PURE__*/ new Float32Array(4);

const sent = (texture: DataTexture): DataTexture => Object.assign(texture, { needsUpdate: true });

/** What all crowds have where shaders declare a texture that they have not got: the same, so that it stays bound. */
const noFloats = /*@__PURE__*/ sent(
  /*@__PURE__*/ new DataTexture(/*@__PURE__*/ new Float32Array(4), 1, 1, RGBAFormat, FloatType),
);
const noIntegers = /*@__PURE__*/ sent(
  /*@__PURE__*/ new DataTexture(/*@__PURE__*/ new Uint32Array(4), 1, 1, RGBAIntegerFormat, UnsignedIntType),
);

/** What WebGLRenderer draws a crowd for: a picture, or a shadow map. */
export interface Draw {
  renderer: WebGLRenderer;
  camera: Camera;
  /** The camera that decides on levels of detail, and on who is near. */
  lodCamera: Camera;
  /** Null for a shadow map. */
  material: Material | null;
}

export type DrawState = {
  /** The variants that materials were last patched for; undefined before the first time. */
  codes?: { color: number; shadow: number };
  /** Who drew the crowd last, so that its poses can be ready before the frame's first shadow map. */
  renderer: WeakRef<WebGLRenderer> | null;
  /** The last frame that began with it; -1 if it is drawn no more. */
  frame: number;
  /** Whether several renderers draw the crowd: then it is not known who is about to. */
  shared?: boolean;
  /** Whether a view says which instances are drawn. */
  viewed?: boolean;
  /** Whether it was drawn in this frame, so that its textures are fit for the renderer. */
  isChecked?: boolean;
  /**
   * Draws that have begun and have not ended yet: more than one while a hook of the user's renders the crowd once more, in the middle of
   * a draw.
   */
  readonly draws: Draw[];
};

/**
 * What three.js finds as the `skeleton` of a crowd. It has no bones, since nothing is posed on the CPU: its purpose is that
 * WebGLRenderer binds the crowd's own textures at each draw, also where several crowds share a material.
 */
export class CrowdSkeleton extends Skeleton {
  /** What the crowd's `count` reads as while three.js draws a view of it; null at all other times. */
  drawnCount: number | null = null;
  /** How WebGLRenderer draws the mesh. */
  readonly drawn: DrawState = { renderer: null, frame: -1, draws: [] };

  /**
   * What WebGLRenderer binds at each draw: textures of floats, and of unsigned integers. It sets the uniform `boneTexture`
   * from what is called so here: an object of arrays, since the crowd's shaders declare it as such a struct. The third has the
   * numbers that shaders are told of motions.
   */
  readonly textures: Texture[] = [];
  readonly integers: Texture[] = [];
  private readonly bound: { textures: Texture[]; integers: Texture[]; motion: Float32Array };

  private readonly onUpdate: () => void;

  /** @param onUpdate Called by WebGLRenderer in each frame that draws the crowd, before it chooses programs. */
  constructor(onUpdate: () => void) {
    super([], []);
    const { textures, integers } = this;
    this.bound = { textures, integers, motion: NO_MOTION };
    this.boneTexture = this.bound as unknown as DataTexture;
    this.onUpdate = onUpdate;
  }

  /**
   * Takes out all textures, of which some may have been disposed. The arrays keep their lengths: to shrink and grow again, they
   * would be allocated anew, in each draw.
   */
  empty(): void {
    const { textures, integers } = this;
    textures.fill(noFloats);
    if (integers.length > 0) integers.fill(noIntegers);
  }

  /**
   * Fills the arrays up to as many textures as shaders declare, and at least up to their lengths. WebGL refuses to draw if a sampler
   * has no texture of its kind bound, also where the shader never reads it.
   */
  fill(textureCount: number, integerCount: number): void {
    const { textures, integers } = this;
    for (let i = 0; i < Math.max(textureCount, textures.length); i++) textures[i] ??= noFloats;
    for (let i = 0; i < Math.max(integerCount, integers.length); i++) integers[i] ??= noIntegers;
  }

  /** The numbers of an object's motions. One that has none may share a program with others, which ask for them. */
  setMotion(numbers: Float32Array | undefined): void {
    this.bound.motion = numbers ?? NO_MOTION;
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
