import { countOf, expectField, fileError, objectOf } from './fileErrors.js';

/** `glTF`, as the number that a .glb begins with. */
const MAGIC = 0x46546c67;
const JSON_CHUNK = 0x4e4f534a;
const BINARY_CHUNK = 0x004e4942;
const HEADER = 12;
const CHUNK_HEADER = 8;

/** Anything that a .glb has besides its JSON and its first buffer; glTF leaves it open what that is. */
export interface Chunk {
  /** Four letters, as a number. */
  kind: number;
  bytes: Uint8Array;
}

/** The parts of a .glb. */
export interface Glb {
  /** The glTF document. */
  json: Record<string, unknown>;
  /** Its first buffer; empty if there is none. */
  binary: Uint8Array;
  /** In their order. */
  chunks: Chunk[];
}

/**
 * The parts of a .glb; nothing is copied.
 *
 * @throws If it is none, or cut off.
 */
export function parseGlb(file: ArrayBuffer | Uint8Array): Glb {
  // Node's buffers are arrays too, whose `slice` copies nothing.
  const bytes =
    file instanceof Uint8Array
      ? new Uint8Array(file.buffer, file.byteOffset, file.byteLength)
      : new Uint8Array(file);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < HEADER + CHUNK_HEADER || view.getUint32(0, true) !== MAGIC) {
    throw fileError('the file is no .glb; pass the bytes of a binary glTF file.');
  }
  const version = view.getUint32(4, true);
  if (version !== 2) throw fileError(`the file is a .glb of version ${version}; there is to be version 2.`);
  const length = view.getUint32(8, true);
  if (length > bytes.length) {
    throw fileError(`the file is cut off: it has ${bytes.length} bytes of ${length}; fetch it again.`);
  }
  let text: Uint8Array | null = null;
  let binary: Uint8Array = new Uint8Array(0);
  const chunks: Chunk[] = [];
  for (let at = HEADER; at + CHUNK_HEADER <= length; ) {
    const size = view.getUint32(at, true);
    const kind = view.getUint32(at + 4, true);
    const start = at + CHUNK_HEADER;
    if (size > length - start) {
      throw fileError(
        `a part of the file says that it has ${size} bytes, and ${length - start} are left; the file is damaged.`,
      );
    }
    const chunk = bytes.subarray(start, start + size);
    if (kind === JSON_CHUNK) text ??= chunk;
    else if (kind !== BINARY_CHUNK) chunks.push({ kind, bytes: chunk });
    else if (binary.length === 0) binary = chunk;
    at = start + size;
  }
  if (text === null) throw fileError('the file has no JSON; it is damaged.');
  return { json: parseJSON(text), binary, chunks };
}

function parseJSON(text: Uint8Array): Record<string, unknown> {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(text));
  } catch (cause) {
    throw fileError(
      `the file's JSON cannot be read (${(cause as Error).message}); the file is damaged.`,
      cause,
    );
  }
  return objectOf(json, 'the document');
}

/** A .glb of a document and its first buffer, and of what else it is to have. */
export function buildGlb(json: object, binary: Uint8Array, others: readonly Chunk[] = []): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(json));
  const chunks: (Chunk & { padding?: number })[] = [
    { kind: JSON_CHUNK, bytes: text, padding: 0x20 },
    { kind: BINARY_CHUNK, bytes: binary },
    ...others,
  ];
  const sizes = chunks.map(({ bytes }) => Math.ceil(bytes.length / 4) * 4);
  const glb = new Uint8Array(sizes.reduce((sum, size) => sum + CHUNK_HEADER + size, HEADER));
  const view = new DataView(glb.buffer);
  [MAGIC, 2, glb.length].forEach((word, i) => {
    view.setUint32(i * 4, word, true);
  });
  let at = HEADER;
  chunks.forEach(({ kind, bytes, padding = 0 }, i) => {
    const start = at + CHUNK_HEADER;
    view.setUint32(at, sizes[i], true);
    view.setUint32(at + 4, kind, true);
    at = start + sizes[i];
    glb.set(bytes, start);
    glb.fill(padding, start + bytes.length, at);
  });
  return glb;
}

/** The bytes of a buffer view, which are in the buffer that `buffer` gives. @throws If they are not. */
export async function readBufferView(
  json: Record<string, unknown>,
  index: number,
  buffer: (index: number) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const field = `bufferViews[${index}]`;
  const view = objectOf((json.bufferViews as unknown[] | undefined)?.[index], field);
  const buffers = json.buffers as unknown[] | undefined;
  expectField(Array.isArray(buffers) && buffers.length > 0, 'buffers', buffers, 'an array of buffers');
  const bytes = await buffer(countOf(view.buffer, `${field}.buffer`, buffers.length - 1));
  const at = countOf(view.byteOffset ?? 0, `${field}.byteOffset`, bytes.length);
  const size = countOf(view.byteLength, `${field}.byteLength`, bytes.length - at);
  return bytes.subarray(at, at + size);
}
