import type { Camera, GeometryGroup, Material, Scene, WebGLRenderer } from 'three';
import {
  DataTexture,
  FloatType,
  RGBAFormat,
  RGBAIntegerFormat,
  Skeleton,
  type Texture,
  UnsignedIntType,
} from 'three';
import { FLOAT_TEXTURES, INTEGER_TEXTURES } from '../constants.js';
import type { CameraView } from '../culling/CrowdViews.js';

const NO_MOTION: Float32Array = /*@__PURE__*/ new Float32Array(4);

const sent = (texture: DataTexture): DataTexture => Object.assign(texture, { needsUpdate: true });

/**
 * What all crowds have where shaders declare a texture that they have not got: the same, so that it stays bound. WebGL refuses to draw if
 * a sampler has no texture of its kind, also where the shader never reads it.
 */
export const noFloats = /*@__PURE__*/ sent(
  /*@__PURE__*/ new DataTexture(/*@__PURE__*/ new Float32Array(4), 1, 1, RGBAFormat, FloatType),
);
const noIntegers = /*@__PURE__*/ sent(
  /*@__PURE__*/ new DataTexture(/*@__PURE__*/ new Uint32Array(4), 1, 1, RGBAIntegerFormat, UnsignedIntType),
);

/** What shaders of WebGLRenderer read for a draw, and the numbers of its motions. */
export type DrawTextures = Record<
  (typeof FLOAT_TEXTURES)[number] | (typeof INTEGER_TEXTURES)[number],
  Texture
> & {
  motion: Float32Array;
};

/** Those, and numbers for an object without motions that shares a program with others. */
const noTextures = () => {
  const textures = { motion: NO_MOTION } as DrawTextures;
  for (const name of FLOAT_TEXTURES) textures[name] = noFloats;
  for (const name of INTEGER_TEXTURES) textures[name] = noIntegers;
  return textures;
};

/** What WebGLRenderer draws a crowd for: a picture, or a shadow map. */
export interface Draw {
  renderer: WebGLRenderer;
  /** Null for a shadow map. */
  scene: Scene | null;
  camera: Camera;
  /** The camera that decides on levels of detail, and on who is near. */
  lodCamera: Camera;
  /** In which it is drawn: its own, or one that stands in for it. */
  material: Material;
  /** The part of the geometry that is drawn; null for all of it. */
  group: GeometryGroup | null;
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
  /** What the camera sees for which it was drawn last; null for all. */
  seen: CameraView | null;
};

/**
 * What three.js finds as the `skeleton` of a crowd. It has no bones, since nothing is posed on the CPU: its purpose is that
 * WebGLRenderer binds the crowd's own textures at each draw, also where several crowds share a material.
 */
export class CrowdSkeleton extends Skeleton {
  /** What the crowd's `count` reads as while three.js draws a view of it; null at all other times. */
  drawnCount: number | null = null;
  /** How WebGLRenderer draws the mesh. */
  readonly drawn: DrawState = { renderer: null, frame: -1, draws: [], seen: null };

  /** What WebGLRenderer binds at each draw: it sets the uniform `boneTexture`, of which the crowd's shaders make a struct, from it. */
  readonly textures: DrawTextures = noTextures();

  private readonly onUpdate: () => void;

  /** @param onUpdate Called by WebGLRenderer in each frame that draws the crowd, before it chooses programs. */
  constructor(onUpdate: () => void) {
    super([], []);
    this.boneTexture = this.textures as unknown as DataTexture;
    this.onUpdate = onUpdate;
  }

  /** Takes out all textures, of which some may have been disposed. */
  empty(): void {
    Object.assign(this.textures, noTextures());
  }

  override update(): void {
    this.onUpdate();
  }

  /** Returns itself, since `SkeletonUtils.clone` would replace it by a plain skeleton otherwise. */
  override clone(): this {
    return this;
  }

  /** The bone texture belongs to whoever baked it. */
  override dispose(): void {}
}
