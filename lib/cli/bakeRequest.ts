import type { BakeOptions } from '../baking/BakeOptions.js';
import { extractRootMotion } from '../baking/rootMotion.js';
import { frames } from '../frames/frames.js';
import { usageError } from './CommandError.js';
import { type LevelRequest, levelRequests } from './levelRequests.js';
import {
  listed,
  type OptionTable,
  oneOf,
  onlyFile,
  type ParsedOptions,
  parseOptions,
  positiveNumber,
  wholeNumber,
} from './options.js';

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
  'no-compress': { type: 'boolean' },
  'drop-source-animations': { type: 'boolean' },
  force: { type: 'boolean', short: 'f' },
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
const LISTS = ['clips', 'exclude', 'root-motion-clips', 'sockets', 'levels', 'hidden-parts'] as const;

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
  compress: boolean;
  dropSourceAnimations: boolean;
  force: boolean;
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
    compress: !parsed.flag('no-compress'),
    dropSourceAnimations: parsed.flag('drop-source-animations'),
    force: parsed.flag('force'),
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
