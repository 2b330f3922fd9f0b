import type { AnimationClip, Box3, Object3D } from 'three';
import { ClampToEdgeWrapping, DataTexture, FloatType, HalfFloatType, NearestFilter, RGBAFormat } from 'three';
import type { BakeAsyncOptions, BakeOptions } from '../baking/BakeOptions.js';
import { bakeSteps } from '../baking/bake.js';
import { runAll, runInSlices } from '../baking/runBake.js';
import type { BoneTextureData, Precision } from '../encodings/BoneTextureData.js';
import { checkBoneTextureData } from '../encodings/checkBoneTextureData.js';
import type { EncodingName } from '../encodings/Encoding.js';
import type { PoseReader } from '../encodings/PoseReader.js';
import { TexelReader } from '../encodings/TexelReader.js';
import { TrackReader } from '../encodings/TrackReader.js';
import type { TextureLayout } from '../encodings/textureLayout.js';
import { type BakedClip, type ClipReference, ClipTable } from '../poses/ClipTable.js';
import type { JointBoxes } from '../poses/jointBoxes.js';
import { createJointBoxes } from '../poses/jointBoxes.js';
import type { PoseMix } from '../poses/PoseMix.js';
import type { PoseTracks } from '../tracks/PoseTracks.js';
import type { AffineArray } from '../utils/affine.js';

/**
 * Baked skeletal animation: the skinning matrix of every joint in every frame of every clip, as texels that the
 * vertex shader reads. One bone texture serves any number of crowds, geometries and renderers.
 *
 * Make one with {@link BoneTexture.bake} or {@link BoneTexture.bakeAsync}. It is a `DataTexture`; call `dispose()` when
 * no crowd uses it any more.
 */
export class BoneTexture extends DataTexture {
  /** For type testing. */
  readonly isBoneTexture = true;
  /**
   * Counts the changes of marks.
   *
   * @internal
   */
  marksVersion = 0;

  private content: BoneTextureData;
  private table: ClipTable;
  private reader: PoseReader;

  /**
   * Use {@link BoneTexture.bake}; the constructor takes what was baked before: the {@link BoneTexture.data} of another
   * bone texture, which may have been through a worker or `structuredClone`.
   *
   * @throws If the data do not fit together; the message names the field.
   */
  constructor(data: BoneTextureData) {
    checkBoneTextureData(data);
    const { texels, layout, precision } = data;
    super(texels as Float32Array<ArrayBuffer>, layout.width, layout.height, RGBAFormat);
    this.type = precision === 'half' ? HalfFloatType : FloatType;
    this.magFilter = NearestFilter;
    this.minFilter = NearestFilter;
    this.wrapS = ClampToEdgeWrapping;
    this.wrapT = ClampToEdgeWrapping;
    this.generateMipmaps = false;
    this.name = 'BoneTexture';
    this.content = ownData(data);
    this.table = new ClipTable(this.content.clips);
    this.reader = readerOf(this.content);
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
   * {@link BoneTexture.bake} in slices of a few milliseconds, so that a page stays responsive meanwhile.
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
   * Everything the texture knows, to be kept or sent elsewhere: `new BoneTexture(other.data)` is an equal one. To be read
   * only; use {@link BoneTexture.addMark} and {@link BoneTexture.removeMarks} for marks.
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
   * Puts a mark on a clip. Each time an instance of a crowd plays past it, the crowd dispatches a `mark` event with the
   * mark's name.
   *
   * @param clip Name or index, or the `AnimationClip`.
   * @param time Seconds into the clip, from 0 to its duration.
   * @throws If there is no such clip or the clip has no such time.
   */
  addMark(clip: ClipReference, time: number, name: string): this {
    const caller = 'BoneTexture.addMark';
    const { marks, duration, name: clipName } = this.content.clips[this.clipIndex(clip, caller)];
    if (!(time >= 0 && time <= duration)) {
      throw new Error(`${caller}: time is ${time}; clip "${clipName}" runs from 0 to ${duration} s.`);
    }
    const later = marks.findIndex((mark) => mark.time > time);
    marks.splice(later < 0 ? marks.length : later, 0, { time, name });
    this.marksVersion++;
    return this;
  }

  /** Removes marks: those of a name, or all, from a clip or from all clips. */
  removeMarks(clip?: ClipReference, name?: string): this {
    const { clips } = this.content;
    const from = clip === undefined ? clips : [clips[this.clipIndex(clip, 'BoneTexture.removeMarks')]];
    for (const { marks } of from) {
      const kept = name === undefined ? [] : marks.filter((mark) => mark.name !== name);
      marks.splice(0, marks.length, ...kept);
    }
    this.marksVersion++;
    return this;
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
   * Texels before the morph targets' influences in each frame.
   *
   * @internal
   */
  get morphTexel(): number {
    return this.reader instanceof TexelReader ? this.reader.morphTexel : this.content.jointNames.length;
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

  /** Where frames lie among the texels. */
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
    return this.content.texels.byteLength;
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
    const { jointNames } = this.content;
    const index = typeof joint === 'number' ? joint : jointNames.indexOf(joint);
    if (Number.isInteger(index) && index >= 0 && index < jointNames.length) return index;
    throw new Error(
      `${caller}: no joint ${typeof joint === 'number' ? joint : `"${joint}"`}; the bone texture has ${jointNames.length} joints, ` +
        `"${jointNames[0]}" to "${jointNames[jointNames.length - 1]}".`,
    );
  }

  /**
   * Writes a joint's skinning matrix as the shader gets it from two frames.
   *
   * @param alpha 0 at `frame0`, 1 at `frame1`.
   * @param out 12 numbers from `at`, row by row.
   * @throws If the encoding is 'tracks', which has no frames of matrices.
   */
  readJoint(frame0: number, frame1: number, alpha: number, joint: number, out: AffineArray, at = 0): void {
    if (!(this.reader instanceof TexelReader)) {
      throw new Error(
        'BoneTexture.readJoint: a texture of encoding "tracks" has no frames of matrices; ask a crowd by getBoneMatrixAt.',
      );
    }
    this.reader.readJoint(frame0, frame1, alpha, joint, out, at);
  }

  /**
   * Writes a joint's skinning matrix as the shader gets it in a pose.
   *
   * @param out 12 numbers from `at`, row by row.
   * @internal
   */
  readPose(pose: PoseMix, joint: number, out: AffineArray, at = 0): void {
    this.reader.readPose(pose, joint, out, at);
  }

  /**
   * Writes what a pose adds to the influence of each of `morphNames`.
   *
   * @internal
   */
  readMorphs(pose: PoseMix, out: Float64Array): void {
    this.reader.readMorphs(pose, out);
  }

  /**
   * Index of a joint that objects may be attached to, and what carries them from the joint's own space to where its
   * skinning matrix takes them up.
   *
   * @throws If there is no such joint, or its skin is bound detached.
   * @internal
   */
  socket(joint: string | number, caller = 'BoneTexture.socket'): { joint: number; bind: readonly number[] } {
    const { jointNames, jointBinds } = this.content;
    const last = typeof joint === 'string' ? jointNames.lastIndexOf(joint) : joint;
    if (last === -1) {
      throw new Error(
        `${caller}: no joint "${joint}" to attach to; there are ${jointNames.map((name) => `"${name}"`).join(', ')}. ` +
          `For another node under the root, bake with sockets: ['${joint}'].`,
      );
    }
    const index = this.jointIndex(last, caller);
    const bind = jointBinds[index];
    if (bind === null) {
      throw new Error(
        `${caller}: joint "${joint}" is of a skin in detached bind mode; bake with sockets: ['${jointNames[index]}'].`,
      );
    }
    return { joint: index, bind };
  }

  /**
   * Grows `target` by every pose of the texture.
   *
   * @param boxes Boxes of other geometry than the texture was baked with; then every frame is read anew.
   * @internal
   */
  expandBounds(target: Box3, boxes?: JointBoxes): Box3 {
    this.reader.expandBounds(target, boxes);
    return target;
  }

  /**
   * Checks that a device can hold the texture.
   *
   * @throws If it cannot, with the way out.
   * @internal
   */
  checkSize(max: number | undefined): void {
    const { width, height } = this.content.layout;
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

  /** Becomes a second texture object over the same texels. */
  override copy(source: BoneTexture): this {
    super.copy(source);
    this.content = ownData(source.data);
    this.table = new ClipTable(this.content.clips);
    this.reader = source.reader;
    this.marksVersion++;
    return this;
  }

  /** A second texture object over the same texels. */
  override clone(): this {
    return new BoneTexture(this.content) as this;
  }
}

function readerOf(data: BoneTextureData): PoseReader {
  if (data.encoding === 'tracks') return new TrackReader(data.tracks as PoseTracks, data.jointBoxes);
  return new TexelReader(data, data.encoding);
}

/** The data with clips of its own, whose marks change with this texture alone. */
function ownData(data: BoneTextureData): BoneTextureData {
  const clips = data.clips.map((clip) => ({ ...clip, marks: clip.marks.map((mark) => ({ ...mark })) }));
  return { ...data, clips };
}
