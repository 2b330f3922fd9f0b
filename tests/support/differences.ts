/** Paths at which two pieces of plain data differ, by a single bit of a number too. */
export function differences(a: unknown, b: unknown, path = ''): string[] {
  if (Object.is(a, b)) return [];
  if (ArrayBuffer.isView(a) && ArrayBuffer.isView(b)) return areSame(a, b) ? [] : [`${path} (numbers)`];
  const areObjects = typeof a === 'object' && typeof b === 'object' && a !== null && b !== null;
  if (!areObjects || a.constructor !== b.constructor) return [path];
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  const itemOf = (of: object, key: string) => (of as Record<string, unknown>)[key];
  return [...keys].flatMap((key) => differences(itemOf(a, key), itemOf(b, key), `${path}.${key}`));
}

function areSame(a: ArrayBufferView, b: ArrayBufferView): boolean {
  if (a.constructor !== b.constructor || a.byteLength !== b.byteLength) return false;
  const bytes = (view: ArrayBufferView) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  const others = bytes(b);
  return bytes(a).every((byte, i) => byte === others[i]);
}
