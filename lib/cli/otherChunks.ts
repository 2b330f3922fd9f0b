const HEADER = 12;
const CHUNK_HEADER = 8;
/** Chunks that every .glb may have: its JSON and its buffer. */
const KNOWN = ['JSON', 'BIN\0'];

/** Kinds of the chunks of a .glb that are neither its JSON nor its buffer, each of four letters. */
export function otherChunks(glb: Uint8Array): string[] {
  const view = new DataView(glb.buffer, glb.byteOffset, glb.byteLength);
  const kinds: string[] = [];
  for (let at = HEADER; at + CHUNK_HEADER <= glb.length; at += CHUNK_HEADER + view.getUint32(at, true)) {
    kinds.push(String.fromCharCode(...glb.subarray(at + 4, at + 8)));
  }
  return kinds.filter((kind) => !KNOWN.includes(kind));
}
