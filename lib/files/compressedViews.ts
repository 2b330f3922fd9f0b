import type { ArrayJSON, ViewJSON } from './bakedJSON.js';
import { countOf, expectField, fileError, objectOf } from './fileErrors.js';

/** What compresses: `MeshoptEncoder` of the package meshoptimizer. */
export interface MeshoptEncoderLike {
  /** Settles when it can be used. */
  ready: Promise<void>;
  /** Compresses `count` elements of `size` bytes. */
  encodeGltfBuffer(
    source: Uint8Array,
    count: number,
    size: number,
    mode: string,
    version?: number,
  ): Uint8Array;
}

/** What decompresses: `MeshoptDecoder` of three.js (`three/addons/libs/meshopt_decoder.module.js`) or of meshoptimizer. */
export interface MeshoptDecoderLike {
  /** Settles when it can be used. */
  ready: Promise<void>;
  /** Decompresses `count` elements of `size` bytes. */
  decodeGltfBuffer(
    target: Uint8Array,
    count: number,
    size: number,
    source: Uint8Array,
    mode: string,
    filter?: string,
  ): void;
}

type Meshopt = NonNullable<ViewJSON['meshopt']>;

/** Bytes that the codec takes at most for an element. */
const MAX_STRIDE = 256;
/** The codec needs at least one byte for so many, and some for each file. */
const MAX_RATIO = 64;
const SLACK = 32 * MAX_STRIDE;

/** Compresses a view if that makes it smaller. @returns Its bytes as they go into a file. */
export function packView(
  bytes: Uint8Array,
  { stride, order }: Pick<ArrayJSON, 'stride' | 'order'>,
  encoder: MeshoptEncoderLike | undefined,
): { bytes: Uint8Array; meshopt?: Meshopt } {
  const count = bytes.length / stride;
  const fits = stride % 4 === 0 && stride <= MAX_STRIDE && Number.isInteger(count) && count > 0;
  if (encoder === undefined || !fits) return { bytes };
  // Version 0 of the codec, which every decoder knows.
  const mode = order === 'indices' ? 'INDICES' : 'ATTRIBUTES';
  const packed = encoder.encodeGltfBuffer(bytes, count, stride, mode, 0);
  return packed.length < bytes.length ? { bytes: packed, meshopt: { count, stride, mode } } : { bytes };
}

/**
 * The bytes of a view as they were before they were compressed.
 *
 * @throws If they are compressed and there is no decoder, or they are damaged.
 */
export function unpackView(
  bytes: Uint8Array,
  { meshopt }: ViewJSON,
  decoder: MeshoptDecoderLike | undefined,
  field: string,
): Uint8Array {
  if (meshopt === undefined) return bytes;
  if (!decoder) {
    throw fileError(
      'the file is compressed by meshoptimizer; call loader.setMeshoptDecoder(MeshoptDecoder), or pass readBoneTexture { meshoptDecoder: MeshoptDecoder }.',
    );
  }
  const { count: counted, stride: wide, mode } = objectOf(meshopt, `${field}.meshopt`);
  const stride = countOf(wide, `${field}.meshopt.stride`, MAX_STRIDE);
  expectField(stride > 0 && stride % 4 === 0, `${field}.meshopt.stride`, stride, 'a multiple of 4');
  const isMode = mode === 'ATTRIBUTES' || mode === 'INDICES';
  expectField(isMode, `${field}.meshopt.mode`, mode, '"ATTRIBUTES" or "INDICES"');
  // More cannot come out of so few bytes: it is checked before memory is taken.
  const most = Math.floor((bytes.length * MAX_RATIO + SLACK) / stride);
  const count = countOf(counted, `${field}.meshopt.count`, most);
  const target = new Uint8Array(count * stride);
  try {
    decoder.decodeGltfBuffer(target, count, stride, bytes, mode as string);
  } catch (cause) {
    throw fileError(`${field} cannot be decompressed; the file is damaged.`, cause);
  }
  return target;
}
