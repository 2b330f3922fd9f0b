import { fileError } from './StoredCharacter.js';

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
