import { bakeCharacterAsync } from '../baking/bakeCharacter.js';
import type { Character } from '../character/assembleCharacter.js';
import type { StoredLevel } from '../files/addLevelsOf.js';
import { bakedCharactersOf, type LoadedCharacter } from '../files/SkinnedInstancedMeshExtension.js';
import { type DocumentOfFile, storedIn } from '../files/StoredCharacter.js';
import { clipErrors, trackCounts } from './clipErrors.js';
import {
  type BytesByKind,
  bytesByKind,
  describeCharacter,
  describeJoints,
  formatBytes,
  formatNumber,
  formatTable,
  type LevelReport,
  levelLines,
  warningLines,
} from './formatText.js';
import { attempt, collectWarnings, inputError, type Progress, type Result } from './messages.js';
import { INSPECT_HELP, parseOptions } from './options.js';
import { readSource, type SourceFile, sceneOf } from './readSource.js';

/** What `inspect` tells of a file, with `--json` as it is. */
export interface InspectReport {
  file: string;
  bytes: number;
  bytesByKind: BytesByKind;
  /** Of the extension `SIM_baked_animation`; null if the file has not been baked. */
  version: number | null;
  characters: Awaited<ReturnType<typeof inspectCharacters>>;
  warnings: string[];
}

/**
 * Says what is in a file: what was baked into it, or what baking would make of it, and how near that is to the source.
 *
 * @throws A CommandError if the command line or the file is wrong.
 */
export async function inspectCommand(args: string[], progress: Progress): Promise<Result> {
  const { file, isGiven } = parseOptions('inspect', INSPECT_HELP, args);
  const warnings: string[] = [];
  progress.begin(`reading ${file}`);
  const source = await readSource('inspect', file, isGiven('outside'));
  const { json, bytes, content } = source;
  const work = () => inspectCharacters(source, !isGiven('no-errors'), progress);
  const characters = await collectWarnings(warnings, work);
  const images = (json.images ?? []).map(({ uri = '' }) => content.resources[uri]?.byteLength ?? 0);
  const beside = images.reduce((sum, size) => sum + size, 0);
  const report: InspectReport = {
    file,
    bytes,
    bytesByKind: bytesByKind(json, beside),
    version: [...storedIn(json as DocumentOfFile).values()][0]?.version ?? null,
    characters,
    warnings,
  };
  return { json: report, text: inspectText(report) };
}

async function inspectCharacters(source: SourceFile, compares: boolean, progress: Progress) {
  const hasScene = (source.json.scenes ?? []).length > 0;
  if (!hasScene) throw inputError(`inspect: ${source.file} has neither a scene nor a baked character`);
  const gltf = await sceneOf(source, true);
  const { scene, animations } = gltf;
  const stored = await attempt('inspect', () => bakedCharactersOf(gltf));
  const characters: (Character & Partial<LoadedCharacter>)[] = [...stored];
  const baked = stored.length > 0;
  if (!baked) {
    const options = { skipUnsupported: true };
    characters.push(await attempt('inspect', () => bakeCharacterAsync(scene, animations, options)));
  }
  const compare = () => clipErrors(scene, animations, characters[0], progress);
  // Of tracks without a target the mixer warns too, which the report lists as dropped.
  const errors = baked || !compares ? [] : await collectWarnings([], compare);
  const tracks = baked ? [] : trackCounts(scene, animations);
  return characters.map((character) => {
    const { clips, ...report } = describeCharacter(character);
    return {
      ...report,
      /** False if the file has not been baked: then this is what baking would make of it. */
      baked,
      levels: (character.levels ?? []).map(describeLevel),
      clips: clips.map((clip, i) => ({
        ...clip,
        /** How many of the source are stored, and which baking leaves out; null if the file is baked. */
        tracks: tracks[i] ?? null,
        /** How far it is from the source; null if that was not compared. */
        error: errors[i] ?? null,
      })),
    };
  });
}

const describeLevel = ({ start, options, error, indices }: StoredLevel): LevelReport => ({
  triangles: (indices?.length ?? 0) / 3,
  error,
  ...(typeof start === 'number' ? { distance: start } : start),
  hysteresis: options.hysteresis,
  influences: options.influences,
});

/** The report in words. */
function inspectText(report: InspectReport): string {
  const { file, bytes, bytesByKind, version, characters, warnings } = report;
  const state =
    version === null ? 'not baked; this is what `bake` would make of it' : `baked, version ${version}`;
  const kinds = Object.entries(bytesByKind).filter(([, size]) => size > 0);
  const sizes = kinds.map(([kind, size]) => [kind, formatBytes(size)]);
  const lines = [`${file}: ${formatBytes(bytes)}, ${state}`, '', ...formatTable(['part', 'size'], sizes)];
  for (const character of characters) lines.push('', ...characterLines(character));
  return [...lines, ...(warnings.length > 0 ? [''] : []), ...warningLines(warnings)].join('\n');
}

function characterLines(character: InspectReport['characters'][number]): string[] {
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
  if (clips.some(({ error }) => error !== null))
    lines.push('', 'Errors: how far vertices are from where an AnimationMixer puts them, of the height.');
  return [...lines, ...levelLines(levels)];
}
