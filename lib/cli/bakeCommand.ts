import { chmodSync, existsSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { GLTF as Document } from '@gltf-transform/core';
import { MeshoptEncoder, MeshoptSimplifier } from 'meshoptimizer';
import type { AnimationClip, Object3D } from 'three';
import type { GLTF } from 'three/addons/loaders/GLTFLoader.js';
import type { Precision } from '../animation/BoneTextureData.js';
import { bakeCharacterAsync } from '../baking/bakeCharacter.js';
import { frames } from '../baking/frames.js';
import type { ClipChoice } from '../baking/planClips.js';
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
import { attempt, collectWarnings, inputError, usageError } from './CommandError.js';
import { type BakeReport, bakeText, bytesByKind, describeCharacter, formatNumber } from './formatText.js';
import { removeParts, sceneOf } from './loadScene.js';
import { type BakeRequest, bakeRequest, listed, numberOf } from './options.js';
import type { Progress, Result } from './Progress.js';
import { checkExtensions, readSource, type SourceFile } from './readSource.js';

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
  checkIsAnimated(source);
  return collectWarnings(warnings, async () => {
    const gltf = await sceneOf(source);
    removeParts(gltf, listed(texts('drop-parts')));
    warnings.push(...unsupportedIn(gltf.scene));
    const character = await bake(gltf, request, progress);
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
function checkIsAnimated({ command, file, json }: SourceFile): void {
  if ((json.scenes ?? []).length === 0)
    throw inputError(`${command}: ${file} has no scene; export it with one`);
  if ((json.animations ?? []).length > 0) return;
  if (storedIn(json as DocumentOfFile).size === 0)
    throw inputError(`${command}: ${file} has no animations; export it with some`);
  throw inputError(
    `${command}: ${file} is baked already, without its animations; bake the file that it was made from`,
  );
}

/** Warnings of what cannot be made part of a crowd. */
function unsupportedIn(scene: Object3D): string[] {
  return drawnObjects(scene)
    .filter(unsupportedKind)
    .map((node) => `"${node.name}" (${unsupportedKind(node)}) cannot be part of a crowd, and is left out.`);
}

async function bake(
  { scene, animations }: GLTF,
  { isGiven, text, number, texts }: BakeRequest,
  progress: Progress,
): Promise<Character> {
  const clips = chooseClips(animations, texts('clips'), texts('exclude'));
  const moving = clipsNamed(animations, '--root-motion-clips', texts('root-motion-clips'));
  const vertical = isGiven('root-motion-vertical');
  const yaw = !isGiven('no-root-motion-yaw');
  const joint = text('root-motion-joint');
  const hasRootMotion =
    isGiven('root-motion') || moving.length > 0 || vertical || !yaw || joint !== undefined;
  progress.begin(`baking ${clips.length} ${clips.length === 1 ? 'clip' : 'clips'}`);
  const options = {
    clips,
    hiddenParts: listed(texts('hidden-parts')),
    fps: number('fps'),
    precision: text<Precision>('precision'),
    maxTextureSize: number('max-texture-size'),
    skipUnsupported: true,
    onProgress: (share: number) => progress.share(share),
  };
  return attempt<Character>('bake', () => {
    if (isGiven('vat')) return bakeVertexCharacterAsync(scene, animations, options);
    return bakeCharacterAsync(scene, animations, {
      ...options,
      encoding: text('encoding') === 'frames' ? frames : undefined,
      maxError: number('max-error'),
      joints: text<'all' | 'used'>('joints'),
      sockets: listed(texts('sockets')),
      morphTargets: !isGiven('no-morph-targets'),
      ...(hasRootMotion && {
        rootMotion: extractRootMotion({
          joint,
          vertical,
          yaw,
          ...(moving.length > 0 && { clips: moving.map(({ clip }) => clip) }),
        }),
      }),
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
      if (before !== undefined && share >= before) throw new Error(notSmaller(ratio, share, before));
      before = share;
      return { geometry, vertices, error, screenShare: share };
    });
  });
}

/** Where a level begins by its own error is only known when it has been made. */
function notSmaller(ratio: number, share: number, before: number): string {
  const [own, last] = [share, before].map((value) => `${formatNumber(value * 100)}%`);
  return `--levels has ${ratio}@${own}, and the level before it begins at ${last} only, by its error; use a smaller share`;
}

/** How large a character is drawn when a level's error takes one line of the picture. */
function shareOf(error: number, before = LARGEST_SHARE / STEP): number {
  const share = Math.min(1 / (LINES * Math.max(error, 1e-6)), before * STEP);
  return Number(formatNumber(share));
}

/**
 * The clips of a file that the command line asks for.
 *
 * @param included Names, or patterns with `*`, each with `@60` behind it for frames per second of its own; empty for all clips.
 * @param excluded Names or patterns of those that are left out.
 * @throws If there is no such clip, or none is left.
 */
export function chooseClips(
  clips: readonly AnimationClip[],
  included: readonly string[],
  excluded: readonly string[],
): ClipChoice[] {
  const chosen = new Map<AnimationClip, number | undefined>(
    included.length === 0 ? clips.map((clip) => [clip, undefined]) : [],
  );
  for (const { clip, fps } of clipsNamed(clips, '--clips', included))
    if (!chosen.has(clip)) chosen.set(clip, fps);
  for (const { clip } of clipsNamed(clips, '--exclude', excluded)) chosen.delete(clip);
  if (chosen.size > 0 || clips.length === 0) return Array.from(chosen, ([clip, fps]) => ({ clip, fps }));
  throw inputError(`bake: --exclude leaves no clip; there are ${listNames(clips.map(({ name }) => name))}`);
}

/**
 * Those clips that an option names: by lists of names or patterns, of `--clips` with rates.
 *
 * @throws If one means none.
 */
function clipsNamed(clips: readonly AnimationClip[], option: string, texts: readonly string[]) {
  const names = clips.map(({ name }) => name);
  // What is the name of a clip as it is may have a comma.
  const all = texts.flatMap((text) => (names.includes(text) ? [text] : listed([text])));
  return all.flatMap((text) => {
    const [, before, rate = ''] = text.match(/^(.+)@([^@]+)$/) ?? [];
    const fps = numberOf(rate);
    const isRated = option === '--clips' && fps > 0 && fps < Infinity && !names.includes(text);
    const wanted = isRated ? before : text;
    const escaped = wanted.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
    const pattern = names.includes(wanted) ? null : new RegExp(`^${escaped}$`);
    const found = clips.filter(({ name }) => pattern?.test(name) ?? name === wanted);
    if (found.length > 0) return found.map((clip) => ({ clip, fps: isRated ? fps : undefined }));
    const known = listNames(names, wanted, 40);
    throw inputError(`bake: ${option} has "${wanted}", and there is no such clip; there are ${known}`);
  });
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
    throw inputError(`bake: ${file} cannot be written: ${(error as Error).message}`, error);
  }
}
