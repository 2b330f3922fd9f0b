import { Box3, type TypedArray } from 'three';
import { joined } from './pack.js';
import { aligned, fileError, MESHOPT } from './StoredCharacter.js';

/** `glTF`, as the number that a .glb begins with. */
const MAGIC = 0x46546c67;
const JSON_CHUNK = 0x4e4f534a;
const BINARY_CHUNK = 0x004e4942;
const HEADER = 12;
const CHUNK_HEADER = 8;

/**
 * The document of a .glb, and its first buffer, which is empty if there is none; nothing is copied.
 *
 * @throws If it is none, or cut off.
 */
export function parseGlb(file: ArrayBuffer | Uint8Array): {
  json: Record<string, unknown>;
  binary: Uint8Array;
} {
  // Node's buffers are arrays too, whose `slice` copies nothing.
  const { buffer, byteOffset, byteLength } = file instanceof Uint8Array ? file : new Uint8Array(file);
  const view = new DataView(buffer, byteOffset, byteLength);
  if (byteLength < HEADER + CHUNK_HEADER || view.getUint32(0, true) !== MAGIC)
    throw fileError('the file is no .glb; pass the bytes of a binary glTF file.');
  const [version, length] = [view.getUint32(4, true), view.getUint32(8, true)];
  if (version !== 2) throw fileError(`the file is a .glb of version ${version}; there is to be version 2.`);
  if (length > byteLength)
    throw fileError(`the file is cut off: it has ${byteLength} bytes of ${length}; fetch it again.`);
  const chunks = new Map<number, Uint8Array>();
  for (let at = HEADER; at + CHUNK_HEADER <= length; ) {
    const [size, kind] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
    at += CHUNK_HEADER;
    const left = length - at;
    if (size > left)
      throw fileError(
        `a part of the file says that it has ${size} bytes, and ${left} are left; the file is damaged.`,
      );
    if (!chunks.has(kind)) chunks.set(kind, new Uint8Array(buffer, byteOffset + at, size));
    at += size;
  }
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(chunks.get(JSON_CHUNK)));
  } catch (cause) {
    throw fileError(
      `the file's JSON cannot be read (${(cause as Error).message}); the file is damaged.`,
      cause,
    );
  }
  if (typeof json !== 'object' || json === null)
    throw fileError('the JSON of the file is no object; the file is damaged.');
  return { json: json as Record<string, unknown>, binary: chunks.get(BINARY_CHUNK) ?? new Uint8Array(0) };
}

/** A .glb of a document and its first buffer. */
export function buildGlb(json: object, binary: Uint8Array): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(json));
  const [textSize, size] = [text, binary].map(({ length }) => Math.ceil(length / 4) * 4);
  const start = HEADER + CHUNK_HEADER + textSize;
  const glb = new Uint8Array(start + CHUNK_HEADER + size);
  const words = new Uint32Array(glb.buffer);
  words.set([MAGIC, 2, glb.length, textSize, JSON_CHUNK]);
  words.set([size, BINARY_CHUNK], start / 4);
  glb.set(text, HEADER + CHUNK_HEADER);
  glb.fill(0x20, HEADER + CHUNK_HEADER + text.length, start);
  glb.set(binary, start + CHUNK_HEADER);
  return glb;
}

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
  /** Finds an order of triangles and vertices that compresses well. */
  reorderMesh(indices: Uint32Array, triangles: boolean, optsize: boolean): [Uint32Array, number];
}

export type JSONObject = Record<string, unknown>;

const COMPONENTS = new Map<unknown, number>([
  [Int8Array, 5120],
  [Uint8Array, 5121],
  [Int16Array, 5122],
  [Uint16Array, 5123],
  [Uint32Array, 5125],
  [Float32Array, 5126],
]);

/** Bytes that the codec takes at most for an element. */
const MAX_STRIDE = 256;
/** What accessors are for: glTF asks other things of each. */
export type Use = 'index' | 'vertices' | 'positions' | 'matrices' | 'times' | 'keys';

/** A glTF document that grows. */
export class GltfWriter {
  private readonly lists: Record<string, JSONObject[]> = {};
  private readonly extensions = new Map<string, boolean>();
  private readonly parts: Uint8Array[] = [];
  private size = 0;
  /** Bytes that the buffer of compressed views would have without compression. */
  private unpacked = 0;

  constructor(private readonly encoder: MeshoptEncoderLike | undefined) {}

  /** Adds to a list at the root of the document. @returns Its number there. */
  add(list: string, one: JSONObject): number {
    this.lists[list] ??= [];
    return this.lists[list].push(one) - 1;
  }

  /** How many a list has. */
  count(list: string): number {
    return this.lists[list]?.length ?? 0;
  }

  /** Says that an extension is used, and whether a file cannot be read without it. */
  use(extension: string, isRequired = false): void {
    this.extensions.set(extension, isRequired || this.extensions.get(extension) === true);
  }

  /** Adds a view, compressed if that makes it smaller. @param stride Bytes of an element. */
  view(bytes: Uint8Array, stride: number, more: JSONObject = {}, mode = 'ATTRIBUTES'): number {
    const { encoder } = this;
    const count = bytes.length / stride;
    const fits =
      mode === 'TRIANGLES' ? count % 3 === 0 && stride > 1 : stride % 4 === 0 && stride <= MAX_STRIDE;
    if (encoder !== undefined && fits && count > 0) {
      // Version 0 of the codec, which every decoder knows.
      const packed = encoder.encodeGltfBuffer(bytes, count, stride, mode, 0);
      if (packed.length < bytes.length) {
        const byteOffset = this.unpacked;
        this.unpacked += aligned(bytes.length);
        this.use(MESHOPT, true);
        const place = { buffer: 0, byteOffset: this.append(packed), byteLength: packed.length };
        const extensions = { [MESHOPT]: { ...place, byteStride: stride, count, mode } };
        const view = { buffer: 1, byteOffset, byteLength: bytes.length };
        return this.add('bufferViews', { ...view, ...more, extensions });
      }
    }
    const place = { buffer: 0, byteOffset: this.append(bytes), byteLength: bytes.length };
    return this.add('bufferViews', { ...place, ...more });
  }

  /** Adds an accessor, with a view of its own. @param size Numbers of an item. */
  accessor(array: TypedArray, size: number, use: Use, normalized = false): number {
    const count = array.length / size;
    const bytes = array.BYTES_PER_ELEMENT;
    const stride = use === 'index' ? bytes : Math.ceil((size * bytes) / 4) * 4;
    const isOfVertices = use === 'vertices' || use === 'positions';
    const packed = new Uint8Array(stride * count);
    const given = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    const row = size * bytes;
    for (let i = 0; i < given.length; i++) packed[i + Math.floor(i / row) * (stride - row)] = given[i];
    const target = isOfVertices
      ? { target: 34962, byteStride: stride }
      : use === 'index' && { target: 34963 };
    const { min, max } = new Box3().setFromArray(use === 'positions' ? array : []);
    return this.add('accessors', {
      bufferView: this.view(packed, stride, target || {}, use === 'index' ? 'TRIANGLES' : undefined),
      componentType: COMPONENTS.get(array.constructor),
      type: size === 1 ? 'SCALAR' : use === 'matrices' ? 'MAT4' : `VEC${size}`,
      count,
      ...(normalized && { normalized }),
      ...(use === 'positions' && { min: min.toArray(), max: max.toArray() }),
      ...(use === 'times' && { min: [array[0]], max: [array[count - 1]] }),
    });
  }

  /** Adds bytes, and what is between them and the next. @returns Where they begin. */
  private append(bytes: Uint8Array): number {
    const at = this.size;
    this.size += aligned(bytes.length);
    this.parts.push(bytes, new Uint8Array(this.size - at - bytes.length));
    return at;
  }

  /** The file. */
  build(): Uint8Array {
    const buffers: JSONObject[] = [{ byteLength: this.size }];
    if (this.unpacked > 0)
      buffers.push({ byteLength: this.unpacked, extensions: { [MESHOPT]: { fallback: true } } });
    const used = [...this.extensions.keys()];
    const required = used.filter((name) => this.extensions.get(name));
    const json = {
      asset: { version: '2.0', generator: 'skinned-instanced-mesh' },
      extensionsUsed: used,
      ...(required.length > 0 && { extensionsRequired: required }),
      scene: 0,
      ...this.lists,
      buffers,
    };
    return buildGlb(json, joined(this.parts));
  }
}
