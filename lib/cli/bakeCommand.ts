import { chmodSync, existsSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, parse } from 'node:path';
import type { GLTF as Document } from '@gltf-transform/core';
import { MeshoptEncoder, MeshoptSimplifier } from 'meshoptimizer';
import { type AnimationClip, type Object3D, PropertyBinding } from 'three';
import type { GLTF } from 'three/addons/loaders/GLTFLoader.js';
import type { Precision } from '../animation/BoneTextureData.js';
import { bakeCharacterAsync } from '../baking/bakeCharacter.js';
import { frames } from '../baking/frames.js';
import { retargetClips } from '../baking/retargetClips.js';
import { extractRootMotion } from '../baking/rootMotion.js';
import type { Character } from '../character/assembleCharacter.js';
import { drawnObjects, unsupportedKind } from '../character/collectParts.js';
import { simplifyGeometry } from '../character/simplifyGeometry.js';
import { SkinnedInstancedMesh } from '../crowd/SkinnedInstancedMesh.js';
import { parseGlb } from '../files/glb.js';
import { type DocumentOfFile, storedIn } from '../files/StoredCharacter.js';
import { type WrittenLevel, writeCharacter } from '../files/writeCharacter.js';
import { listNames } from '../utils/messages.js';
import { bakeVertexCharacterAsync } from '../vertexTextures/bakeVertexTexture.js';
import { type BakeReport, bakeText, bytesByKind, describeCharacter, formatNumber } from './formatText.js';
import { attempt, collectWarnings, inputError, type Progress, type Result, usageError } from './messages.js';
import { type BakeRequest, bakeRequest, listed, numberOf } from './options.js';
import {
  checkExtensions,
  type Loaded,
  loadModel,
  readSource,
  removeParts,
  type SourceFile,
  sceneOf,
} from './readSource.js';

/**
 * Bakes the clips of a file, and writes it again with what was baked.
 *
 * @throws A CommandError if the command line or the file is wrong.
 */
export async function bakeCommand(args: string[], progress: Progress): Promise<Result> {
  const request = bakeRequest(args);
  const { input, output, isGiven, texts } = request;
  const warnings: string[] = [];
  progress.begin(`reading ${input}`);
  const source = await readSource('bake', input, isGiven('outside'));
  checkOutput(output, input, isGiven('force'));

  checkExtensions(source, warnings);
  checkIsSource(source);
  return collectWarnings(warnings, async () => {
    const gltf = await sceneOf(source);
    removeParts(gltf, listed(texts('drop-parts')));
    for (const node of drawnObjects(gltf.scene).filter(unsupportedKind))
      warnings.push(`"${node.name}" (${unsupportedKind(node)}) cannot be part of a crowd, and is left out.`);
    const character = await bake(gltf, request, warnings, progress);
    if (request.levels.length > 0) progress.begin(`making ${request.levels.length} levels of detail`);
    const levels = await makeLevels(character, request);
    progress.begin(`writing ${output}`);
    await MeshoptEncoder.ready;
    const bytes = await attempt(`bake: ${input} cannot be written`, () =>
      writeCharacter(character, {
        source: source.glb,
        gltf,
        levels,
        animations: isGiven('source-animations') ? gltf.animations : [],
        mergeMaterials: isGiven('merge-materials'),
        compressMeshes: isGiven('compress-meshes'),
        meshoptEncoder: isGiven('no-compress') ? undefined : MeshoptEncoder,
      }),
    );
    writeWhole(output, bytes);
    const json: BakeReport = {
      input: { file: input, bytes: source.bytes },
      output: {
        file: output,
        bytes: bytes.byteLength,
        bytesByKind: bytesByKind(parseGlb(bytes).json as unknown as Document.IGLTF, 0),
      },
      ...describeCharacter(character),
      levels: levels.map(({ geometry, vertices: _, ...level }) => ({
        triangles: (geometry?.index?.count ?? 0) / 3,
        ...level,
      })),
      warnings,
    };
    return { json, text: bakeText(json) };
  });
}

/** @throws If there is nothing to be baked. */
function checkIsSource({ command, file, json }: SourceFile): void {
  if ((json.scenes ?? []).length === 0)
    throw inputError(`${command}: ${file} has no scene; export it with one`);
  if ((json.animations ?? []).length === 0 && storedIn(json as DocumentOfFile).size > 0)
    throw inputError(
      `${command}: ${file} is baked already, without its animations; bake the file that it was made from`,
    );
}

async function bake(model: GLTF, request: BakeRequest, warnings: string[], progress: Progress) {
  const { isGiven, text, number, texts } = request;
  const { chosen, moving } = await clipsOf(model, request, warnings);
  const clips = chosen.map(({ clip }) => clip);
  const vertical = isGiven('root-motion-vertical');
  const yaw = !isGiven('no-root-motion-yaw');
  const joint = text('root-motion-joint');
  const hasRootMotion = isGiven('root-motion') || moving || vertical || !yaw || joint !== undefined;
  progress.begin(`baking ${clips.length} ${clips.length === 1 ? 'clip' : 'clips'}`);
  const options = {
    clips: chosen,
    hiddenParts: listed(texts('hidden-parts')),
    fps: number('fps'),
    precision: text<Precision>('precision'),
    maxTextureSize: number('max-texture-size'),
    skipUnsupported: true,
    onProgress: (share: number) => progress.share(share),
  };
  return attempt<Character>('bake', () => {
    if (isGiven('vat')) return bakeVertexCharacterAsync(model.scene, clips, options);
    return bakeCharacterAsync(model.scene, clips, {
      ...options,
      encoding: text('encoding') === 'frames' ? frames : undefined,
      maxError: number('max-error'),
      joints: text<'all' | 'used'>('joints'),
      sockets: listed(texts('sockets')),
      morphTargets: !isGiven('no-morph-targets'),
      rootMotion: hasRootMotion ? extractRootMotion({ joint, vertical, yaw, clips: moving }) : undefined,
    });
  });
}

/** Lines of a picture, of which a level's error shall take no more than one where the command line does not say when it begins. */
const LINES = 1080;
/** No level begins nearer than this, however small its error is. */
const LARGEST_SHARE = 0.5;
/** Each level begins where the character is at most this share of what it was where the level before began. */
const STEP = 0.75;

/** Makes levels of detail of the geometry that crowds of the character have. @throws If crowds cannot be made of it. */
async function makeLevels(character: Character, { levels }: BakeRequest): Promise<WrittenLevel[]> {
  if (levels.length === 0) return [];
  await MeshoptSimplifier.ready;
  return attempt('bake', () => {
    const source = new SkinnedInstancedMesh(character, 1).geometry;
    let before: number | undefined;
    return levels.map(({ ratio, ...start }) => {
      const { geometry, vertices, error } = simplifyGeometry(source, ratio, MeshoptSimplifier);
      if (start.distance !== undefined) return { geometry, vertices, error, ...start };
      const share = start.screenShare ?? shareOf(error, before);
      // Where a level begins by its own error is only known when it has been made.
      if (before !== undefined && share >= before) {
        const [own, last] = [share, before].map((value) => `${formatNumber(value * 100)}%`);
        throw new Error(
          `--levels has ${ratio}@${own}, and the level before it begins at ${last} only, by its error; use a smaller share`,
        );
      }
      before = share;
      return { geometry, vertices, error, screenShare: share };
    });
  });
}

/** How large a character is drawn when a level's error takes one line of the picture. */
function shareOf(error: number, before = LARGEST_SHARE / STEP): number {
  const share = Math.min(1 / (LINES * Math.max(error, 1e-6)), before * STEP);
  return Number(formatNumber(share));
}

/**
 * Checks that a file can be written, before time is spent on what is to be in it.
 *
 * @throws If its folder is not there, it is a folder, or it is the file that is read and `force` is not set.
 */
function checkOutput(output: string, input: string, force: boolean): void {
  const folder = dirname(output);
  if (!existsSync(folder))
    throw inputError(`bake: there is no folder ${folder} to write ${output} to; make it`);
  if (!existsSync(output)) return;
  if (!statSync(output).isFile()) throw inputError(`bake: ${output} is no file that could be written`);
  if (force || !existsSync(input) || realpathSync(output) !== realpathSync(input)) return;
  throw usageError(`bake: ${output} is the file that is read; write to another one, or pass --force`);
}

/** Writes a file as a whole or not at all: nobody ever finds half of it. Links and who may read it stay as they were. */
function writeWhole(file: string, bytes: Uint8Array): void {
  const before = existsSync(file);
  const target = before ? realpathSync(file) : file;
  // In the same folder, since files cannot be renamed from one disk to another.
  const unfinished = `${target}.${process.pid}.tmp`;
  try {
    writeFileSync(unfinished, bytes);
    if (before) chmodSync(unfinished, statSync(target).mode);
    renameSync(unfinished, target);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw inputError(`bake: ${file} cannot be written: ${(error as Error).message}`);
  }
}

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
async function clipsOf(
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
    const options = { names: { from, to }, ik: isGiven('clips-ik') };
    const made = await attempt(what, () => retargetClips(clips, source, scene, options));
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
