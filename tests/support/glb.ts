/** A glTF document and its buffer as one .glb, which loaders read without fetching anything. */
export function glbOf(document: object, buffer: Uint8Array): ArrayBuffer {
  const padded = (length: number) => Math.ceil(length / 4) * 4;
  const json = new TextEncoder().encode(JSON.stringify(document));
  const length = 12 + 8 + padded(json.length) + 8 + padded(buffer.length);
  const bytes = new Uint8Array(length).fill(0x20);
  const view = new DataView(bytes.buffer);
  const words = (at: number, ...values: number[]) =>
    values.forEach((value, i) => view.setUint32(at + i * 4, value, true));
  words(0, 0x46546c67, 2, length, padded(json.length), 0x4e4f534a);
  bytes.set(json, 20);
  const at = 20 + padded(json.length);
  words(at, padded(buffer.length), 0x004e4942);
  bytes.set(buffer, at + 8);
  return bytes.buffer;
}
