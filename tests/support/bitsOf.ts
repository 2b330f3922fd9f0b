/**
 * Plain data with every typed array as its bytes: comparing them takes no time, and tells -0 from 0. Without the `source` of clips, which
 * is of the page that has baked them.
 */
export function bitsOf(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return [value.constructor.name, bytes.toString('base64')];
  }
  if (Array.isArray(value)) return value.map(bitsOf);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => key !== 'source');
  return Object.fromEntries(entries.map(([key, one]) => [key, bitsOf(one)]));
}
