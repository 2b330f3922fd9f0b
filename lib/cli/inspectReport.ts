import type { LevelJSON } from '../format/bakedJSON.js';
import type { BytesByKind } from './bytesByKind.js';
import { describeJoints, type TextureDescription } from './describeTexture.js';
import { formatBytes, formatNumber, formatTable } from './formatText.js';

/** What `inspect` tells of a clip. */
export interface InspectedClip {
  name: string;
  /** Seconds. */
  duration: number;
  /** Frames that are stored, and how many of them a second. */
  frames: number;
  fps: number;
  rootMotion: boolean;
  markers: { time: number; name: string }[];
  /** Tracks of the source, and those that baking leaves out; null if the file has no such clip any more. */
  tracks: { stored: number; dropped: string[] } | null;
  /**
   * Largest distance of a vertex from where three.js's mixer puts it, as a share of the height, and at which second; null if
   * the file has no such clip any more.
   */
  error: { worst: number; time: number } | null;
}

/** What `inspect` tells of a character. */
export interface InspectedCharacter extends TextureDescription {
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
export function inspectText({
  file,
  bytes,
  bytesByKind,
  version,
  characters,
  warnings,
}: InspectReport): string {
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
      ['clip', 'seconds', 'frames', 'fps', 'tracks', 'dropped', 'worst error', 'at', 'more'],
      clips.map((clip) => [
        clip.name,
        clip.duration.toFixed(2),
        String(clip.frames),
        formatNumber(clip.fps),
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
