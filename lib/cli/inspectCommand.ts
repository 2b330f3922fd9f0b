import type { AnimationClip, Object3D } from 'three';
import type { BoneTexture } from '../animation/BoneTexture.js';
import { bakeCharacterAsync } from '../baking/bakeCharacter.js';
import type { Character } from '../character/assembleCharacter.js';
import type { StoredLevel } from '../files/addLevelsOf.js';
import { bakedCharactersOf } from '../files/SkinnedInstancedMeshExtension.js';
import { attempt, collectWarnings, inputError } from './CommandError.js';
import { clipErrors, trackCounts } from './clipErrors.js';
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
import { sceneOf } from './loadScene.js';
import { type OptionTable, onlyFile, parseOptions } from './options.js';
import type { Progress, Result } from './Progress.js';
import { readSource, type SourceFile } from './readSource.js';

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
  const { json, bytes } = source;
  const external = externalImages(source);

  const work = () => inspectCharacters(source, !parsed.flag('no-errors'), progress);
  const characters = await collectWarnings(warnings, work);
  const report: InspectReport = {
    file,
    bytes,
    bytesByKind: bytesByKind(json, external),
    version: bakedIn(json)?.version ?? null,
    characters,
    warnings,
  };
  return { json: report, text: inspectText(report) };
}

async function inspectCharacters(
  source: SourceFile,
  errors: boolean,
  progress: Progress,
): Promise<InspectedCharacter[]> {
  const hasScene = (source.json.scenes ?? []).length > 0;
  if (!hasScene) throw inputError(`inspect: ${source.file} has neither a scene nor a baked character`);
  const gltf = await sceneOf(source, true);
  const baked = await attempt('inspect', () => bakedCharactersOf(gltf));
  if (baked.length > 0) {
    return baked.map((character) => ({
      name: character.name,
      baked: true,
      ...describeTexture(character.boneTexture),
      clips: inspectClips(character.boneTexture),
      levels: character.levels.map(describeLevel),
    }));
  }
  const { scene, animations } = gltf;
  const character = await attempt('inspect', () =>
    bakeCharacterAsync(scene, animations, { skipUnsupported: true }),
  );
  const { boneTexture } = character;
  const clips = await compareClips(scene, animations, character, errors, progress);
  return [{ name: scene.name, baked: false, ...describeTexture(boneTexture), clips, levels: [] }];
}

/** Clips of a file that was not baked, beside what baking makes of them. */
async function compareClips(
  root: Object3D,
  clips: readonly AnimationClip[],
  character: Character,
  errors: boolean,
  progress: Progress,
): Promise<InspectedClip[]> {
  const { boneTexture } = character;
  const counts = trackCounts(root, clips, true);
  const worst: InspectedClip['error'][] = [];
  if (errors && clips.length > 0) {
    progress.begin(`comparing ${clips.length} clips with the source`);
    // Of tracks without a target the mixer warns too, which the report lists as dropped.
    await collectWarnings([], () => {
      for (const { error, time } of clipErrors(root, clips, character)) {
        worst.push({ worst: error, time });
        progress.share(worst.length / clips.length);
      }
    });
  }
  return inspectClips(boneTexture).map((clip, i) => ({
    ...clip,
    tracks: counts[i],
    error: worst[i] ?? null,
  }));
}

const inspectClips = (boneTexture: BoneTexture): InspectedClip[] =>
  boneTexture.clips.map(({ name, duration, count, fps, rootMotion, markers }, i) => ({
    name,
    duration,
    frames: count,
    fps,
    rootMotion: rootMotion !== null,
    markers,
    textureBytes: clipBytes(boneTexture, i),
    tracks: null,
    error: null,
  }));

const describeLevel = ({
  start,
  options,
  error,
  indices,
}: StoredLevel): InspectedCharacter['levels'][number] => ({
  triangles: (indices?.length ?? 0) / 3,
  error,
  ...(typeof start === 'number' ? { distance: start } : start),
  hysteresis: options.hysteresis,
  influences: options.influences,
});

function clipBytes({ data: { tracks }, byteLength, frameCount, clips }: BoneTexture, index: number): number {
  if (tracks === null) return Math.round((byteLength / frameCount) * clips[index].count);
  const { frames, stride } = tracks.clips[index];
  return frames * stride * (tracks.shorts === null ? 16 : 8);
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
  /** Tracks of the source, and those that baking leaves out; null if the file is baked. */
  tracks: { stored: number; dropped: string[] } | null;
  /**
   * Largest distance of a vertex from where three.js's mixer puts it, as a share of the height, and at which second; null if
   * the file is baked.
   */
  error: { worst: number; time: number } | null;
}

/** What `inspect` tells of a character. */
interface InspectedCharacter extends TextureDescription {
  name: string;
  /** False if the file has not been baked: then this is what baking would make of it. */
  baked: boolean;
  clips: InspectedClip[];
  levels: {
    triangles: number;
    error?: number;
    distance?: number;
    screenShare?: number;
    hysteresis?: number;
    influences?: number;
  }[];
}

/** What `inspect` tells of a file, with `--json` as it is. */
export interface InspectReport {
  file: string;
  bytes: number;
  bytesByKind: BytesByKind;
  /** Of the extension `SIM_baked_animation`; null if the file has not been baked. */
  version: unknown;
  characters: InspectedCharacter[];
  warnings: string[];
}

const KINDS: Record<keyof BytesByKind, string> = {
  geometry: 'geometry',
  textures: 'textures',
  animations: "the source's animations",
  baked: 'baked',
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
