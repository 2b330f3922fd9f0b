import { describe } from './describe.js';

/** For each option what it has to be, as a test and in words. */
export type OptionChecks = Record<string, OptionCheck>;

type OptionCheck = readonly [holds: (value: unknown) => boolean, wanted: string];

/**
 * Throws unless options are as they have to be. What is undefined was not given.
 *
 * @param caller Class and method, for the message.
 * @param prefix Stands before the names of the options in it, e.g. `rootMotion.`.
 */
export function checkOptions(options: unknown, checks: OptionChecks, caller: string, prefix = ''): void {
  checkAreOptions(options, caller, prefix === '' ? undefined : prefix.slice(0, -1));
  for (const name of Object.keys(checks)) {
    const value = (options as Record<string, unknown>)[name];
    if (value !== undefined) checkOption(value, checks[name], `${caller}: ${prefix}${name}`);
  }
}

/** @throws If one option is not what it has to be. */
export function checkOption(value: unknown, [holds, wanted]: OptionCheck, caller: string): void {
  if (!holds(value)) throw new Error(`${caller} is ${describe(value)}; use ${wanted}.`);
}

/** @throws If options are none: null, or a number that was meant for one of them. */
export function checkAreOptions(options: unknown, caller: string, name = 'options'): void {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return;
  throw new Error(`${caller}: ${name} is ${describe(options)}; pass an object, or leave it out.`);
}

/** Whether a value is a number above 0. A text of digits is none: what adds to it would make a longer text of it. */
export const isPositive = (value: unknown): value is number =>
  typeof value === 'number' && value > 0 && value < Infinity;

/** Whether a value is a number from 0, up to `max`. What is null is none, though it compares as 0. */
export const isWithin = (value: unknown, max = Infinity): value is number =>
  typeof value === 'number' && value >= 0 && value <= max;

/** Whether a value is a whole number above 0. */
export const isCount = (value: unknown): value is number => isPositive(value) && Number.isInteger(value);

export const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';

export const isArray = (value: unknown): boolean => Array.isArray(value);

/** The checks of several, as one. Bundlers drop a call that is marked as pure where nothing is used; not so `...`. */
export const joinChecks = (...checks: OptionChecks[]): OptionChecks => Object.assign({}, ...checks);

export const isString = (value: unknown): value is string => typeof value === 'string';

/** Of how long work in slices takes, and how it is stopped. Null is for none, as it often is in `signal` elsewhere. */
export const SLICE_CHECKS: OptionChecks = {
  onProgress: [(value) => value === null || typeof value === 'function', 'a function (share) => void'],
  signal: [
    (value) => value === null || typeof (value as AbortSignal).throwIfAborted === 'function',
    'an AbortSignal: new AbortController().signal',
  ],
};
