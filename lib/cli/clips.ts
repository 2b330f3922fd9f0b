import { parse } from 'node:path';
import { type AnimationClip, type Object3D, PropertyBinding } from 'three';
import { retargetClips } from '../baking/retargetClips.js';
import { listNames } from '../utils/messages.js';
import { attempt, inputError } from './messages.js';
import { type BakeRequest, listed, numberOf } from './options.js';
import { type Loaded, loadModel } from './readSource.js';

/** Clips of another file, all or those of a name: `walk.fbx`, `moves.glb/Walk*`. */
const OF_FILE = /^(.+\.(?:glb|gltf|fbx))(?:\/(.+))?$/i;
/** How far nodes may rest from those of another model for its clips to be played as they are: rounding. */
const ALIKE = 1e-5;

/** A file, with its clips. */
type ClipFile = { file: string; animations: AnimationClip[] };
/** A clip that is baked. */
type ChosenClip = { clip: AnimationClip; fps?: number };

/**
 * The clips that the command line asks for, made to fit the character where they are of another body.
 *
 * @param warnings Gets which joints have no counterpart.
 * @returns Those that are baked, and those whose root motion is extracted, if some are named.
 */
export async function clipsOf(
  { scene, animations }: Loaded,
  { input, isGiven, text, texts }: BakeRequest,
  warnings: string[],
) {
  const load = (file: string) => loadModel(file, isGiven('outside'));
  const known = animations.map(({ name }) => name);
  const models: (Loaded & ClipFile)[] = [{ file: input, scene, animations }];
  for (const one of listed(texts('clips'))) {
    const file = rated(one, known).name.match(OF_FILE)?.[1];
    if (file === undefined || known.includes(one) || models.some((model) => model.file === file)) continue;
    const model = await load(file);
    const moving = model.animations.filter(({ tracks }) => tracks.length > 0);
    if (moving.length === 0) throw inputError(`bake: ${file} has no animations; export it with some`);
    // Where each clip has a file, they may all have one name.
    if (moving.length === 1) moving[0].name = parse(file).name;
    models.push({ file, scene: model.scene, animations: moving });
  }
  const chosen = chooseClips(models, texts('clips'), texts('exclude'));
  const moving = clipsNamed(allOf(models), models, '--root-motion-clips', texts('root-motion-clips'));

  const bodyFile = text('clips-body');
  const body = bodyFile === undefined ? undefined : (await load(bodyFile)).scene;
  const [from, to] = ['clips-names', 'names'].map((option) =>
    Object.fromEntries(listed(texts(option)).map((joint) => joint.split('='))),
  );
  for (const { file, ...model } of models.slice(1)) {
    const own = chosen.filter(({ clip }) => model.animations.includes(clip));
    const clips = own.map(({ clip }) => clip);
    const source = body ?? model.scene;
    if (fits(clips, source, scene)) continue;
    source.name = bodyFile ?? file;
    const what = `bake: ${file} does not fit ${input}; --clips-names and --names say which joints are what`;
    const made = await attempt(what, () => retargetClips(clips, source, scene, { names: { from, to } }));
    for (const [i, one] of own.entries()) one.clip = made.clips[i];
    const { from: lost, to: still } = made.unmatched;
    if (lost.length > 0) warnings.push(`${file}: nothing takes over how these turn: ${listNames(lost)}.`);
    if (still.length > 0) warnings.push(`${file}: these keep their bind pose: ${listNames(still)}.`);
  }
  return { chosen, moving: moving.length > 0 ? moving.map(({ clip }) => clip) : undefined };
}

const allOf = (files: readonly ClipFile[]) => files.flatMap(({ animations }) => animations);

/** Whether the nodes that clips move have the same names and rest alike in two models. */
function fits(clips: readonly AnimationClip[], from: Object3D, to: Object3D): boolean {
  const tracks = clips.flatMap((clip) => clip.tracks);
  return tracks.every(({ name }) => {
    const { nodeName } = PropertyBinding.parseTrackName(name);
    const [one, other] = [from, to].map((root) => root.getObjectByName(nodeName)?.matrixWorld.elements);
    const isNear = (value: number, i: number) =>
      Math.abs(value - (other?.[i] ?? Infinity)) <= ALIKE * Math.max(1, Math.abs(value));
    return one?.every(isNear);
  });
}

/** What `Punch@60` says: a clip, and its own frames per second. */
function rated(text: string, known: readonly string[]): { name: string; fps?: number } {
  const [, name, rate = ''] = text.match(/^(.+)@([^@]+)$/) ?? [];
  const fps = numberOf(rate);
  return fps > 0 && fps < Infinity && !known.includes(text) ? { name, fps } : { name: text };
}

/**
 * The clips that the command line asks for.
 *
 * @param files The character's first.
 * @param included Names, patterns with `*`, or files, each with `@60` behind it for frames per second of its own; empty for the character's.
 * @param excluded Those that are left out.
 * @throws If there is no such clip, or none is left.
 */
export function chooseClips(
  files: readonly ClipFile[],
  included: readonly string[],
  excluded: readonly string[],
): ChosenClip[] {
  const [{ file, animations }] = files;
  const all = allOf(files);
  if (all.length === 0)
    throw inputError(`bake: ${file} has no animations; export it with some, or pass --clips walk.fbx`);
  const without = clipsNamed(all, files, '--exclude', excluded).map(({ clip }) => clip);
  const wanted = clipsNamed(animations, files, '--clips', included.length > 0 ? included : ['*']);
  const chosen = wanted.filter(
    ({ clip }, i) => !without.includes(clip) && wanted.findIndex((one) => one.clip === clip) === i,
  );
  if (chosen.length > 0) return chosen;
  throw inputError(`bake: --exclude leaves no clip; there are ${listNames(all.map(({ name }) => name))}`);
}

/**
 * Those clips that an option names: by lists of names, patterns and files.
 *
 * @param clips Those that names mean that stand behind no file.
 * @throws If one means none.
 */
function clipsNamed(
  clips: readonly AnimationClip[],
  files: readonly ClipFile[],
  option: string,
  texts: readonly string[],
): ChosenClip[] {
  const known = clips.map(({ name }) => name);
  // What is the name of a clip as it is may have a comma.
  const all = texts.flatMap((text) => (known.includes(text) ? [text] : listed([text])));
  return all.flatMap((text) => {
    const { name, fps } = rated(text, known);
    const [, file, within = '*'] = name.match(OF_FILE) ?? [];
    const ofFile = files.find((one) => one.file === file);
    const [among, wanted] = ofFile === undefined ? [clips, name] : [ofFile.animations, within];
    const escaped = wanted.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
    const names = among.map((clip) => clip.name);
    const pattern = names.includes(wanted) ? null : new RegExp(`^${escaped}$`);
    const found = among.filter((clip) => pattern?.test(clip.name) ?? clip.name === wanted);
    if (found.length > 0) return found.map((clip) => ({ clip, fps }));
    const there = listNames(names, wanted, 40);
    throw inputError(`bake: ${option} has "${wanted}", and there is no such clip; there are ${there}`);
  });
}
