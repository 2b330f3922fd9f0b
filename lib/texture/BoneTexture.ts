import type { AnimationClip, Box3, Object3D } from 'three';
import { ClampToEdgeWrapping, DataTexture, FloatType, HalfFloatType, NearestFilter, RGBAFormat } from 'three';
import type { BakeAsyncOptions, BakeOptions } from '../baking/BakeOptions.js';
import { bakeSteps } from '../baking/bake.js';
import { runAll, runInSlices } from '../baking/runBake.js';
import type { BoneTextureData, Precision } from '../encodings/BoneTextureData.js';
import { checkBoneTextureData } from '../encodings/checkBoneTextureData.js';
import { createPoseReader } from '../encodings/createPoseReader.js';
import type { EncodingName } from '../encodings/Encoding.js';
import type { PoseReader } from '../encodings/PoseReader.js';
import type { TextureLayout } from '../encodings/textureLayout.js';
import { type BakedClip, type ClipReference, ClipTable } from '../poses/ClipTable.js';
import { addMarkerTo, removeMarkersFrom } from '../poses/clipMarkers.js';
import { JointTable, type Socket } from '../poses/JointTable.js';
import type { JointBoxes } from '../poses/jointBoxes.js';
import { createJointBoxes } from '../poses/jointBoxes.js';
import type { PoseMix } from '../poses/PoseMix.js';
import type { AffineArray } from '../utils/affine.js';
import { warnOnce } from '../utils/warnOnce.js';
import { ownData } from './ownData.js';
import { shortKeyTexture } from './shortKeyTexture.js';
import type { VertexBinding } from './VertexBinding.js';

/**
 * Baked skeletal animation, as texels that shaders read: the keys of every clip, from which each instance is posed; or the
 * skinning matrix of every joint in every frame, which each vertex reads. One bone texture serves any number of crowds,
 * geometries and renderers.
 *
 * Make one with {@link BoneTexture.bake} or {@link BoneTexture.bakeAsync}. It is a `DataTexture`; call `dispose()` when
 * no crowd uses it any more.
 */
export class BoneTexture extends DataTexture {
  /** For type testing. */
  readonly isBoneTexture = true;
  /**
   * Counts the changes of markers, so that crowds notice them.
   *
   * @internal
   */
  markersVersion = 0;

  /**
   * The keys of 16 bits that tracks of precision `'half'` have; null for all others.
   *
   * @internal
   */
  shortKeys: DataTexture | null;

  /**
   * How vertices are posed that follow no joints; null if they do.
   *
   * @internal
   */
  readonly binding: VertexBinding | null = null;

  private content: BoneTextureData;
  private table: ClipTable;
  private joints: JointTable;
  private reader: PoseReader;

  /**
   * To bake clips, use {@link BoneTexture.bake}. The constructor takes the {@link BoneTexture.data} of another bone texture,
   * which may come from a worker or through `structuredClone`.
   *
   * @throws If the data do not fit together; the message names the field.
   */
  constructor(data: BoneTextureData) {
    checkBoneTextureData(data);
    const { texels, layout } = data;
    super(texels as Float32Array<ArrayBuffer>, layout.width, layout.height, RGBAFormat);
    this.type = texels instanceof Uint16Array ? HalfFloatType : FloatType;
    this.magFilter = NearestFilter;
    this.minFilter = NearestFilter;
    this.wrapS = ClampToEdgeWrapping;
    this.wrapT = ClampToEdgeWrapping;
    this.generateMipmaps = false;
    this.name = 'BoneTexture';
    this.content = ownData(data);
    this.table = new ClipTable(this.content.clips);
    this.joints = new JointTable(data.jointNames, data.jointBinds);
    this.reader = createPoseReader(this.content);
    this.shortKeys = shortKeyTexture(this.content);
    this.needsUpdate = true;
  }

  /**
   * Bakes clips for the character under `root`. Nothing in the scene is changed.
   *
   * Matrices are relative to `root`: a {@link SkinnedInstancedMesh}'s instance matrix takes the place of `root.matrix`.
   *
   * @param root Holds the character's meshes, and the bones of those that have any, e.g. `gltf.scene`.
   * @param clips E.g. `gltf.animations`; without any, the texture holds the rest pose alone.
   * @throws If there is nothing to bake or a clip cannot be baked; the message names the clip and track.
   */
  static bake(root: Object3D, clips: readonly AnimationClip[], options: BakeOptions = {}): BoneTexture {
    return new BoneTexture(runAll(bakeSteps(root, clips, options)));
  }

  /**
   * {@link BoneTexture.bake} in slices of up to 4 milliseconds, so that a page stays responsive meanwhile.
   *
   * The scene may be drawn, but must not be posed or edited until the promise settles.
   *
   * @throws What `bake` throws, and the signal's reason when it aborts.
   */
  static async bakeAsync(
    root: Object3D,
    clips: readonly AnimationClip[],
    options: BakeAsyncOptions = {},
  ): Promise<BoneTexture> {
    return new BoneTexture(await runInSlices(bakeSteps(root, clips, options), options));
  }

  /**
   * Everything the texture knows, to be kept or sent elsewhere: `new BoneTexture(other.data)` is an equal one. Do not change
   * it; use {@link BoneTexture.addMarker} and {@link BoneTexture.removeMarkers} for markers.
   */
  get data(): Readonly<BoneTextureData> {
    return this.content;
  }

  /** The clips in the order they were baked. */
  get clips(): readonly BakedClip[] {
    return this.content.clips;
  }

  /**
   * The clips, to be found by name or by frame.
   *
   * @internal
   */
  get clipTable(): ClipTable {
    return this.table;
  }

  /**
   * Adds a marker to a clip. Each time an instance of a crowd plays past it, the crowd dispatches a `marker` event with the
   * marker's name.
   *
   * @param clip Name or index, or the `AnimationClip`.
   * @param time Seconds into the clip, from 0 to its duration.
   * @throws If there is no such clip or the clip has no such time.
   */
  addMarker(clip: ClipReference, time: number, name: string): this {
    const caller = 'BoneTexture.addMarker';
    addMarkerTo(this.clips[this.clipIndex(clip, caller)], time, name, caller);
    this.markersVersion++;
    return this;
  }

  /** Removes markers: those of a name, or all, from a clip or from all clips. */
  removeMarkers(clip?: ClipReference, name?: string): this {
    const { clips } = this;
    const index = clip === undefined ? -1 : this.clipIndex(clip, 'BoneTexture.removeMarkers');
    removeMarkersFrom(index === -1 ? clips : [clips[index]], name);
    this.markersVersion++;
    return this;
  }

  /** @deprecated Use {@link BoneTexture.addMarker}. */
  addMark(clip: ClipReference, time: number, name: string): this {
    warnOnce('BoneTexture.addMark is deprecated; use addMarker.');
    return this.addMarker(clip, time, name);
  }

  /** @deprecated Use {@link BoneTexture.removeMarkers}. */
  removeMarks(clip?: ClipReference, name?: string): this {
    warnOnce('BoneTexture.removeMarks is deprecated; use removeMarkers.');
    return this.removeMarkers(clip, name);
  }

  /** Names of the joints in the order of the texture; for a lone skinned mesh that of its skeleton's bones. */
  get jointNames(): readonly string[] {
    return this.content.jointNames;
  }

  /** Names of the morph targets that clips move, in the order of the crowd's; empty if none does. */
  get morphNames(): readonly string[] {
    return this.content.morphNames;
  }

  /**
   * Texels that the joints of a pose take where shaders read it, before the influences of morph targets.
   *
   * @internal
   */
  get morphTexel(): number {
    return this.reader.morphTexel;
  }

  /** How a joint's matrix is written. */
  get encoding(): EncodingName {
    return this.content.encoding;
  }

  /** Kind of number that the texels are made of. */
  get precision(): Precision {
    return this.content.precision;
  }

  /** Frames of all clips, and the rest pose before them. */
  get frameCount(): number {
    return this.content.frames;
  }

  /** Where each frame is among the texels. */
  get layout(): Readonly<TextureLayout> {
    return this.content.layout;
  }

  /**
   * Boxes of the vertices that follow each joint, as baked.
   *
   * @internal
   */
  get jointBoxes(): JointBoxes {
    return this.content.jointBoxes;
  }

  /** Bytes on the GPU. */
  get byteLength(): number {
    const { texels, tracks } = this.content;
    return texels.byteLength + (tracks?.shorts?.byteLength ?? 0);
  }

  /**
   * Index of a clip by name, index or `AnimationClip`.
   *
   * @throws If there is no such clip.
   */
  clipIndex(clip: ClipReference, caller = 'BoneTexture.clipIndex'): number {
    return this.table.indexOf(clip, caller);
  }

  /**
   * Index of a joint by name or index.
   *
   * @throws If there is no such joint.
   */
  jointIndex(joint: string | number, caller = 'BoneTexture.jointIndex'): number {
    return this.joints.indexOf(joint, caller);
  }

  /**
   * Writes a joint's skinning matrix between two frames, as the shader computes it.
   *
   * @param alpha 0 at `frame0`, 1 at `frame1`.
   * @param out 12 numbers from `at`, row by row.
   * @throws If the encoding is 'tracks', which has no frames of matrices.
   */
  readJoint(frame0: number, frame1: number, alpha: number, joint: number, out: AffineArray, at = 0): void {
    if (this.reader.readJoint === null) {
      throw new Error(
        'BoneTexture.readJoint: a texture of encoding "tracks" has no frames of matrices; ask a crowd by getBoneMatrixAt.',
      );
    }
    this.reader.readJoint(frame0, frame1, alpha, joint, out, at);
  }

  /**
   * Writes a joint's skinning matrix in a pose, as the shader computes it.
   *
   * @param out 12 numbers from `at`, row by row.
   * @internal
   */
  readPose(pose: PoseMix, joint: number, out: AffineArray, at = 0): void {
    this.reader.readPose(pose, joint, out, at);
  }

  /**
   * Writes what a pose adds to the influence of each morph target, in the order of `morphNames`.
   *
   * @internal
   */
  readMorphs(pose: PoseMix, out: Float64Array): void {
    this.reader.readMorphs(pose, out);
  }

  /**
   * A joint that objects may be attached to.
   *
   * @throws If there is no such joint, or it is of a skin in detached bind mode.
   * @internal
   */
  socket(joint: string | number, caller = 'BoneTexture.socket'): Socket {
    return this.joints.socket(joint, caller);
  }

  /**
   * Grows `target` by every pose of the texture.
   *
   * @param boxes Joint boxes of other geometry than the texture was baked with, which takes longer.
   * @param layers Layers on which clips may play.
   * @internal
   */
  expandBounds(target: Box3, boxes?: JointBoxes, layers?: number): Box3 {
    this.reader.expandBounds(target, boxes, layers);
    return target;
  }

  /**
   * Checks that a device takes textures of this size.
   *
   * @throws If it does not.
   * @internal
   */
  checkSize(max: number | undefined): void {
    const { width } = this.content.layout;
    const height = Math.max(this.content.layout.height, this.shortKeys?.image.height ?? 0);
    if (max === undefined || (width <= max && height <= max)) return;
    throw new Error(
      `BoneTexture: the texture is ${width} × ${height}, this device takes ${max} × ${max}; bake it with maxTextureSize: ${max}.`,
    );
  }

  /**
   * Empty boxes for this texture's joints.
   *
   * @internal
   */
  createJointBoxes(): JointBoxes {
    return createJointBoxes(this.content.jointNames.length);
  }

  /** Makes this a second texture object with the same texels. */
  override copy(source: BoneTexture): this {
    super.copy(source);
    this.content = ownData(source.data);
    this.table = new ClipTable(this.content.clips);
    this.joints = source.joints;
    this.reader = source.reader;
    this.shortKeys?.dispose();
    this.shortKeys = shortKeyTexture(this.content);
    this.markersVersion++;
    return this;
  }

  /** Frees what is on GPUs. */
  override dispose(): void {
    super.dispose();
    this.shortKeys?.dispose();
  }

  /** A second texture object with the same texels. */
  override clone(): this {
    return new BoneTexture(this.content) as this;
  }
}
