import type { GLTF } from '@gltf-transform/core';
import type { EncodingName, Precision } from '../animation/BoneTextureData.js';
import type { Character } from '../character/assembleCharacter.js';
import { type DocumentOfFile, storedIn } from '../files/StoredCharacter.js';
import { DRACO, referencesIn } from './readSource.js';

/** Bytes in words: `0.62 MB`, `3.1 kB`, `12 bytes`. */
export function formatBytes(bytes: number): string {
  if (bytes >= 1e5) return `${(bytes / 1e6).toFixed(2)} MB`;
  return bytes >= 1000 ? `${(bytes / 1000).toFixed(1)} kB` : `${bytes} bytes`;
}

/** A number to three digits, without zeros at its end. */
export function formatNumber(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** Lines of a table; columns of numbers are aligned to the right. */
export function formatTable(titles: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [titles, ...rows];
  const widths = titles.map((_, column) => Math.max(...all.map((row) => row[column].length)));
  const right = titles.map((_, column) => rows.every((row) => /^[-–\d]/.test(row[column])));
  return all.map((row) =>
    row
      .map((cell, column) => (right[column] ? cell.padStart(widths[column]) : cell.padEnd(widths[column])))
      .join('  ')
      .trimEnd(),
  );
}

/** What reports say of a clip. */
export interface ClipReport {
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
}

/** What reports say of a character. */
export interface CharacterReport {
  name: string;
  /** `'vertices'` for vertex textures. */
  encoding: EncodingName | 'vertices';
  precision: Precision;
  /** Names; of vertex textures none. */
  joints: string[];
  morphTargets: string[];
  /** On the GPU. */
  textureBytes: number;
  clips: ClipReport[];
}

/** Says what a character is. */
export function describeCharacter({
  name: of,
  boneTexture,
}: Pick<Character, 'name' | 'boneTexture'>): CharacterReport {
  const { encoding, precision, jointNames, morphNames, byteLength, binding, clips, frameCount } = boneTexture;
  const { tracks } = boneTexture.data;
  return {
    name: of,
    encoding: binding === null ? encoding : 'vertices',
    precision,
    joints: binding === null ? [...jointNames] : [],
    morphTargets: [...morphNames],
    textureBytes: byteLength,
    clips: clips.map(({ name, duration, count, fps, rootMotion, markers }, i) => {
      const { frames, stride } = tracks?.clips[i] ?? { frames: count, stride: byteLength / frameCount };
      const texel = tracks === null ? 1 : tracks.shorts === null ? 16 : 8;
      const textureBytes = Math.round(frames * stride * texel);
      return { name, duration, frames: count, fps, rootMotion: rootMotion !== null, markers, textureBytes };
    }),
  };
}

/** `50 joints, tracks, half`, and for vertex textures `vertices, half`. */
export const describeJoints = ({ joints, encoding, precision }: CharacterReport): string =>
  [...(joints.length === 0 ? [] : [`${joints.length} joints`]), encoding, precision].join(', ');

/** What reports say of a level of detail; either `distance` or `screenShare` says where it begins. */
export interface LevelReport {
  triangles: number;
  /** Share of the character's size by which its surface is off. */
  error?: number;
  distance?: number;
  screenShare?: number;
  hysteresis?: number;
  influences?: number;
}

/** Lines about levels of detail. */
export function levelLines(levels: readonly LevelReport[]): string[] {
  if (levels.length === 0) return [];
  const inPercent = (share: number) => `${formatNumber(share * 100)} %`;
  const rows = levels.map(({ triangles, error, distance, screenShare = 0 }) => [
    String(triangles),
    error === undefined ? '–' : inPercent(error),
    distance === undefined ? `${inPercent(screenShare)} of the height` : String(distance),
  ]);
  return ['', ...formatTable(['triangles', 'error', 'from'], rows)];
}

/** Lines of warnings. */
export const warningLines = (warnings: readonly string[]) => warnings.map((text) => `Warning: ${text}`);

/** What the bytes of a glTF file are spent on. */
export interface BytesByKind {
  geometry: number;
  textures: number;
  /** The source's own clips, and what the JSON says of them. */
  animations: number;
  /** Bone textures, and levels of detail. */
  baked: number;
  /** Skins, and whatever else buffers hold. */
  other: number;
  /** All else that it says. */
  json: number;
}

type Kind = keyof BytesByKind;

/**
 * Sums up what the parts of a file take in it, compressed as they are. A buffer view that several use counts for the first of
 * them.
 *
 * @param external Bytes of images in files of their own.
 */
export function bytesByKind(json: GLTF.IGLTF, external: number): BytesByKind {
  const kinds = new Map<number, Kind>();
  const claim = (kind: Kind, part: unknown) => {
    for (const { list, index } of referencesIn(part)) {
      if (list === 'accessors') claim(kind, json.accessors?.[index]);
      else if (list === 'bufferViews' && !kinds.has(index)) kinds.set(index, kind);
    }
  };
  for (const { views = [] } of storedIn(json as DocumentOfFile).values())
    claim('baked', { bufferView: views });
  claim('textures', json.images);
  claim('geometry', json.meshes);
  for (const { primitives } of json.meshes ?? [])
    claim(
      'geometry',
      primitives.map(({ extensions }) => ({ ...(extensions?.[DRACO] as object), attributes: null })),
    );
  claim('animations', json.animations);

  const bytes: BytesByKind = {
    geometry: 0,
    textures: external,
    animations: json.animations === undefined ? 0 : textSize(json.animations),
    baked: 0,
    other: 0,
    json: textSize({ ...json, animations: undefined }),
  };
  for (const [view, { byteLength, extensions }] of (json.bufferViews ?? []).entries()) {
    const packed = extensions?.EXT_meshopt_compression ?? extensions?.KHR_meshopt_compression;
    bytes[kinds.get(view) ?? 'other'] += (packed as { byteLength?: number })?.byteLength ?? byteLength;
  }
  return bytes;
}

function textSize(json: object): number {
  return new TextEncoder().encode(JSON.stringify(json)).length;
}
