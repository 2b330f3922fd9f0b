import { MeshoptDecoder } from 'meshoptimizer';
import type { AnimationClip, Object3D } from 'three';
import type { GLTF } from 'three/addons/loaders/GLTFLoader.js';
import type { BoneTexture } from '../animation/BoneTexture.js';
import { bakeBoneTextureAsync } from '../baking/bakeCharacter.js';
import { frames } from '../baking/frames.js';
import type { CharacterJSON, LevelJSON } from '../files/bakedJSON.js';
import { parseGlb } from '../files/glb.js';
import { charactersOf, readTexture } from '../files/readCharacters.js';
import { VertexTexture } from '../vertexTextures/VertexTexture.js';
import { attempt, collectWarnings, inputError } from './CommandError.js';
import { clipErrors, trackCounts } from './clipErrors.js';
import {
  type BytesByKind,
  bytesByKind,
  describeJoints,
  describeTexture,
  extensionOf,
  formatBytes,
  formatNumber,
  formatTable,
  type TextureDescription,
} from './formatText.js';
import { mergeBuffers, sceneOf, unpackDraco } from './loadScene.js';
import { type OptionTable, onlyFile, parseOptions } from './options.js';
import type { Progress, Result } from './Progress.js';
import { checkVersion, createIO, openDocument, readSource, type SourceFile } from './readSource.js';

const INSPECT_OPTIONS = {
  'no-errors': { type: 'boolean' },
  outside: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies OptionTable;

/**
 * Says what is in a file: what was baked into it, or what baking would make of it, and how near that is to the source.
 *
 * @throws A CommandError if the command line or the file is wrong.
 */
export async function inspectCommand(args: string[], progress: Progress): Promise<Result> {
  const parsed = parseOptions('inspect', INSPECT_OPTIONS, args);
  const file = onlyFile(parsed, 'inspect');
  const warnings: string[] = [];
  progress.begin(`reading ${file}`);
  const source = await readSource('inspect', file, parsed.flag('outside'));
  checkVersion(source, 'or inspect the file that this one was made from');
  const { json, bytes } = source;
  const external = externalImages(source);

  const work = () => inspectCharacters(source, !parsed.flag('no-errors'), progress, warnings);
  const characters = await collectWarnings(warnings, work);
  const report: InspectReport = {
    file,
    bytes,
    bytesByKind: bytesByKind(json, external),
    version: extensionOf(json)?.version ?? null,
    characters,
    warnings,
  };
  return { json: report, text: inspectText(report) };
}

async function inspectCharacters(
  source: SourceFile,
  errors: boolean,
  progress: Progress,
  warnings: string[],
): Promise<InspectedCharacter[]> {
  const glb = source.glb ?? (await asGlb(source, warnings));
  const gltf = (source.json.scenes ?? []).length > 0 ? await sceneOf(source, glb) : null;
  // Of a .gltf the views have other numbers where it has been written as a .glb.
  const { json } = parseGlb(glb);
  const inspected: InspectedCharacter[] = [];
  const baked = (await attempt('inspect', () => charactersOf(json) ?? [])) as unknown as CharacterJSON[];
  for (const [index, character] of baked.entries()) {
    const boneTexture = await read(source, glb, character, index);
    const root = gltf === null ? null : rootOf(gltf, character);
    const clips = await inspectClips(root, gltf?.animations ?? [], boneTexture, errors, progress);
    const name = character.name ?? root?.name ?? '';
    const levels = levelsOf(character);
    inspected.push({ name, baked: true, ...describeTexture(boneTexture), clips, levels });
  }
  if (inspected.length > 0) return inspected;

  const root = gltf?.scene ?? null;
  if (root === null || gltf === null)
    throw inputError(`inspect: ${source.file} has neither a scene nor a baked animation`);
  const boneTexture = await attempt('inspect', () => bakeBoneTextureAsync(root, gltf.animations));
  const clips = await inspectClips(root, gltf.animations, boneTexture, errors, progress);
  return [{ name: root.name, baked: false, ...describeTexture(boneTexture), clips, levels: [] }];
}

async function asGlb(source: SourceFile, warnings: string[]): Promise<Uint8Array> {
  const document = await openDocument(source, warnings);
  mergeBuffers(document);
  unpackDraco(document);
  return (await createIO(warnings, false)).writeBinary(document);
}

async function read({ file }: SourceFile, glb: Uint8Array, character: CharacterJSON, index: number) {
  const { json, binary } = parseGlb(glb);
  const source = {
    json,
    buffer: async () => binary,
    meshoptDecoder: MeshoptDecoder,
    vertexTextures: VertexTexture,
    frames,
  };
  return attempt(`inspect: ${file}`, () =>
    readTexture(source, character as unknown as Record<string, unknown>, index),
  );
}

/** What a character's clips play in. */
function rootOf({ scene, scenes, parser }: GLTF, { scene: index, node }: CharacterJSON): Object3D {
  if (node === undefined) return (index === undefined ? null : scenes[index]) ?? scene;
  for (const [object, { nodes }] of parser.associations) if (nodes === node) return object as Object3D;
  return scene;
}

async function inspectClips(
  root: Object3D | null,
  clips: readonly AnimationClip[],
  boneTexture: BoneTexture,
  errors: boolean,
  progress: Progress,
): Promise<InspectedClip[]> {
  const counts = root === null ? [] : trackCounts(root, clips, true);
  const worst = new Map<number, InspectedClip['error']>();
  if (errors && root !== null && clips.length > 0) {
    progress.begin(`comparing ${boneTexture.clips.length} clips with the source`);
    // Of tracks without a target the mixer warns too, which the report lists as dropped.
    await collectWarnings([], () => {
      for (const { error, time } of clipErrors(root, clips, boneTexture)) {
        worst.set(worst.size, error === null ? null : { worst: error, time });
        progress.share(worst.size / boneTexture.clips.length);
      }
    });
  }
  return boneTexture.clips.map(({ name, duration, count, fps, rootMotion, markers }, i) => ({
    name,
    duration,
    frames: count,
    fps,
    rootMotion: rootMotion !== null,
    markers,
    textureBytes: clipBytes(boneTexture, i),
    tracks: counts[clips.findIndex((clip) => clip.name === name)] ?? null,
    error: worst.get(i) ?? null,
  }));
}

function clipBytes({ data: { tracks }, byteLength, frameCount, clips }: BoneTexture, index: number): number {
  if (tracks === null) return Math.round((byteLength / frameCount) * clips[index].count);
  const { frames, stride } = tracks.clips[index];
  return frames * stride * (tracks.shorts === null ? 16 : 8);
}

function levelsOf({ levels }: CharacterJSON): InspectedCharacter['levels'] {
  return (levels?.list ?? []).map(({ indices, distance, screenShare, hysteresis, influences, error }) => {
    const corners = indices === undefined ? 0 : (levels?.arrays[indices].length ?? 0);
    return { triangles: corners / 3, error, distance, screenShare, hysteresis, influences };
  });
}

/** Bytes of images in files of their own. */
function externalImages({ json: { images = [] }, content: { resources } }: SourceFile): number {
  return images.reduce(
    (sum, { uri }) => sum + (uri === undefined ? 0 : (resources[uri]?.byteLength ?? 0)),
    0,
  );
}

/** What `inspect` tells of a clip. */
interface InspectedClip {
  name: string;
  /** Seconds. */
  duration: number;
  /** Frames that are stored, and how many of them a second. */
  frames: number;
  fps: number;
  rootMotion: boolean;
  markers: { time: number; name: string }[];
  /** Bytes that its keys or frames take on the GPU. */
  textureBytes: number;
  /** Tracks of the source, and those that baking leaves out; null if the file has no such clip any more. */
  tracks: { stored: number; dropped: string[] } | null;
  /**
   * Largest distance of a vertex from where three.js's mixer puts it, as a share of the height, and at which second; null if
   * the file has no such clip any more.
   */
  error: { worst: number; time: number } | null;
}

/** What `inspect` tells of a character. */
interface InspectedCharacter extends TextureDescription {
  name: string;
  /** False if the file has not been baked: then this is what baking would make of it. */
  baked: boolean;
  clips: InspectedClip[];
  levels: (Omit<LevelJSON, 'indices' | 'groups'> & { triangles: number })[];
}

/** What `inspect` tells of a file, with `--json` as it is. */
export interface InspectReport {
  file: string;
  bytes: number;
  bytesByKind: BytesByKind;
  /** Of the extension `SIM_baked_animation`; null if the file has not been baked. */
  version: number | null;
  characters: InspectedCharacter[];
  warnings: string[];
}

const KINDS: Record<keyof BytesByKind, string> = {
  geometry: 'geometry',
  textures: 'textures',
  animations: "the source's animations",
  baked: 'baked animation',
  levels: 'levels of detail',
  other: 'skins and other',
  json: 'JSON',
};

/** The report in words. */
function inspectText({ file, bytes, bytesByKind, version, characters, warnings }: InspectReport): string {
  const state =
    version === null ? 'not baked; this is what `bake` would make of it' : `baked, version ${version}`;
  const kinds = Object.entries(bytesByKind).filter(([, size]) => size > 0);
  const sizes = kinds.map(([kind, size]) => [KINDS[kind as keyof BytesByKind], formatBytes(size)]);
  const lines = [`${file}: ${formatBytes(bytes)}, ${state}`, '', ...formatTable(['part', 'size'], sizes)];
  for (const character of characters) lines.push('', ...characterLines(character));
  return [...lines, ...(warnings.length > 0 ? [''] : []), ...warnings.map((text) => `Warning: ${text}`)].join(
    '\n',
  );
}

function characterLines(character: InspectedCharacter): string[] {
  const { name, morphTargets, clips, levels, textureBytes } = character;
  const morphs = morphTargets.length === 0 ? '' : `, ${morphTargets.length} morph targets`;
  const lines = [
    `${name || 'Character'}: ${clips.length} clips${morphs}, ${describeJoints(character)}, ${formatBytes(textureBytes)} on the GPU`,
    '',
    ...formatTable(
      ['clip', 'seconds', 'frames', 'fps', 'size', 'tracks', 'dropped', 'worst error', 'at', 'more'],
      clips.map((clip) => [
        clip.name,
        clip.duration.toFixed(2),
        String(clip.frames),
        formatNumber(clip.fps),
        formatBytes(clip.textureBytes),
        clip.tracks === null ? '–' : String(clip.tracks.stored),
        clip.tracks === null ? '–' : String(clip.tracks.dropped.length),
        clip.error === null ? '–' : clip.error.worst.toExponential(1),
        clip.error === null ? '–' : `${clip.error.time.toFixed(2)} s`,
        [...(clip.rootMotion ? ['root motion'] : []), ...clip.markers.map((marker) => marker.name)].join(
          ', ',
        ),
      ]),
    ),
  ];
  if (clips.some(({ error }) => error !== null)) {
    lines.push(
      '',
      'Errors: the farthest vertex from where an AnimationMixer puts it, as a share of the height.',
    );
  }
  if (clips.some(({ tracks }) => tracks === null)) {
    lines.push(
      '',
      'Without tracks and errors: clips whose source is not in the file, as --drop-source-animations leaves it out.',
    );
  }
  if (levels.length > 0) {
    const rows = levels.map(({ triangles, error, distance, screenShare }) => [
      String(triangles),
      error === undefined ? '–' : `${formatNumber(error * 100)} %`,
      distance === undefined ? `${formatNumber((screenShare ?? 0) * 100)} % of the height` : String(distance),
    ]);
    lines.push('', ...formatTable(['triangles', 'error', 'from'], rows));
  }
  return lines;
}
