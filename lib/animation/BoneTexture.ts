import {
  type BufferGeometry,
  DataTexture,
  FloatType,
  HalfFloatType,
  RGBAFormat,
  RGBAIntegerFormat,
  UnsignedIntType,
} from 'three';
import { describe, listNames } from '../utils/messages.js';
import type { BoneTextureData, EncodingName, Precision, TextureLayout } from './BoneTextureData.js';
import { type BakedClip, type ClipReference, ClipTable } from './ClipTable.js';
import type { JointBoxes } from './jointBoxes.js';
import type { PoseReader, PoseSource } from './PoseSource.js';
import type { ScenePart } from './Rig.js';
import { trackSource } from './trackSource.js';
import { SHORT_ROW, SHORTS_PER_ROW } from './trackTexels.js';

/** What a bone texture brings along that poses vertices by something else than joints. */
export interface VertexBinding {
  /**
   * The meshes under a root, as parts that follow one joint.
   *
   * @throws If the texture was baked of others.
   */
  place(parts: readonly ScenePart[]): ScenePart[];
  /**
   * Gives a crowd geometry what the vertices need to be posed, in the place of joints and weights.
   *
   * @param source What the geometry is a copy of.
   * @throws If the texture was baked of another geometry.
   */
  bind(geometry: BufferGeometry, source: BufferGeometry): void;
}

/**
 * Baked skeletal animation, as texels that shaders read: the keys of every clip, from which each instance is posed; or the
 * skinning matrix of every joint in every frame, which each vertex reads. One bone texture serves any number of crowds,
 * geometries and renderers.
 *
 * `bakeCharacter` and `bakeBoneTexture` make one. It is a `DataTexture`; call `dispose()` when
 * no crowd uses it any more.
 *
 * @category Bake
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
  shortKeys!: DataTexture | null;

  /**
   * How vertices are posed that follow no joints; null if they do.
   *
   * @internal
   */
  readonly binding: VertexBinding | null = null;

  private content!: BoneTextureData;
  private table!: ClipTable;

  /**
   * What poses crowds.
   *
   * @internal
   */
  poseSource: PoseSource;

  /**
   * Reads poses; vertex textures have none.
   *
   * @internal
   */
  reader: PoseReader;

  /**
   * To bake clips, use `bakeBoneTexture`. The constructor takes the {@link BoneTexture.data} of another bone texture,
   * which may come from a worker or through `structuredClone`.
   *
   * They are taken as they are: what reads files checks them.
   *
   * @param encoding `frames` for data that hold frames.
   * @throws If the data hold frames and it is left out.
   */
  constructor(
    data: BoneTextureData,
    { poseSource }: { readonly poseSource: PoseSource } = { poseSource: trackSource },
  ) {
    const { texels, layout } = data;
    const type = texels instanceof Uint16Array ? HalfFloatType : FloatType;
    super(texels as Float32Array<ArrayBuffer>, layout.width, layout.height, RGBAFormat, type);
    this.name = 'BoneTexture';
    if (data.encoding === 'frames' && poseSource === trackSource) {
      throw new Error('These data hold frames; pass `frames` too: new BoneTexture(data, frames).');
    }
    this.poseSource = (data.frames === 1 && poseSource.atRest) || poseSource;
    this.take(data);
    this.reader = poseSource.createReader?.(this.content) as PoseReader;
    this.needsUpdate = true;
  }

  /** Takes over data, with clips of their own: whoever adds markers to them does not change those of another texture. */
  private take(data: BoneTextureData): void {
    const clips = data.clips.map((clip) => ({
      ...clip,
      markers: clip.markers.map((marker) => ({ ...marker })),
    }));
    this.content = { ...data, clips };
    this.table = new ClipTable(clips);
    this.shortKeys = shortKeyTexture(data);
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
    const { name: played, duration, markers } = this.clips[this.clipIndex(clip)];
    if (!(time >= 0 && time <= duration))
      throw new Error(`The time is ${time}; clip "${played}" runs from 0 to ${duration} s.`);
    // Of those at the same time, the one added first stays first.
    markers.push({ time, name });
    markers.sort((a, b) => a.time - b.time);
    this.markersVersion++;
    return this;
  }

  /** Removes markers: those of a name, or all, from a clip or from all clips. */
  removeMarkers(clip?: ClipReference, name?: string): this {
    const { clips } = this;
    for (const one of clip === undefined ? clips : [clips[this.clipIndex(clip)]])
      one.markers = one.markers.filter((marker) => name !== undefined && marker.name !== name);
    this.markersVersion++;
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
  clipIndex(clip: ClipReference): number {
    return this.table.indexOf(clip);
  }

  /**
   * Index of a joint by name or index.
   *
   * @throws If there is no such joint.
   */
  jointIndex(joint: string | number): number {
    const { jointNames: names } = this;
    const index = typeof joint === 'number' ? joint : names.indexOf(joint);
    if (Number.isInteger(index) && index >= 0 && index < names.length) return index;
    throw new Error(
      `There is no joint ${describe(joint)}; there are ${listNames(names, joint)}. For another node under the root, bake with sockets: [${describe(joint)}].`,
    );
  }

  /**
   * Checks that a device takes textures of this size.
   *
   * @param beside What there is besides it.
   * @throws If it does not.
   * @internal
   */
  checkSize(max = Infinity, beside = this.shortKeys): void {
    for (const { image, name } of beside ? [this, beside] : [this]) {
      const { width, height } = image;
      if (width <= max && height <= max) continue;
      throw new Error(
        `${name}: the texture is ${width} × ${height}, this device takes ${max} × ${max}; bake it with maxTextureSize: ${max}.`,
      );
    }
  }

  /** Makes this a second texture object with the same texels. */
  override copy(source: BoneTexture): this {
    super.copy(source);
    this.shortKeys?.dispose();
    this.take(source.data);
    this.poseSource = source.poseSource;
    this.reader = source.reader;
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
    return new BoneTexture(this.content, this) as this;
  }
}

/**
 * The texture with the 16-bit keys of tracks, eight to a texel; null for other data. Its texels are 32-bit integers, the only
 * ones that three.js reads in both renderers.
 */
function shortKeyTexture({ tracks }: BoneTextureData): DataTexture | null {
  const shorts = tracks?.shorts;
  if (!shorts) return null;
  // Numbers of 32 bits must lie at a multiple of four bytes, which those of 16 bits from a file need not.
  const { buffer, byteOffset } = shorts.byteOffset % 4 === 0 ? shorts : shorts.slice();
  const texels = new Uint32Array(buffer as ArrayBuffer, byteOffset, shorts.length / 2);
  const height = shorts.length / SHORTS_PER_ROW;
  const texture = new DataTexture(texels, SHORT_ROW, height, RGBAIntegerFormat, UnsignedIntType);
  texture.name = 'BoneTextureKeys';
  texture.needsUpdate = true;
  return texture;
}
