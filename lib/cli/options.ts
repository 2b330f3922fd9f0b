import { parseArgs } from 'node:util';
import type { WrittenLevel } from '../files/writeCharacter.js';
import { usageError } from './CommandError.js';
import { BAKE_HELP, OF_JOINTS } from './help.js';

/** What stands behind an option, by its name: nothing behind a flag. */
type OptionTable = ReadonlyMap<string, { short?: string; takes?: string }>;

/** The options that a help text names, each at the begin of a line with what stands behind it. */
const optionsIn = (help: string): OptionTable =>
  new Map(
    Array.from(help.matchAll(/^ {2}(?:-(\w), )?--([\w-]+)(?: (\S+))?/gm), ([, short, name, takes]) => [
      name,
      { ...(short && { short }), takes },
    ]),
  );

/**
 * Reads the command line behind the name of a command, as its help says: options, and one file. A `LIST` may be given several times, a
 * `NUMBER` is above 0, `TEXELS` are whole, and of `some|words` there is one.
 *
 * @throws If an option is unknown, has no value, or has one that it does not take; the message names it and says what there is.
 */
export function parseOptions(command: string, help: string, args: string[]) {
  const table = optionsIn(help);
  const options = Array.from(table, ([name, { short, takes }]) => {
    const type = takes ? ('string' as const) : ('boolean' as const);
    return [name, { type, multiple: takes === 'LIST', ...(short && { short }) }];
  });
  let parsed: { values: Record<string, unknown>; positionals: string[] };
  try {
    parsed = parseArgs({ args, options: Object.fromEntries(options), allowPositionals: true });
  } catch (error) {
    throw usageError(`${command}: ${inWords(error as Error & { code?: string }, table)}`);
  }
  const { values, positionals } = parsed;
  if (positionals.length === 0)
    throw usageError(
      `${command}: there is no file; write e.g. skinned-instanced-mesh ${command} character.glb`,
    );
  if (positionals.length > 1)
    throw usageError(
      `${command}: there are ${positionals.length} files (${positionals.join(', ')}); it takes one at a time`,
    );
  for (const [name, value] of Object.entries(values)) {
    const wrong = problemOf(value as string, table.get(name)?.takes);
    if (wrong) throw usageError(`${command}: --${name} ${wrong}`);
  }
  return {
    file: positionals[0],
    isGiven: (name: string) => name in values,
    text: <Text extends string>(name: string) => values[name] as Text | undefined,
    number: (name: string) => (name in values ? numberOf(values[name] as string) : undefined),
    /** Empty where it was not given. */
    texts: (name: string) => (values[name] ?? []) as string[],
  };
}

/** What is wrong with the value of an option. */
function problemOf(value: string | string[], takes = ''): string | false {
  if (takes === 'LIST')
    return (
      [value].flat().some((text) => listed([text]).length === 0) &&
      'is given and names nothing; write something behind it, or leave it out'
    );
  const number = numberOf(String(value));
  if (takes === 'NUMBER' || takes === 'TEXELS') {
    if (!(number > 0 && number < Infinity)) return `is "${value}"; use a number above 0`;
    return takes === 'TEXELS' && !Number.isInteger(number) && `is "${value}"; use a whole number`;
  }
  const words = takes.split('|');
  return words.length > 1 && !words.includes(String(value)) && `is "${value}"; use ${words.join(', ')}`;
}

/** What Node's parser says, in our words and with a way out. */
function inWords({ message, code }: Error & { code?: string }, table: OptionTable): string {
  const written = message.match(/'(?:-\w, )?(--?[^\s'=]+)/)?.[1] ?? '';
  const names = [...table.keys()];
  const long = names.find((name) => written === `-${table.get(name)?.short}`);
  const option = long === undefined ? written : `--${long}`;
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const known = names.map((name) => `--${name}`);
    const meant = known.find((name) => name.startsWith(option) || option.startsWith(name));
    const hint = meant === undefined ? `there are ${known.join(', ')}` : `did you mean ${meant}?`;
    return `there is no option ${option}; ${hint}`;
  }
  const known = table.get(option.replace(/^--/, ''));
  if (known === undefined) return message;
  return known.takes === undefined
    ? `${option} takes no value`
    : `${option} has no value; write it behind, or ${option}=VALUE if it begins with a dash`;
}

/** A number, or NaN for what is none; `Number` would take blanks for 0. */
export const numberOf = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text));

/** The parts of comma-separated lists. */
export const listed = (texts: readonly string[]): string[] =>
  texts
    .flatMap((text) => text.split(','))
    .map((text) => text.trim())
    .filter((text) => text !== '');

/** A level of detail as the command line asks for it: without a start it goes by its own error. */
interface LevelRequest extends Pick<WrittenLevel, 'distance' | 'screenShare'> {
  /** Share of the triangles that shall be left. */
  ratio: number;
}

/** How levels go on from near to far, and with which sign numbers fall then. */
const FALLS = [
  ['ratio', 1, 'fewer triangles'],
  ['distance', -1, 'larger distances'],
  ['screenShare', 1, 'smaller shares of the picture'],
] as const;

/**
 * Reads `0.5,0.2`, `0.5@20,0.2@60` (distances) and `0.5@30%,0.2@10%` (shares of the picture's height).
 *
 * @throws If one is no such level, some go by distance and others by size, or they do not go from near to far.
 */
function levelRequests(texts: readonly string[]): LevelRequest[] {
  const requests = listed(texts).map(levelRequest);
  const name = `bake: --levels "${texts.join(',')}"`;
  const byDistance = requests.filter(({ distance }) => distance !== undefined).length;
  if (byDistance !== 0 && byDistance !== requests.length) {
    throw usageError(
      `${name} has levels that begin at a distance and levels that do not; write a distance for all or for none`,
    );
  }
  for (const [key, sign, what] of FALLS) {
    const said = requests.map((one) => one[key]).filter((value) => value !== undefined);
    const wrong = said.findIndex((value, i) => (value - said[i - 1]) * sign >= 0);
    if (wrong < 0) continue;
    const inWords = (value: number) =>
      key === 'screenShare' ? `${Number((value * 100).toPrecision(6))}%` : String(value);
    const [before, after] = said.slice(wrong - 1).map(inWords);
    throw usageError(`${name} must have ever ${what}: ${after} follows ${before}`);
  }
  return requests;
}

function levelRequest(text: string): LevelRequest {
  const [, share = '', start, percent] = text.match(/^([^@]*)(?:@([^@%]*)(%?))?$/) ?? [];
  const [ratio, value] = [share, start ?? '1'].map(numberOf);
  if (ratio > 0 && ratio < 1 && value > 0 && value < Infinity) {
    if (start === undefined) return { ratio };
    return percent ? { ratio, screenShare: value / 100 } : { ratio, distance: value };
  }
  throw usageError(
    `bake: --levels has "${text}"; write the share of triangles that shall be left, above 0 and below 1, and if you like ` +
      'from where on: 0.5, 0.5@20 (world units) or 0.5@30% (of the height of the picture)',
  );
}

/**
 * What `bake` is to do; nothing of it has been compared with the file yet.
 *
 * @throws If the command line makes no sense; the message names the option and says what it takes.
 */
export function bakeRequest(args: string[]) {
  const options = parseOptions('bake', BAKE_HELP, args);
  const { file: input, isGiven, text, texts } = options;
  const meant = isGiven('vat') && [...optionsIn(OF_JOINTS).keys()].find(isGiven);
  if (meant)
    throw usageError(`bake: --${meant} is about joints, of which --vat has none; leave one of them out`);
  const output = text('output');
  if (output === undefined) {
    const example = input.replace(/(\.\w+)?$/, '.baked.glb');
    throw usageError(`bake: there is no file to write; name it, e.g. -o ${example}`);
  }
  if (!/\.glb$/i.test(output))
    throw usageError(
      `bake: -o is "${output}"; what is written is one binary file, so let its name end in .glb`,
    );
  return { ...options, input, output, levels: levelRequests(texts('levels')) };
}

/** What the command line asks for. */
export type BakeRequest = ReturnType<typeof bakeRequest>;
