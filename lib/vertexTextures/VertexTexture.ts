import { type BufferGeometry, DataTexture, RGBAIntegerFormat, RGIntegerFormat, UnsignedIntType } from 'three';
import { BoneTexture, type VertexBinding } from '../animation/BoneTexture.js';
import type { Precision } from '../animation/BoneTextureData.js';
import { expectClips } from '../animation/ClipTable.js';
import { expectField, expectFit, expectLength, expectShape, type Shape } from '../utils/messages.js';
import { bindVertices, placeParts } from './bindVertices.js';
import { VERTEX_SOURCES, VertexReader } from './VertexReader.js';
import {
  frameTable,
  layoutVertices,
  type VertexErrors,
  type VertexTextureData,
  WORDS,
} from './VertexTextureData.js';

/**
 * Baked vertices of anything that deforms: cloth, fish, soft bodies, faces of hundreds of morph targets, skinned characters
 * too. Crowds play it as they play a {@link BoneTexture}: by `play`, with times, loops, fades and events of each instance.
 *
 * ```ts
 * const shoal = bakeVertexCharacter(fish, (time) => bend(fish, time), { name: 'Swim', duration: 1.2 });
 * const crowd = new SkinnedInstancedMesh(shoal, 10_000);
 * crowd.playAll('Swim');
 * ```
 *
 * `bakeVertexTexture` and `bakeVertexCharacter` make one; call `dispose()` when no crowd uses it any more. There are no joints: nothing can
 * be attached to them, turned or asked for.
 *
 * @category Bake
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
   * To bake motions, use `bakeVertexTexture`. The constructor takes the {@link VertexTexture.vertexData} of another one,
   * which may come from a worker or through `structuredClone`.
   *
   * The data are taken as they are: what reads files checks them.
   */
  constructor(data: VertexTextureData) {
    super(frameTable(data), { poseSource: VERTEX_SOURCES[data.precision] });
    this.name = 'VertexTexture';
    this.baked = data;
    this.vertexReader = new VertexReader(data);
    const { texels, width, height, precision } = data;
    const format = precision === 'half' ? RGIntegerFormat : RGBAIntegerFormat;
    const words = texels as Uint32Array<ArrayBuffer>;
    this.vertexTexels = new DataTexture(words, width, height, format, UnsignedIntType);
    this.vertexTexels.name = 'VertexTexture';
    this.vertexTexels.needsUpdate = true;
    this.binding = {
      place: (parts) => placeParts(parts, data, this.vertexReader),
      bind: (geometry: BufferGeometry, source: BufferGeometry) =>
        bindVertices(geometry, source, data, this.vertexReader),
    };
  }

  /**
   * A vertex texture of data from a file, which are checked: {@link VertexTexture.vertexData} of another.
   *
   * @param maxTextureSize Largest width and height of the texture. Devices take at least 2,048, nearly all 4,096.
   * @throws If they are none of this library's, or damaged; the message names the field.
   */
  static decode(data: VertexTextureData, maxTextureSize = 4096): VertexTexture {
    return new VertexTexture(checkVertices(data, maxTextureSize));
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
  override jointIndex(_joint: string | number): number {
    throw new Error('A vertex texture has no joints; bake a BoneTexture of a skinned character.');
  }

  /** @internal */
  override checkSize(max: number | undefined): void {
    super.checkSize(max);
    const { width, height } = this.baked;
    if (max === undefined || (width <= max && height <= max)) return;
    throw new Error(
      `The texture is ${width} × ${height}, this device takes ${max} × ${max}; bake it with maxTextureSize: ${max}.`,
    );
  }

  /** @throws Always: what was bound to one vertex texture cannot become another. Make a new one of its `vertexData`. */
  override copy(): this {
    throw new Error(
      'A vertex texture is not copied into; use clone(), or new VertexTexture(other.vertexData).',
    );
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

/** Whether a vertex may be at a number: sums of much larger ones are not finite any more. Baking refuses the same. */
const isPlace = (value: number): boolean => Math.abs(value) < 1e30;

const SHAPE: Shape = {
  parts: [{ name: 'text', vertices: 'count' }],
  vertices: 'count',
  frames: 'words',
  boxes: 'floats',
  texels: 'words',
  restBounds: 6,
  errors: [{ clip: 'text', stored: 'number', between: '?number' }],
};

/**
 * The data of a vertex texture from a file, whose texels may end behind the last that is used. All of them are checked; nothing larger than
 * what is there is allocated before.
 *
 * @param maxTextureSize Largest width and height of the texture. Devices take at least 2,048, nearly all 4,096.
 * @throws If something does not fit; the message names the field.
 */
function checkVertices(data: VertexTextureData, maxTextureSize: number): VertexTextureData {
  expectShape(data, SHAPE, 'vertices');
  const { parts, vertices, precision, frames, boxes, texels, clips } = data;
  const words = WORDS[precision];
  expectField(words !== undefined, 'vertices.precision', precision, '"half" or "float"');
  const sum = parts.reduce((all, part) => all + part.vertices, 0);
  const stored = boxes.length / 6;
  expectFit(sum === vertices && vertices > 0 && vertices < 2 ** 24, 'vertices.parts');
  expectFit(frames.length > 0 && frames.every((frame) => frame < stored), 'vertices.frames');
  expectFit(boxes.every(isPlace), 'vertices.boxes');
  const used = texels.subarray(0, stored * vertices * words);
  expectLength(used, stored * vertices * words, 'vertices.texels');
  const floats = new Float32Array(used.buffer, used.byteOffset, used.length);
  const arePlaces = precision === 'half' || floats.every((value, i) => i % 4 === 3 || isPlace(value));
  expectFit(arePlaces, 'vertices.texels');
  expectClips(clips, frames.length, 'vertices.clips');
  const { width, height } = layoutVertices(stored * vertices, maxTextureSize);
  const all = new Uint32Array(width * height * words);
  all.set(used);
  return { ...data, texels: all, width, height };
}
