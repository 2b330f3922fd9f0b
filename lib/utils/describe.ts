/** What a message calls a value that is not what was asked for: the value of what is short, else its kind, name and length. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return `"${value}"`;
  if (typeof value === 'function') return 'a function';
  if (value === null || typeof value !== 'object') return String(value);
  const { length, name } = value as { length?: number; name?: unknown };
  const kind = value.constructor?.name ?? 'an object';
  return `${kind}${length === undefined ? '' : ` of ${length}`}${typeof name === 'string' ? ` "${name}"` : ''}`;
}
