import { parseArgs } from 'node:util';
import type { WrittenLevel } from '../files/writeCharacter.js';
import { usageError } from './messages.js';

/** What `--help` shows. */
export const HELP = `Bakes the animations of characters for animated crowds in three.js.

  skinned-instanced-mesh bake FILE -o OUT.glb   adds baked animation to a .glb or .gltf
  skinned-instanced-mesh inspect FILE           says what is in a file
  skinned-instanced-mesh --version

With --help behind a command, its options.

Exit codes: 0 done, 1 something is wrong with a file, 2 with the command line.`;

/** Options that mean nothing where vertices are baked. */
const OF_JOINTS = `
  --encoding tracks|frames     tracks by default
  --max-error NUMBER           of clips that tracks must sample, as a share of the size; 0.0001 by default
  --root-motion                takes the way over the ground out of clips, for applyRootMotion
  --root-motion-joint NAME     of this joint
  --root-motion-clips LIST     of these clips alone
  --root-motion-vertical       motion along y too
  --no-root-motion-yaw         but no turns
  --sockets LIST               nodes that are no joints, but that things shall be attached to
  --joints all|used            all by default; used leaves out those that no vertex follows
  --no-morph-targets           leaves morph targets out
`;

/** What `bake --help` shows, and which options there are. */
export const BAKE_HELP = `skinned-instanced-mesh bake FILE -o OUT.glb [options]

Reads a .glb, or a .gltf with the files beside it; also those that Draco or meshoptimizer have packed. Writes a .glb with
the character as crowds draw it, which opens in any viewer, at rest.

  -o, --output OUT.glb         the file to write
  --clips LIST                 which clips, in this order: Idle,Run,Punch@60 (with frames per second of its own); * stands
                               for any text; may be given several times, e.g. for names with commas. All by default.
                               Those of other files too: walk.fbx run.fbx 'moves.glb/Walk*'; where they are of another body,
                               with a head, two arms and two legs, they are made to fit
  --clips-body FILE            with the skin of the body that those are of, where they rest in no bind pose
  --clips-ik                   bends knees so that their feet slide less, between bodies of similar proportions
  --clips-names LIST           its joints whose names do not say what they are: head=Neck2,upperArmL=Arm1
  --names LIST                 those of the character
  --exclude LIST               clips to leave out, e.g. T-Pose
  --fps NUMBER                 frames per second of skinning matrices; 30 by default. Tracks have those of their keys
  --precision float|half       float by default; half takes half the memory
  --max-texture-size TEXELS    4096 by default
  --vat                        bakes where all vertices are in place of joints, for what has no skeleton or hundreds of morph
                               targets; larger, and nothing can be attached
  --levels LIST                levels of detail by the share of triangles that is left: 0.5,0.2. Each begins where its error
                               is smaller than a line of 1080, or at a distance, 0.5@20, or a share of the picture, 0.5@30%
  --merge-materials            crowds make one material of those that differ in constants and textures
  --hidden-parts LIST          parts that no instance shows to begin with
  --drop-parts LIST            parts that are never shown, and are left out with their vertices
${OF_JOINTS.slice(1)}  --compress-meshes            stores normals, weights and colours of vertices in 8 bits, and texture coordinates in 16
  --no-compress                stores everything as it is; else meshoptimizer packs it, without a loss
  --source-animations          keeps the source's own animations of joints, for viewers; crowds do not need them
  --drop-source-animations     leaves them out, as is done by default
  -f, --force                  allows to overwrite the file that is read
  --outside                    allows files outside the folder of a .gltf, which it may name
  --json                       writes what was done as JSON
  -h, --help                   shows this

A page loads OUT.glb by GLTFLoader and the SkinnedInstancedMeshExtension of skinned-instanced-mesh/files; see the guide
on files.`;

export const INSPECT_HELP = `skinned-instanced-mesh inspect FILE [options]

Clips with their tracks and errors, joints, levels of detail, and what the bytes of the file are spent on; of a file that
has not been baked, what baking with default options would make of it.

  --no-errors    does not compare clips with the source, which takes longest
  --outside      allows files outside the folder of a .gltf, which it may name
  --json         writes it as JSON
  -h, --help     shows this`;

/** The options that a help text names, each at the begin of a line with what stands behind it: nothing behind a flag. */
const optionsIn = (help: string) =>
  new Map(
    Array.from(help.matchAll(/^ {2}(?:-(\w), )?--([\w-]+)(?: (\S+))?/gm), ([, short, name, takes]) => {
      const type = takes ? ('string' as const) : ('boolean' as const);
      return [name, { type, takes, ...(short && { short }) }];
    }),
  );

/**
 * Reads the command line behind the name of a command, as its help says: options, and one file. A `LIST` may be given several times, and go
 * on in the words behind it, as shells write `moves/*.fbx`; a `NUMBER` is above 0, `TEXELS` are whole, and of `some|words` there is one.
 *
 * @throws If an option is unknown, has no value, or has one that it does not take; the message names it and says what there is.
 */
export function parseOptions(command: string, help: string, args: string[]) {
  const table = optionsIn(help);
  const wrong = (what: string) => usageError(`${command}: ${what}`);
  const options = Object.fromEntries(table);
  const { tokens } = parseArgs({ args, options, allowPositionals: true, tokens: true, strict: false });
  const files: string[] = [];
  const values: Record<string, string[]> = {};
  let list: string[] | null = null;
  for (const token of tokens) {
    if (token.kind === 'positional') (files.length > 0 && list !== null ? list : files).push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const option = table.get(name);
    if (option === undefined) {
      const known = Array.from(table.keys(), (one) => `--${one}`);
      const meant = known.find((one) => one.startsWith(rawName) || rawName.startsWith(one));
      const hint = meant === undefined ? `there are ${known.join(', ')}` : `did you mean ${meant}?`;
      throw wrong(`there is no option ${rawName}; ${hint}`);
    }
    const { takes } = option;
    if (!takes && inlineValue) throw wrong(`--${name} takes no value`);
    // What begins with a dash may be meant as the next option.
    if (takes && (value === undefined || (!inlineValue && /^-./.test(value))))
      throw wrong(`--${name} has no value; write it behind, or --${name}=VALUE if it begins with a dash`);
    values[name] = [...((takes === 'LIST' && values[name]) || []), value ?? ''];
    list = takes === 'LIST' ? values[name] : null;
  }
  if (files.length === 0)
    throw wrong(`there is no file; write e.g. skinned-instanced-mesh ${command} character.glb`);
  if (files.length > 1)
    throw wrong(`there are ${files.length} files (${files.join(', ')}); it takes one at a time`);
  for (const [name, texts] of Object.entries(values)) {
    const problem = problemOf(texts, table.get(name)?.takes);
    if (problem) throw wrong(`--${name} ${problem}`);
  }
  return {
    file: files[0],
    isGiven: (name: string) => name in values,
    text: <Text extends string>(name: string) => values[name]?.[0] as Text | undefined,
    number: (name: string) => (name in values ? numberOf(values[name][0]) : undefined),
    /** Empty where it was not given. */
    texts: (name: string) => values[name] ?? [],
  };
}

/** What is wrong with the values of an option. */
function problemOf(texts: readonly string[], takes = ''): string | false {
  if (takes === 'LIST')
    return (
      texts.some((text) => listed([text]).length === 0) &&
      'is given and names nothing; write something behind it, or leave it out'
    );
  const [value] = texts;
  const number = numberOf(value);
  if (takes === 'NUMBER' || takes === 'TEXELS') {
    if (!(number > 0 && number < Infinity)) return `is "${value}"; use a number above 0`;
    return takes === 'TEXELS' && !Number.isInteger(number) && `is "${value}"; use a whole number`;
  }
  const words = takes.split('|');
  return words.length > 1 && !words.includes(value) && `is "${value}"; use ${words.join(', ')}`;
}

/** A number, or NaN for what is none; `Number` would take blanks for 0. */
export const numberOf = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text));

/** The parts of comma-separated lists. */
export const listed = (texts: readonly string[]): string[] =>
  texts
    .flatMap((text) => text.split(','))
    .map((text) => text.trim())
    .filter((text) => text !== '');

/** A level of detail as the command line asks for it, by the share of triangles that shall be left: without a start it goes by its own error. */
type LevelRequest = Pick<WrittenLevel, 'distance' | 'screenShare'> & { ratio: number };

/**
 * Reads `0.5,0.2`, `0.5@20,0.2@60` (distances) and `0.5@30%,0.2@10%` (shares of the picture's height).
 *
 * @throws If one is no such level, some go by distance and others by size, or they do not go from near to far.
 */
function levelRequests(texts: readonly string[]): LevelRequest[] {
  const levels = listed(texts);
  const requests = levels.map(levelRequest);
  const name = `bake: --levels "${texts.join(',')}"`;
  if (new Set(requests.map(({ distance }) => distance === undefined)).size > 1)
    throw usageError(
      `${name} has levels that begin at a distance and levels that do not; write a distance for all or for none`,
    );
  requests.forEach(({ ratio, distance = Infinity, screenShare = 0 }, i) => {
    const isNear = (one: LevelRequest) =>
      one.ratio <= ratio || (one.distance ?? 0) >= distance || (one.screenShare ?? 1) <= screenShare;
    const before = requests.slice(0, i).findIndex(isNear);
    if (before >= 0)
      throw usageError(
        `${name} must have ever fewer triangles, and begin ever farther away: ${levels[i]} follows ${levels[before]}`,
      );
  });
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
