import { parseArgs } from 'node:util';
import type { BakeOptions } from '../baking/BakeOptions.js';
import { frames } from '../baking/frames.js';
import { extractRootMotion } from '../baking/rootMotion.js';
import { usageError } from './CommandError.js';

/** What a command takes: names of options, and whether each has a value. */
export type OptionTable = Record<string, { type: 'string' | 'boolean'; short?: string; multiple?: boolean }>;

/**
 * Reads the options of a command.
 *
 * @throws If one is unknown, has no value, or has one that it does not take; the message names it and says what there is.
 */
export function parseOptions(command: string, table: OptionTable, args: string[]) {
  try {
    const { values, positionals } = parseArgs({ args, options: table, allowPositionals: true, strict: true });
    return {
      flag: (name: string) => values[name] === true,
      /** Null where it was not given. */
      text: (name: string) => (values[name] as string | undefined) ?? null,
      /** Of an option that may be given several times; empty where it was not given. */
      texts: (name: string) => (values[name] as string[] | undefined) ?? [],
      positionals,
    };
  } catch (error) {
    throw usageError(`${command}: ${inWords(error as Error & { code?: string }, table)}`);
  }
}

/** Options as they stand on the command line. */
type ParsedOptions = ReturnType<typeof parseOptions>;

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
function positiveNumber(options: ParsedOptions, command: string, name: string): number | undefined {
  const text = options.text(name);
  if (text === null) return undefined;
  const value = numberOf(text);
  if (value > 0 && value < Infinity) return value;
  throw usageError(`${command}: --${name} is "${text}"; use a number above 0`);
}

/** @throws If the option is given and no whole number above 0. */
function wholeNumber(options: ParsedOptions, command: string, name: string): number | undefined {
  const value = positiveNumber(options, command, name);
  if (value === undefined || Number.isInteger(value)) return value;
  throw usageError(`${command}: --${name} is "${options.text(name)}"; use a whole number`);
}

/** @throws If the option is given and none of the words it takes. */
function oneOf<Word extends string>(
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

/** A level of detail as the command line asks for it. */
interface LevelRequest {
  /** Share of the triangles that shall be left. */
  ratio: number;
  /** World units from which on it is drawn; null if it goes by size. */
  distance: number | null;
  /** Share of the picture's height below which it is drawn; null if it goes by distance, or by its own error. */
  screenShare: number | null;
}

/**
 * Reads `0.5,0.2`, `0.5@20,0.2@60` (distances) and `0.5@30%,0.2@10%` (shares of the picture's height).
 *
 * @throws If one is no such level, some go by distance and others by size, or they do not go from near to far.
 */
function levelRequests(texts: readonly string[]): LevelRequest[] {
  const requests = listed(texts).map(levelRequest);
  const byDistance = requests.filter(({ distance }) => distance !== null).length;
  if (byDistance !== 0 && byDistance !== requests.length) {
    throw usageError(
      `bake: --levels "${texts.join(',')}" has levels that begin at a distance and levels that do not; write a distance for all or for none`,
    );
  }
  const wrong = (what: string, value: string, before: string) =>
    usageError(`bake: --levels "${texts.join(',')}" must have ever ${what}: ${value} follows ${before}`);
  const inPercent = (share: number) => `${Number((share * 100).toPrecision(6))}%`;
  for (const [i, { ratio, distance, screenShare }] of requests.entries()) {
    if (i === 0) continue;
    const before = requests[i - 1];
    if (ratio >= before.ratio) throw wrong('fewer triangles', `${ratio}`, `${before.ratio}`);
    if (distance !== null && before.distance !== null && distance <= before.distance)
      throw wrong('larger distances', `${distance}`, `${before.distance}`);
    const share = requests.slice(0, i).findLast((one) => one.screenShare !== null)?.screenShare ?? null;
    if (screenShare !== null && share !== null && screenShare >= share)
      throw wrong('smaller shares of the picture', inPercent(screenShare), inPercent(share));
  }
  return requests;
}

function levelRequest(text: string): LevelRequest {
  const [share, start, ...more] = text.split('@');
  const ratio = numberOf(share);
  const inPercent = start?.endsWith('%') === true;
  const value = start === undefined ? 1 : numberOf(inPercent ? start.slice(0, -1) : start);
  if (more.length > 0 || !(ratio > 0 && ratio < 1) || !(value > 0 && value < Infinity)) {
    throw usageError(
      `bake: --levels has "${text}"; write the share of triangles that shall be left, above 0 and below 1, and if you like ` +
        'from where on: 0.5, 0.5@20 (world units) or 0.5@30% (of the height of the picture)',
    );
  }
  if (start === undefined) return { ratio, distance: null, screenShare: null };
  return { ratio, distance: inPercent ? null : value, screenShare: inPercent ? value / 100 : null };
}

const BAKE = 'bake';

export const BAKE_OPTIONS = {
  output: { type: 'string', short: 'o' },
  clips: { type: 'string', multiple: true },
  exclude: { type: 'string', multiple: true },
  fps: { type: 'string' },
  encoding: { type: 'string' },
  precision: { type: 'string' },
  'max-error': { type: 'string' },
  'max-texture-size': { type: 'string' },
  'root-motion': { type: 'boolean' },
  'root-motion-joint': { type: 'string' },
  'root-motion-clips': { type: 'string', multiple: true },
  'root-motion-vertical': { type: 'boolean' },
  'no-root-motion-yaw': { type: 'boolean' },
  sockets: { type: 'string', multiple: true },
  joints: { type: 'string' },
  'no-morph-targets': { type: 'boolean' },
  levels: { type: 'string', multiple: true },
  vat: { type: 'boolean' },
  'merge-materials': { type: 'boolean' },
  'hidden-parts': { type: 'string', multiple: true },
  'drop-parts': { type: 'string', multiple: true },
  'compress-meshes': { type: 'boolean' },
  'no-compress': { type: 'boolean' },
  'source-animations': { type: 'boolean' },
  // As it is done now unless they are asked for; scripts may still say so.
  'drop-source-animations': { type: 'boolean' },
  force: { type: 'boolean', short: 'f' },
  outside: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies OptionTable;

/** Options that mean nothing where vertices are baked. */
const OF_JOINTS = Object.keys(BAKE_OPTIONS).filter((name) => {
  return (
    /^(no-)?root-motion/.test(name) ||
    ['encoding', 'max-error', 'joints', 'sockets', 'no-morph-targets'].includes(name)
  );
});

/** Options that take lists. */
const LISTS = [
  'clips',
  'exclude',
  'root-motion-clips',
  'sockets',
  'levels',
  'hidden-parts',
  'drop-parts',
] as const;

/** What `bake` is to do; nothing of it has been compared with the file yet. */
export interface BakeRequest {
  input: string;
  output: string;
  /** Names or patterns of clips, in the order wanted; empty for all. */
  clips: string[];
  /** Names or patterns of clips that are left out. */
  exclude: string[];
  /** Names or patterns of clips whose root motion is extracted; empty for all. */
  rootMotionClips: string[];
  /** All but `clips`. */
  options: BakeOptions;
  levels: LevelRequest[];
  /** Whether vertices are baked in place of joints. */
  vat: boolean;
  /** Whether crowds of it merge materials. */
  mergeMaterials: boolean;
  /** Names of parts that no instance shows to begin with. */
  hiddenParts: string[];
  /** Names of parts that are left out. */
  dropParts: string[];
  /** Whether meshes are stored in fewer bits. */
  compressMeshes: boolean;
  compress: boolean;
  /** Whether viewers shall play the clips. */
  sourceAnimations: boolean;
  force: boolean;
  /** Whether the file may consist of files outside its folder. */
  outside: boolean;
  json: boolean;
}

/** @throws If the command line makes no sense; the message names the option and says what it takes. */
export function bakeRequest(args: string[]): BakeRequest {
  const parsed = parseOptions(BAKE, BAKE_OPTIONS, args);
  const input = onlyFile(parsed, BAKE);
  for (const name of LISTS) {
    if (parsed.texts(name).every((text) => listed([text]).length > 0)) continue;
    throw usageError(
      `bake: --${name} is given and names nothing; write something behind it, or leave it out`,
    );
  }
  const vat = parsed.flag('vat');
  const [meant] = vat ? OF_JOINTS.filter((name) => isGiven(parsed, name)) : [];
  if (meant !== undefined)
    throw usageError(`bake: --${meant} is about joints, of which --vat has none; leave one of them out`);
  return {
    input,
    output: outputOf(parsed, input),
    clips: parsed.texts('clips'),
    exclude: parsed.texts('exclude'),
    rootMotionClips: parsed.texts('root-motion-clips'),
    options: {
      fps: positiveNumber(parsed, BAKE, 'fps'),
      encoding: oneOf(parsed, BAKE, 'encoding', ['tracks', 'frames']) === 'frames' ? frames : undefined,
      precision: oneOf(parsed, BAKE, 'precision', ['float', 'half']),
      maxError: positiveNumber(parsed, BAKE, 'max-error'),
      maxTextureSize: wholeNumber(parsed, BAKE, 'max-texture-size'),
      rootMotion: rootMotionOf(parsed),
      joints: oneOf(parsed, BAKE, 'joints', ['all', 'used']),
      sockets: listed(parsed.texts('sockets')),
      morphTargets: !parsed.flag('no-morph-targets'),
    },
    levels: levelRequests(parsed.texts('levels')),
    vat,
    mergeMaterials: parsed.flag('merge-materials'),
    hiddenParts: listed(parsed.texts('hidden-parts')),
    dropParts: listed(parsed.texts('drop-parts')),
    compressMeshes: parsed.flag('compress-meshes'),
    compress: !parsed.flag('no-compress'),
    sourceAnimations: parsed.flag('source-animations'),
    force: parsed.flag('force'),
    outside: parsed.flag('outside'),
    json: parsed.flag('json'),
  };
}

function outputOf(parsed: ParsedOptions, input: string): string {
  const output = parsed.text('output');
  if (output === null) {
    const example = input.replace(/(\.\w+)?$/, '.baked.glb');
    throw usageError(`bake: there is no file to write; name it, e.g. -o ${example}`);
  }
  if (/\.glb$/i.test(output)) return output;
  throw usageError(
    `bake: -o is "${output}"; what is written is one binary file, so let its name end in .glb`,
  );
}

/** Each of the options about root motion asks for it. */
function rootMotionOf(parsed: ParsedOptions): BakeOptions['rootMotion'] {
  const joint = parsed.text('root-motion-joint') ?? undefined;
  const vertical = parsed.flag('root-motion-vertical');
  const yaw = !parsed.flag('no-root-motion-yaw');
  const asked = parsed.flag('root-motion') || parsed.texts('root-motion-clips').length > 0;
  return asked || joint !== undefined || vertical || !yaw
    ? extractRootMotion({ joint, vertical, yaw })
    : undefined;
}

function isGiven(parsed: ParsedOptions, name: string): boolean {
  return parsed.flag(name) || parsed.text(name) !== null;
}
