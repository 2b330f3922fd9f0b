import { describe } from './messages.js';

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
