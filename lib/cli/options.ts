import { parseArgs } from 'node:util';
import { usageError } from './CommandError.js';

/** What a command takes: names of options, and whether each has a value. */
export type OptionTable = Record<string, { type: 'string' | 'boolean'; short?: string; multiple?: boolean }>;

/** Options as they stand on the command line. */
export interface ParsedOptions {
  flag(name: string): boolean;
  /** Null where it was not given. */
  text(name: string): string | null;
  /** Of an option that may be given several times; empty where it was not given. */
  texts(name: string): string[];
  positionals: string[];
}

/**
 * Reads the options of a command.
 *
 * @throws If one is unknown, has no value, or has one that it does not take; the message names it and says what there is.
 */
export function parseOptions(command: string, table: OptionTable, args: string[]): ParsedOptions {
  try {
    const { values, positionals } = parseArgs({ args, options: table, allowPositionals: true, strict: true });
    return {
      flag: (name) => values[name] === true,
      text: (name) => (values[name] as string | undefined) ?? null,
      texts: (name) => (values[name] as string[] | undefined) ?? [],
      positionals,
    };
  } catch (error) {
    throw usageError(`${command}: ${inWords(error as Error & { code?: string }, table)}`);
  }
}

/** What Node's parser says, in our words and with a way out. */
function inWords({ message, code }: Error & { code?: string }, table: OptionTable): string {
  const written = message.match(/'(?:-\w, )?(--?[^\s'=]+)/)?.[1] ?? '';
  const long = Object.keys(table).find((name) => written === `-${table[name].short}`);
  const option = long === undefined ? written : `--${long}`;
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const names = Object.keys(table).map((name) => `--${name}`);
    const meant = names.find((name) => name.startsWith(option) || option.startsWith(name));
    const hint = meant === undefined ? `there are ${names.join(', ')}` : `did you mean ${meant}?`;
    return `there is no option ${option}; ${hint}`;
  }
  const known = table[option.replace(/^--/, '')];
  if (known?.type === 'boolean') return `${option} takes no value`;
  if (known !== undefined)
    return `${option} has no value; write it behind, or ${option}=VALUE if it begins with a dash`;
  return message;
}

/** @throws If the option is given and no number above 0. */
export function positiveNumber(options: ParsedOptions, command: string, name: string): number | undefined {
  const text = options.text(name);
  if (text === null) return undefined;
  const value = numberOf(text);
  if (value > 0 && value < Infinity) return value;
  throw usageError(`${command}: --${name} is "${text}"; use a number above 0`);
}

/** @throws If the option is given and no whole number above 0. */
export function wholeNumber(options: ParsedOptions, command: string, name: string): number | undefined {
  const value = positiveNumber(options, command, name);
  if (value === undefined || Number.isInteger(value)) return value;
  throw usageError(`${command}: --${name} is "${options.text(name)}"; use a whole number`);
}

/** @throws If the option is given and none of the words it takes. */
export function oneOf<Word extends string>(
  options: ParsedOptions,
  command: string,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const text = options.text(name);
  if (text === null) return undefined;
  const word = words.find((candidate) => candidate === text);
  if (word !== undefined) return word;
  throw usageError(`${command}: --${name} is "${text}"; use ${words.join(', ')}`);
}

/** The one file that a command is about. */
export function onlyFile({ positionals }: ParsedOptions, command: string): string {
  if (positionals.length === 1) return positionals[0];
  const example = `skinned-instanced-mesh ${command} character.glb`;
  if (positionals.length === 0) throw usageError(`${command}: there is no file; write e.g. ${example}`);
  throw usageError(
    `${command}: there are ${positionals.length} files (${positionals.join(', ')}); it takes one at a time`,
  );
}

/** A number, or NaN for what is none; `Number` would take blanks for 0. */
export function numberOf(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}

/** The parts of comma-separated lists. */
export function listed(texts: readonly string[]): string[] {
  return texts
    .flatMap((text) => text.split(','))
    .map((text) => text.trim())
    .filter((text) => text !== '');
}
