import {
  type BufferGeometry,
  DataTexture,
  type Object3D,
  RGBAIntegerFormat,
  RGIntegerFormat,
  UnsignedIntType,
} from 'three';
import { runAll, runInSlices } from '../baking/runBake.js';
import type { Precision } from '../encodings/BoneTextureData.js';
import type { Socket } from '../poses/JointTable.js';
import { BoneTexture } from '../texture/BoneTexture.js';
import type { VertexBinding } from '../texture/VertexBinding.js';
import { bakeVertices } from './bakeVertices.js';
import { bindVertices, collectMeshes } from './bindVertices.js';
import { checkVertexTextureData } from './checkVertexTextureData.js';
import { decodeVertices, type EncodedVertices, encodeVertices } from './encodeVertices.js';
import { findMoved } from './findMoved.js';
import { frameTable } from './frameTable.js';
import type { MotionSource } from './planMotions.js';
import type { VertexBakeAsyncOptions, VertexBakeOptions } from './VertexBakeOptions.js';
import { VertexReader } from './VertexReader.js';
import type { VertexErrors, VertexTextureData } from './VertexTextureData.js';
import { registerVertexSources, vertexSourceName } from './vertexSource.js';

const NAME = 'VertexTexture';

/**
 * Baked vertices of anything that deforms: cloth, fish, soft bodies, faces of hundreds of morph targets, skinned characters
 * too. Crowds play it as they play a {@link BoneTexture}: by `play`, with times, loops, fades and events of each instance.
 *
 * ```ts
 * const shoal = VertexTexture.bake(fish, (time) => bend(fish, time), { name: 'Swim', duration: 1.2 });
 * const crowd = SkinnedInstancedMesh.from(fish, [], 10_000, { boneTexture: shoal });
 * crowd.playAll('Swim');
 * ```
 *
 * Make one with {@link VertexTexture.bake}, and call `dispose()` when no crowd uses it any more. There are no joints: nothing can
 * be attached to them, turned or asked for.
 */
export class VertexTexture extends BoneTexture {
  /** For type testing. */
  readonly isVertexTexture = true;
  /** Reads vertices on the CPU. @internal */
  readonly vertexReader: VertexReader;
  /** The vertices of all frames, as shaders read them. @internal */
  readonly vertexTexels: DataTexture;
  override readonly binding: VertexBinding;
  private readonly baked: VertexTextureData;

  /**
   * To bake motions, use {@link VertexTexture.bake}. The constructor takes the {@link VertexTexture.vertexData} of another one,
   * which may come from a worker or through `structuredClone`.
   *
   * @throws If the data do not fit together; the message names the field.
   */
  constructor(data: VertexTextureData) {
    checkVertexTextureData(data);
    super(frameTable(data));
    registerVertexSources();
    this.name = NAME;
    this.baked = data;
    this.vertexReader = new VertexReader(data);
    const { texels, width, height, precision } = data;
    const format = precision === 'half' ? RGIntegerFormat : RGBAIntegerFormat;
    this.vertexTexels = new DataTexture(
      texels as Uint32Array<ArrayBuffer>,
      width,
      height,
      format,
      UnsignedIntType,
    );
    this.vertexTexels.name = NAME;
    this.vertexTexels.needsUpdate = true;
    this.binding = {
      source: vertexSourceName(precision),
      collect: (root, caller) => collectMeshes(root, data, this.vertexReader, caller),
      findMoved: (root, sumsOf) => findMoved(root, data, sumsOf, NAME),
      bind: (geometry: BufferGeometry, source: BufferGeometry, caller: string) =>
        bindVertices(geometry, source, data, this.vertexReader, caller),
    };
  }

  /**
   * Bakes motions of all visible meshes under `object`. The object is posed meanwhile, and is afterwards as it was: what code has added
   * to it is taken out again. Meshes that are added are not baked.
   *
   * Vertices are relative to `object`, as it stands now: a crowd's instance matrix takes the place of `object.matrix`.
   *
   * @param object Holds the meshes, of whatever kind: skinned or not, with morph targets or without.
   * @param motion AnimationClips, which an `AnimationMixer` plays; motions of your code; or one function `(time) => void` that
   * poses the object, with `duration` in the options. Without any, the texture holds the object as it is.
   * @throws If there is nothing to bake or it does not fit into a texture; the message says what to do.
   */
  static override bake(
    object: Object3D,
    motion: MotionSource,
    options: VertexBakeOptions = {},
  ): VertexTexture {
    return new VertexTexture(runAll(bakeVertices(object, motion, options)));
  }

  /**
   * {@link VertexTexture.bake} in slices of a few milliseconds, however many vertices there are, so that a page stays responsive meanwhile;
   * `pose` of your own motions is the one thing that takes as long as it takes. What is baked is the object as it stands when the first
   * slice begins, soon after the call. With clips it may be drawn, moved and posed between slices; do not change its geometries, nor
   * take its nodes apart. Motions of your code pose it until the promise settles: until then it may be drawn, as they left it, but
   * do not move, pose or change it.
   *
   * @throws What `bake` throws, and the signal's reason when it aborts; also if meshes of the object are being baked already, and
   * motions of code do one of the two.
   */
  static override async bakeAsync(
    object: Object3D,
    motion: MotionSource,
    options: VertexBakeAsyncOptions = {},
  ): Promise<VertexTexture> {
    const steps = bakeVertices(object, motion, options);
    return new VertexTexture(await runInSlices(steps, options, `${NAME}.bakeAsync`));
  }

  /**
   * A vertex texture from a file, see {@link VertexTexture.encode}.
   *
   * @param maxTextureSize Largest width and height of the texture. Devices take at least 2,048, nearly all 4,096.
   * @throws If it is none of this library's, or damaged; the message names the field.
   */
  static decode(encoded: EncodedVertices, maxTextureSize = 4096): VertexTexture {
    return new VertexTexture(decodeVertices(encoded, maxTextureSize));
  }

  /** What a file keeps of it: JSON, and bytes in arrays that the JSON names by their indices. */
  encode(): EncodedVertices {
    return encodeVertices(this.vertexData);
  }

  /** Everything the texture knows, to be kept or sent elsewhere: `new VertexTexture(other.vertexData)` is an equal one. */
  get vertexData(): Readonly<VertexTextureData> {
    // Markers may have been added.
    return { ...this.baked, clips: this.data.clips };
  }

  /** How far clips are from what was baked, see {@link VertexErrors}. */
  get errors(): readonly VertexErrors[] {
    return this.baked.errors;
  }

  /** Vertices of a frame. */
  get vertexCount(): number {
    return this.baked.vertices;
  }

  /** Kind of number that positions are made of. */
  override get precision(): Precision {
    return this.baked.precision;
  }

  override get byteLength(): number {
    return super.byteLength + this.baked.texels.byteLength;
  }

  /** @throws Always: there are no joints. */
  override jointIndex(_joint: string | number, caller = `${NAME}.jointIndex`): number {
    throw new Error(`${caller}: a vertex texture has no joints; bake a BoneTexture of a skinned character.`);
  }

  /** @internal */
  override socket(joint: string | number, caller = `${NAME}.socket`): Socket {
    return { joint: this.jointIndex(joint, caller), bind: [] };
  }

  /** @throws Always: there are no joints. */
  override readJoint(): void {
    this.jointIndex(0, `${NAME}.readJoint`);
  }

  /** @internal */
  override checkSize(max: number | undefined): void {
    super.checkSize(max);
    const { width, height } = this.baked;
    if (max === undefined || (width <= max && height <= max)) return;
    throw new Error(
      `${NAME}: the texture is ${width} × ${height}, this device takes ${max} × ${max}; bake it with maxTextureSize: ${max}.`,
    );
  }

  /** @throws Always: what was bound to one vertex texture cannot become another. Make a new one of its `vertexData`. */
  override copy(): this {
    throw new Error(`${NAME}.copy: use clone(), or new VertexTexture(other.vertexData).`);
  }

  /** A second texture object with the same texels. */
  override clone(): this {
    return new VertexTexture(this.vertexData) as this;
  }

  /** Frees what is on GPUs. */
  override dispose(): void {
    super.dispose();
    this.vertexTexels.dispose();
  }
}
