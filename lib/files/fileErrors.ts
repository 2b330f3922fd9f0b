import { describe } from '../utils/messages.js';
import { EXTENSION } from './bakedJSON.js';

/** An error about a file: what is wrong, and what to do. */
export function fileError(what: string, cause?: unknown): Error {
  return new Error(`${EXTENSION}: ${what}`, { cause });
}

/** Throws unless a field of a file is as it has to be. */
export function expectField(holds: boolean, field: string, value: unknown, expected: string): asserts holds {
  if (holds) return;
  throw fileError(`${field} is ${describe(value)}, but has to be ${expected}; the file is damaged.`);
}

/** The value as an object. */
export function objectOf(value: unknown, field: string): Record<string, unknown> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  expectField(isObject, field, value, 'an object');
  return value as Record<string, unknown>;
}

/** The value as an array of objects. */
export function objectsOf(value: unknown, field: string): Record<string, unknown>[] {
  expectField(Array.isArray(value), field, value, 'an array');
  return value.map((one, i) => objectOf(one, `${field}[${i}]`));
}

/** The value as an array of strings. */
export function stringsOf(value: unknown, field: string): string[] {
  const areStrings = Array.isArray(value) && value.every((one) => typeof one === 'string');
  expectField(areStrings, field, value, 'an array of strings');
  return value as string[];
}

/** The value as a number that is not infinite. */
export function numberOf(value: unknown, field: string): number {
  expectField(typeof value === 'number' && Number.isFinite(value), field, value, 'a number');
  return value as number;
}

/** The value as a whole number from 0 to `most`. */
export function countOf(value: unknown, field: string, most = Number.MAX_SAFE_INTEGER): number {
  const isCount = Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;
  const expected = most === Number.MAX_SAFE_INTEGER ? 'a whole number' : `a whole number from 0 to ${most}`;
  expectField(isCount, field, value, expected);
  return value as number;
}
