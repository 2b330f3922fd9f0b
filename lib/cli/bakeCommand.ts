import { chmodSync, existsSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { GLTF as Document } from '@gltf-transform/core';
import { MeshoptEncoder, MeshoptSimplifier } from 'meshoptimizer';
import type { Object3D } from 'three';
import type { GLTF } from 'three/addons/loaders/GLTFLoader.js';
import type { BoneTexture } from '../animation/BoneTexture.js';
import { bakeCharacterAsync } from '../baking/bakeCharacter.js';
import type { ClipChoice } from '../baking/planClips.js';
import { extractRootMotion } from '../baking/rootMotion.js';
import type { Character } from '../character/assembleCharacter.js';
import { drawnObjects, unsupportedKind } from '../character/collectParts.js';
import { simplifyGeometry } from '../character/simplifyGeometry.js';
import { SkinnedInstancedMesh } from '../crowd/SkinnedInstancedMesh.js';
import { parseGlb } from '../files/glb.js';
import { type WrittenLevel, writeCharacter } from '../files/writeCharacter.js';
import { listNames } from '../utils/messages.js';
import { bakeVertexCharacterAsync } from '../vertexTextures/bakeVertexTexture.js';
import { attempt, collectWarnings, inputError, usageError } from './CommandError.js';
import {
  type BytesByKind,
  bakedIn,
  bytesByKind,
  describeJoints,
  describeTexture,
  formatBytes,
  formatNumber,
  formatTable,
  type TextureDescription,
} from './formatText.js';
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
  const { input, output } = request;
  const warnings: string[] = [];
  progress.begin(`reading ${input}`);
  const source = await readSource('bake', input, request.outside);
  checkOutput('bake', output, input, request.force);

  checkExtensions(source, warnings);
  checkIsAnimated(source);
  return collectWarnings(warnings, async () => {
    const gltf = await sceneOf(source);
    removeParts(gltf, request.dropParts);
    warnings.push(...unsupportedIn(gltf.scene));
    const character = await bake(gltf, request, progress);
    if (request.levels.length > 0) progress.begin(`making ${request.levels.length} levels of detail`);
    const { made, levels } = await makeLevels(character, request);
    progress.begin(`writing ${output}`);
    await MeshoptEncoder.ready;
    const { mergeMaterials, compressMeshes, sourceAnimations } = request;
    const animations = sourceAnimations ? gltf.animations : [];
    const meshoptEncoder = request.compress ? MeshoptEncoder : undefined;
    const bytes = await attempt(`bake: ${input} cannot be written`, () =>
      writeCharacter(character, {
        source: source.glb,
        gltf,
        levels,
        animations,
        mergeMaterials,
        compressMeshes,
        meshoptEncoder,
      }),
    );
    writeWhole('bake', output, bytes);
    const sizes = { input: source.bytes, output: bytes };
    const json = bakeReport(request, sizes, character.boneTexture, made, warnings);
    return { json, text: bakeText(json) };
  });
}

/** @throws If there is nothing to be baked. */
function checkIsAnimated({ command, file, json }: SourceFile): void {
  if ((json.scenes ?? []).length === 0)
    throw inputError(`${command}: ${file} has no scene; export it with one`);
  if ((json.animations ?? []).length > 0) return;
  if (bakedIn(json) === null) throw inputError(`${command}: ${file} has no animations; export it with some`);
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
  { clips, exclude, rootMotionClips, options, hiddenParts, vat }: BakeRequest,
  progress: Progress,
): Promise<Character> {
  const chosen = chooseClips(animations, clips, exclude);
  const moving = matching(animations, '--root-motion-clips', namesIn(animations, rootMotionClips));
  const rootMotion =
    moving.length > 0
      ? extractRootMotion({ ...options.rootMotion?.options, clips: moving })
      : options.rootMotion;
  progress.begin(`baking ${chosen.length} ${chosen.length === 1 ? 'clip' : 'clips'}`);
  const onProgress = (share: number) => progress.share(share);
  const common = { clips: chosen, hiddenParts, skipUnsupported: true, onProgress };
  try {
    if (!vat) return await bakeCharacterAsync(scene, animations, { ...options, rootMotion, ...common });
    const { fps, precision, maxTextureSize } = options;
    return await bakeVertexCharacterAsync(scene, animations, {
      ...common,
      // Defaults are not undefined there.
      ...(fps !== undefined && { fps }),
      ...(precision && { precision }),
      ...(maxTextureSize !== undefined && { maxTextureSize }),
    });
  } catch (error) {
    throw inputError(`bake: ${(error as Error).message.replace(/^bakeVertexTexture: /, '')}`, error);
  }
}

/** Lines of a picture, of which a level's error shall take no more than one where the command line does not say when it begins. */
const LINES = 1080;
/** No level begins nearer than this, however small its error is. */
const LARGEST_SHARE = 0.5;
/** Each level begins where the character is at most this share of what it was where the level before began. */
const STEP = 0.75;

/**
 * Makes levels of detail of the geometry that crowds of the character have.
 *
 * @returns What is said of them, and as they are written.
 * @throws If crowds cannot be made of it.
 */
async function makeLevels(
  character: Character,
  { levels: requests }: BakeRequest,
): Promise<{ made: MadeLevel[]; levels: WrittenLevel[] }> {
  const made: MadeLevel[] = [];
  if (requests.length === 0) return { made, levels: [] };
  await MeshoptSimplifier.ready;
  return attempt('bake', () => {
    const { geometry } = new SkinnedInstancedMesh(character, 1);
    const levels = requests.map(({ ratio, distance, screenShare }): WrittenLevel => {
      const simplified = simplifyGeometry(geometry, ratio, MeshoptSimplifier);
      const { error, triangles, vertices } = simplified;
      const before = made.at(-1)?.screenShare;
      const share = screenShare ?? shareOf(error, before);
      if (before !== undefined && share >= before) throw new Error(notSmaller(ratio, share, before));
      const start = distance === null ? { screenShare: share } : { distance };
      made.push({ ratio, triangles, error, ...start });
      return { geometry: simplified.geometry, vertices, error, ...start };
    });
    return { made, levels };
  });
}

/** Where a level begins by its own error is only known when it has been made. */
function notSmaller(ratio: number, share: number, before: number): string {
  const percent = (value: number) => `${Number((value * 100).toPrecision(3))}%`;
  return `--levels has ${ratio}@${percent(share)}, and the level before it begins at ${percent(before)} only, by its error; use a smaller share`;
}

/** How large a character is drawn when a level's error takes one line of the picture. */
function shareOf(error: number, before = LARGEST_SHARE / STEP): number {
  const share = Math.min(1 / (LINES * Math.max(error, 1e-6)), before * STEP);
  return Number(share.toPrecision(3));
}

/**
 * The clips of a file that the command line asks for.
 *
 * @param included Names, or patterns with `*`, each with `@60` behind it for frames per second of its own; empty for all clips.
 * @param excluded Names or patterns of those that are left out.
 * @throws If there is no such clip, or none is left.
 */
export function chooseClips<Clip extends { name: string } & NonNullable<ClipChoice['clip']>>(
  clips: readonly Clip[],
  included: readonly string[],
  excluded: readonly string[],
): ClipChoice[] {
  const left = new Set(matching(clips, '--exclude', namesIn(clips, excluded)));
  const chosen: ClipChoice[] =
    included.length === 0
      ? clips.map((clip) => ({ clip }))
      : namesIn(clips, included).flatMap((text) => {
          const { name, fps } = withoutRate(clips, text);
          return matching(clips, '--clips', [name]).map((clip) => ({ clip, fps }));
        });
  const result = chosen.filter(
    ({ clip }, i) => !left.has(clip as Clip) && chosen.findIndex((other) => other.clip === clip) === i,
  );
  if (result.length > 0 || clips.length === 0) return result;
  throw inputError(`bake: --exclude leaves no clip; there are ${listNames(clips.map(({ name }) => name))}`);
}

/**
 * Those clips that names or patterns mean.
 *
 * @throws If one means none.
 */
function matching<Clip extends { name: string }>(
  clips: readonly Clip[],
  option: string,
  texts: readonly string[],
): Clip[] {
  return texts.flatMap((text) => {
    const pattern = patternOf(text);
    const found = clips.filter(({ name }) => name === text);
    const all = found.length > 0 ? found : clips.filter(({ name }) => pattern.test(name));
    if (all.length > 0) return all;
    throw inputError(
      `bake: ${option} has "${text}", and there is no such clip; there are ${listNames(
        clips.map(({ name }) => name),
        text,
        40,
      )}`,
    );
  });
}

/** Splits lists at commas, but for what is the name of a clip as it is. */
function namesIn(clips: readonly { name: string }[], texts: readonly string[]): string[] {
  return texts.flatMap((text) => (clips.some(({ name }) => name === text) ? [text] : listed([text])));
}

/** `Punch@60` is the clip Punch at 60 frames a second, unless a clip has that very name. */
function withoutRate(clips: readonly { name: string }[], text: string): { name: string; fps?: number } {
  const at = text.lastIndexOf('@');
  const fps = numberOf(text.slice(at + 1));
  if (at < 1 || !(fps > 0 && fps < Infinity) || clips.some(({ name }) => name === text))
    return { name: text };
  return { name: text.slice(0, at), fps };
}

/** A pattern in which `*` stands for any text. */
function patternOf(text: string): RegExp {
  const parts = text.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
}

/**
 * Checks that a file can be written, before time is spent on what is to be in it.
 *
 * @throws If its folder is not there, it is a folder, or it is the file that is read and `force` is not set.
 */
function checkOutput(command: string, output: string, input: string, force: boolean): void {
  const folder = dirname(output);
  if (!existsSync(folder))
    throw inputError(`${command}: there is no folder ${folder} to write ${output} to; make it`);
  if (!existsSync(output)) return;
  if (!statSync(output).isFile()) throw inputError(`${command}: ${output} is no file that could be written`);
  if (force || !existsSync(input) || realpathSync(output) !== realpathSync(input)) return;
  throw usageError(`${command}: ${output} is the file that is read; write to another one, or pass --force`);
}

/** Writes a file as a whole or not at all: nobody ever finds half of it. Links and who may read it stay as they were. */
function writeWhole(command: string, file: string, bytes: Uint8Array): void {
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
    throw inputError(`${command}: ${file} cannot be written: ${(error as Error).message}`, error);
  }
}

/** A level of detail that was made; either `distance` or `screenShare` says where it begins. */
interface MadeLevel {
  /** Share of the triangles that was asked for. */
  ratio: number;
  triangles: number;
  /** Share of the character's size by which its surface is off. */
  error: number;
  distance?: number;
  screenShare?: number;
}

/** What `bake` tells of what it did, with `--json` as it is. */
export interface BakeReport extends TextureDescription {
  input: { file: string; bytes: number };
  output: { file: string; bytes: number; bytesByKind: BytesByKind };
  clips: { name: string; duration: number; frames: number; fps: number; rootMotion: boolean }[];
  levels: MadeLevel[];
  warnings: string[];
}

function bakeReport(
  request: BakeRequest,
  bytes: { input: number; output: Uint8Array },
  boneTexture: BoneTexture,
  levels: MadeLevel[],
  warnings: string[],
): BakeReport {
  const json = parseGlb(bytes.output).json as unknown as Document.IGLTF;
  return {
    input: { file: request.input, bytes: bytes.input },
    output: {
      file: request.output,
      bytes: bytes.output.byteLength,
      bytesByKind: bytesByKind(json, 0),
    },
    ...describeTexture(boneTexture),
    clips: boneTexture.clips.map(({ name, duration, count, fps, rootMotion }) => {
      return { name, duration, frames: count, fps, rootMotion: rootMotion !== null };
    }),
    levels,
    warnings,
  };
}

/** Says why a file is larger than its source, and what would help. */
function whyLarger({ input, output: { bytes, bytesByKind }, precision }: BakeReport): string {
  const help = precision === 'float' ? '; --precision half takes about half of that' : '';
  return `It is ${formatBytes(bytes - input.bytes)} larger than its source, as ${formatBytes(bytesByKind.baked)} are what was baked${help}.`;
}

/** The report in words. */
function bakeText(all: BakeReport): string {
  const { input, output, clips, levels, ...report } = all;
  const { encoding, textureBytes, warnings } = report;
  const sampled =
    encoding === 'tracks' ? '' : `, ${clips.reduce((sum, { frames }) => sum + frames, 0)} frames`;
  const lines = [
    `${output.file}: ${formatBytes(output.bytes)} (${input.file}: ${formatBytes(input.bytes)})`,
    `${clips.length} clips${sampled}, ${describeJoints(report)}: ${formatBytes(output.bytesByKind.baked)} in the file, ${formatBytes(textureBytes)} on the GPU`,
  ];
  if (output.bytes > input.bytes) lines.push(whyLarger(all));
  if (levels.length > 0) {
    const rows = levels.map(({ ratio, triangles, error, distance, screenShare }) => [
      `${formatNumber(ratio * 100)} %`,
      String(triangles),
      `${formatNumber(error * 100)} %`,
      distance === undefined ? `${formatNumber((screenShare ?? 0) * 100)} % of the height` : String(distance),
    ]);
    lines.push('', ...formatTable(['level', 'triangles', 'error', 'from'], rows));
  }
  return [...lines, ...warnings.map((warning) => `Warning: ${warning}`)].join('\n');
}
