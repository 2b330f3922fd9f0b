/**
 * Plain data with every typed array as its bytes: comparing them takes no time, and tells -0 from 0.
 */
export function bitsOf(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return [value.constructor.name, bytes.toString('base64')];
  }
  if (Array.isArray(value)) return value.map(bitsOf);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, bitsOf(one)]));
}
