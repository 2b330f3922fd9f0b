/**
 * Names what in a value a worker or a file could not carry as it is: functions, accessors and objects of classes other than
 * arrays, typed arrays and maps.
 */
export function notPlain(value: unknown, path = 'data'): string[] {
  if (typeof value === 'function' || typeof value === 'symbol') return [`${path} is a ${typeof value}`];
  if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value)) return [];
  if (value instanceof Map) return notPlain([...value], path);
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== Array.prototype) {
    return [`${path} is a ${value.constructor?.name}`];
  }
  return Object.keys(value).flatMap((key) => {
    const { get } = Object.getOwnPropertyDescriptor(value, key) as PropertyDescriptor;
    if (get !== undefined) return [`${path}.${key} is an accessor`];
    return notPlain((value as Record<string, unknown>)[key], `${path}.${key}`);
  });
}
