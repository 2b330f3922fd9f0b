import { bakeCharacterAsync } from '../baking/bakeCharacter.js';
import type { Character } from '../character/assembleCharacter.js';
import type { StoredLevel } from '../files/addLevelsOf.js';
import { bakedCharactersOf, type LoadedCharacter } from '../files/SkinnedInstancedMeshExtension.js';
import { type DocumentOfFile, storedIn } from '../files/StoredCharacter.js';
import { attempt, collectWarnings, inputError } from './CommandError.js';
import { type ClipError, clipErrors, trackCounts } from './clipErrors.js';
import {
  bytesByKind,
  describeCharacter,
  type InspectReport,
  inspectText,
  type LevelReport,
} from './formatText.js';
import { INSPECT_HELP } from './help.js';
import { sceneOf } from './loadScene.js';
import { parseOptions } from './options.js';
import type { Progress, Result } from './Progress.js';
import { readSource, type SourceFile } from './readSource.js';

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
  const characters: (Character & Partial<LoadedCharacter>)[] = [
    ...(await attempt('inspect', () => bakedCharactersOf(gltf))),
  ];
  const baked = characters.length > 0;
  const errors: ClipError[] = [];
  if (!baked) {
    const options = { skipUnsupported: true };
    const character = await attempt('inspect', () => bakeCharacterAsync(scene, animations, options));
    characters.push(character);
    const { length } = compares ? animations : [];
    if (length > 0) progress.begin(`comparing ${length} clips with the source`);
    // Of tracks without a target the mixer warns too, which the report lists as dropped.
    await collectWarnings([], () => {
      for (const error of compares ? clipErrors(scene, animations, character) : []) {
        errors.push(error);
        progress.share(errors.length / length);
      }
    });
  }
  const tracks = baked ? [] : trackCounts(scene, animations);
  return characters.map((character) => {
    const { clips, ...report } = describeCharacter(character);
    return {
      ...report,
      baked,
      levels: (character.levels ?? []).map(describeLevel),
      clips: clips.map((clip, i) => ({
        ...clip,
        tracks: tracks[i] ?? null,
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
