/** What a message calls a value that is not what was asked for: the value of what is short, else its kind, name and length. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return `"${value}"`;
  if (typeof value === 'function') return 'a function';
  if (value === null || typeof value !== 'object') return String(value);
  const { length, name } = value as { length?: number; name?: unknown };
  const kind = value.constructor?.name ?? 'an object';
  return `${kind}${length === undefined ? '' : ` of ${length}`}${typeof name === 'string' ? ` "${name}"` : ''}`;
}

/** How much of a name stands in another one, whatever their case: pieces of any length count, long ones more. */
function likeness(name: string, other: string): number {
  const text = name.toLowerCase().slice(0, 64);
  const within = other.toLowerCase();
  // Of names that have as much of it, the shorter one is nearer.
  let score = -within.length / 1000;
  for (let i = 0; i < text.length; i++)
    for (let end = i + 1; end <= text.length; end++)
      if (within.includes(text.slice(i, end))) score += (end - i) ** 2;
  return score;
}

/**
 * Names for a message: `"Idle", "Run", "Walk"`, and how many there are beyond `max`. The ones nearest to a name that is not there
 * come first.
 */
export function listNames(names: readonly string[], missing?: unknown, max = 16): string {
  const sorted =
    typeof missing === 'string'
      ? [...names].sort((a, b) => likeness(missing, b) - likeness(missing, a))
      : names;
  const shown = sorted.slice(0, max).map((name) => `"${name}"`);
  if (names.length > max) shown.push(`and ${names.length - max} more`);
  return shown.join(', ') || 'none';
}

/** What has been warned of. */
export const warned = /*@__PURE__*/ new Set<string>();

/** Writes a warning to the console, the first time only: a message in a frame loop would bury everything else. */
export function warnOnce(message: string): void {
  if (warned.has(message)) return;
  warned.add(message);
  console.warn(message);
}

/** @throws If a number is not finite. */
export function checkFinite(value: number, what: string): void {
  if (!Number.isFinite(value)) throw new Error(`The ${what} is ${value}; use a finite number.`);
}

/** Warns once of each option that nobody reads. @param known Has all that somebody reads as its keys. */
export function warnOfUnknown(options: object, caller: string, known: object): void {
  for (const key in options) {
    // A list of names is put together only where it is shown: `play` is called thousands of times in a frame.
    if (key in known || warned.has(caller + key)) continue;
    warned.add(caller + key);
    console.warn(`${caller}: there is no option "${key}"; there are ${listNames(Object.keys(known), key)}.`);
  }
}

/** Whether a value is a number above 0. A text of digits is none: what adds to it would make a longer text of it. */
export const isPositive = (value: unknown): value is number =>
  typeof value === 'number' && value > 0 && value < Infinity;

/** Whether a value is a number from 0, up to `max`. What is null is none, though it compares as 0. */
export const isWithin = (value: unknown, max = Infinity): value is number =>
  typeof value === 'number' && value >= 0 && value <= max;

/** Throws unless a value is as it has to be. @param field What a file calls it. */
export function expectField(holds: boolean, field: string, value: unknown, expected: string): asserts holds {
  if (!holds) throw new Error(`${field} is ${describe(value)}, but has to be ${expected}`);
}

/** Throws unless something holds that several values say together. */
export function expectFit(holds: boolean, field: string): asserts holds {
  if (!holds) throw new Error(`${field} does not fit what else there is`);
}

/**
 * What a value has to be: a word of `TESTS`, with `?` before it if it may be missing, and behind it how long it is: `'doubles 12'`; or how
 * many numbers; or a list of such, or an object with such, whatever else it has.
 */
export type Shape = string | number | readonly [Shape] | { readonly [key: string]: Shape };

const TESTS: Record<string, (value: unknown) => boolean> = {
  text: (value) => typeof value === 'string',
  number: (value) => Number.isFinite(value),
  count: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  floats: (value) => value instanceof Float32Array,
  doubles: (value) => value instanceof Float64Array,
  integers: (value) => value instanceof Int32Array,
  words: (value) => value instanceof Uint32Array,
};

/** Throws unless a value is of a shape. */
export function expectShape(value: unknown, shape: Shape, field: string): void {
  if (typeof shape === 'object') {
    const isList = Array.isArray(shape);
    const fits = typeof value === 'object' && value !== null && Array.isArray(value) === isList;
    expectField(fits, field, value, isList ? 'a list' : 'an object');
    for (const key in isList ? value : shape)
      expectShape(value[key as never], shape[(isList ? 0 : key) as never], `${field}.${key}`);
  } else if (typeof shape === 'number') {
    const areNumbers =
      Array.isArray(value) &&
      value.length === shape &&
      value.every((one) => typeof one === 'number' && !Number.isNaN(one));
    expectField(areNumbers, field, value, `${shape} numbers`);
  } else {
    const [word, length] = shape.replace('?', '').split(' ');
    if (shape[0] === '?' && (value === undefined || value === null)) return;
    const isLong = length === undefined || (value as ArrayLike<unknown>)?.length === Number(length);
    expectField(isLong && TESTS[word](value), field, value, `of the kind ${shape}`);
  }
}

/** Throws unless something is so many numbers long. */
export const expectLength = ({ length }: ArrayLike<unknown>, wanted: number, field: string): void =>
  expectField(length === wanted, `${field}.length`, length, `${wanted}`);
