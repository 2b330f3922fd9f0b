import { fileError } from './fileErrors.js';

/** `glTF`, as the number that a .glb begins with. */
const MAGIC = 0x46546c67;
const JSON_CHUNK = 0x4e4f534a;
const BINARY_CHUNK = 0x004e4942;
const HEADER = 12;
const CHUNK_HEADER = 8;

/** The parts of a .glb. */
export interface Glb {
  /** The glTF document. */
  json: Record<string, unknown>;
  /** Its first buffer; empty if there is none. */
  binary: Uint8Array;
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
    else if (kind === BINARY_CHUNK && binary.length === 0) binary = chunk;
    at = start + size;
  }
  if (text === null) throw fileError('the file has no JSON; it is damaged.');
  return { json: parseJSON(text), binary };
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
  if (typeof json === 'object' && json !== null) return json as Record<string, unknown>;
  throw fileError('the JSON of the file is no object; the file is damaged.');
}

/** A .glb of a document and its first buffer. */
export function buildGlb(json: object, binary: Uint8Array): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(json));
  const [textSize, size] = [text, binary].map(({ length }) => Math.ceil(length / 4) * 4);
  const start = HEADER + CHUNK_HEADER + textSize;
  const glb = new Uint8Array(start + CHUNK_HEADER + size);
  const view = new DataView(glb.buffer);
  [MAGIC, 2, glb.length, textSize, JSON_CHUNK].forEach((word, i) => {
    view.setUint32(i * 4, word, true);
  });
  [size, BINARY_CHUNK].forEach((word, i) => {
    view.setUint32(start + i * 4, word, true);
  });
  glb.set(text, HEADER + CHUNK_HEADER);
  glb.fill(0x20, HEADER + CHUNK_HEADER + text.length, start);
  glb.set(binary, start + CHUNK_HEADER);
  return glb;
}
