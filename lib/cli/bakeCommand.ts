import { chmodSync, existsSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { GLTF } from '@gltf-transform/core';
import { MeshoptEncoder, MeshoptSimplifier } from 'meshoptimizer';
import type { AnimationClip, Object3D } from 'three';
import type { BoneTexture } from '../animation/BoneTexture.js';
import type { BakeOptions } from '../baking/BakeOptions.js';
import { bakeBoneTextureAsync } from '../baking/bakeCharacter.js';
import type { ClipChoice } from '../baking/planClips.js';
import { extractRootMotion } from '../baking/rootMotion.js';
import { assembleCharacter } from '../character/assembleCharacter.js';
import { drawnObjects, unsupportedKind } from '../character/collectParts.js';
import { mergeMaterials as merger } from '../character/mergeMaterials.js';
import { simplifyGeometry } from '../character/simplifyGeometry.js';
import { SkinnedInstancedMesh } from '../crowd/SkinnedInstancedMesh.js';
import { parseGlb } from '../files/glb.js';
import { type WriteOptions, writeBoneTexture } from '../files/writeBoneTexture.js';
import { listNames } from '../utils/messages.js';
import { bakeVertexTextureAsync } from '../vertexTextures/bakeVertexTexture.js';
import { attempt, collectWarnings, inputError, usageError } from './CommandError.js';
import {
  type BytesByKind,
  bytesByKind,
  describeJoints,
  describeTexture,
  formatBytes,
  formatNumber,
  formatTable,
  type TextureDescription,
} from './formatText.js';
import { containerOf } from './loadScene.js';
import { type BakeRequest, bakeRequest, listed, numberOf } from './options.js';
import type { Progress, Result } from './Progress.js';
import { checkVersion, readSource } from './readSource.js';

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
  checkVersion(source, 'or bake the file that this one was made from');
  checkOutput('bake', output, input, request.force);

  return collectWarnings(warnings, async () => {
    const { glb, gltf, clips } = await containerOf(source, request, warnings);
    warnings.push(...unsupportedIn(gltf.scene));
    const boneTexture = await bake(gltf.scene, clips, request, progress);
    if (request.levels.length > 0) progress.begin(`making ${request.levels.length} levels of detail`);
    const { made, written: levels } = await makeLevels(gltf.scene, boneTexture, request);
    progress.begin(`writing ${output}`);
    await MeshoptEncoder.ready;
    const { clips: _, rootMotion: __, encoding, ...bakeOptions } = request.options;
    const options: WriteOptions = {
      into: glb,
      meshoptEncoder: request.compress ? MeshoptEncoder : undefined,
      name: gltf.scene.name || undefined,
      bakeOptions: { ...bakeOptions, encoding: encoding?.name },
      hiddenParts: request.hiddenParts.length > 0 ? request.hiddenParts : undefined,
      mergeMaterials: request.mergeMaterials,
      ...levels,
    };
    const bytes = await attempt(`bake: ${input} cannot be added to`, () =>
      writeBoneTexture(boneTexture, options),
    );
    writeWhole('bake', output, bytes);
    const sizes = { input: source.bytes, output: bytes };
    const json = bakeReport(request, sizes, boneTexture, made, warnings);
    return { json, text: bakeText(json) };
  });
}

/** Warnings of what cannot be made part of a crowd. */
function unsupportedIn(scene: Object3D): string[] {
  return drawnObjects(scene)
    .filter(unsupportedKind)
    .map((node) => `"${node.name}" (${unsupportedKind(node)}) cannot be part of a crowd, and is left out.`);
}

async function bake(
  scene: Object3D,
  clips: readonly AnimationClip[],
  request: BakeRequest,
  progress: Progress,
): Promise<BoneTexture> {
  const chosen = chooseClips(clips, request.clips, request.exclude);
  const moving = matching(clips, '--root-motion-clips', namesIn(clips, request.rootMotionClips));
  const options: BakeOptions = { ...request.options, clips: chosen };
  if (moving.length > 0)
    options.rootMotion = extractRootMotion({ ...options.rootMotion?.options, clips: moving });
  progress.begin(`baking ${chosen.length} ${chosen.length === 1 ? 'clip' : 'clips'}`);
  try {
    const onProgress = (share: number) => progress.share(share);
    if (!request.vat) return await bakeBoneTextureAsync(scene, clips, { ...options, onProgress });
    const { fps, precision, maxTextureSize } = options;
    return await bakeVertexTextureAsync(scene, clips, {
      clips: chosen,
      onProgress,
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
 * Makes levels of detail of the geometry that crowds of the character will have.
 *
 * @returns What is said of them, and as they are written.
 * @throws If crowds cannot be made of it, or there is no such part to be hidden.
 */
async function makeLevels(
  scene: Object3D,
  boneTexture: BoneTexture,
  { levels, hiddenParts, mergeMaterials }: BakeRequest,
): Promise<{ made: MadeLevel[]; written: Pick<WriteOptions, 'levels' | 'geometry'> }> {
  if (levels.length === 0 && hiddenParts.length === 0) return { made: [], written: {} };
  await MeshoptSimplifier.ready;
  const made: MadeLevel[] = [];
  return attempt('bake', () => {
    // Textures are empty here. Pages may merge materials by them: vertices are the same, and loading makes the groups of triangles.
    const merging = mergeMaterials ? merger({ textures: false }) : undefined;
    const options = { hiddenParts, mergeMaterials: merging, skipUnsupported: true };
    const { geometry } = new SkinnedInstancedMesh(assembleCharacter(scene, boneTexture, options), 1);
    if (levels.length === 0) return { made, written: {} };
    const list = levels.map(({ ratio, distance, screenShare }) => {
      const simplified = simplifyGeometry(geometry, ratio, MeshoptSimplifier);
      const { error, triangles, vertices } = simplified;
      const before = made.at(-1)?.screenShare;
      const share = screenShare ?? shareOf(error, before);
      if (before !== undefined && share >= before) throw new Error(notSmaller(ratio, share, before));
      const start = distance === null ? { screenShare: share } : { distance };
      made.push({ ratio, triangles, error, ...start });
      return { geometry: simplified.geometry, vertices, error, ...start };
    });
    return { made, written: { levels: list, geometry } };
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
  const json = parseGlb(bytes.output).json as unknown as GLTF.IGLTF;
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
  const { baked, levels } = bytesByKind;
  const levelsToo = levels > 0 ? ` and ${formatBytes(levels)} levels of detail` : '';
  const help = precision === 'float' ? '; --precision half takes about half of that' : '';
  return `It is ${formatBytes(bytes - input.bytes)} larger than its source, as ${formatBytes(baked)} are what was baked${levelsToo}${help}.`;
}

/** The report in words. */
function bakeText(all: BakeReport): string {
  const { input, output, clips, levels, ...report } = all;
  const { encoding, textureBytes, warnings } = report;
  const { baked, animations } = output.bytesByKind;
  const sampled =
    encoding === 'tracks' ? '' : `, ${clips.reduce((sum, { frames }) => sum + frames, 0)} frames`;
  const lines = [
    `${output.file}: ${formatBytes(output.bytes)} (${input.file}: ${formatBytes(input.bytes)})`,
    `${clips.length} clips${sampled}, ${describeJoints(report)}: ${formatBytes(baked)} in the file, ${formatBytes(textureBytes)} on the GPU`,
  ];
  if (animations > 0) {
    lines.push(
      `The source's own animations take ${formatBytes(animations)} more; --drop-source-animations leaves them out.`,
    );
  }
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
