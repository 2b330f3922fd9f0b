import type { GLTF } from '@gltf-transform/core';
import type { Character } from '../character/assembleCharacter.js';
import { type DocumentOfFile, storedIn } from '../files/StoredCharacter.js';
import type { WrittenLevel } from '../files/writeCharacter.js';
import { DRACO } from './readSource.js';

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

/** What reports say of a character. */
type CharacterReport = ReturnType<typeof describeCharacter>;

/** Says what a character is. */
export function describeCharacter({ name: of, boneTexture }: Pick<Character, 'name' | 'boneTexture'>) {
  const { encoding, precision, jointNames, morphNames, byteLength, binding, clips, frameCount } = boneTexture;
  const { tracks } = boneTexture.data;
  return {
    name: of,
    encoding: binding === null ? encoding : 'vertices',
    precision,
    // Vertex textures have none.
    joints: binding === null ? [...jointNames] : [],
    morphTargets: [...morphNames],
    /** Bytes on the GPU. */
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
export type LevelReport = Omit<WrittenLevel, 'geometry' | 'vertices'> & { triangles: number };

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
export type BytesByKind = ReturnType<typeof bytesByKind>;

/**
 * Sums up what the parts of a file take in it, compressed as they are. A buffer view that several use counts for the first of
 * them.
 *
 * @param external Bytes of images in files of their own.
 */
export function bytesByKind(json: GLTF.IGLTF, external: number) {
  const bytes = {
    geometry: 0,
    textures: external,
    /** The source's own clips, and what the JSON says of them. */
    animations: json.animations === undefined ? 0 : textSize(json.animations),
    /** Bone textures, and levels of detail. */
    baked: 0,
    /** Skins, and whatever else buffers hold. */
    other: 0,
    /** All else that it says. */
    json: textSize({ ...json, animations: undefined }),
  };
  const { accessors = [], images = [], meshes = [], animations = [], bufferViews = [] } = json;
  const viewsOf = (indices: (number | undefined)[]) =>
    indices.flatMap((index) => {
      const { bufferView, sparse } = accessors[index ?? -1] ?? {};
      return [bufferView, sparse?.indices.bufferView, sparse?.values.bufferView];
    });
  const stored = [...storedIn(json as DocumentOfFile).values()];
  const primitives = meshes.flatMap((mesh) => mesh.primitives);
  const samplers = animations.flatMap((animation) => animation.samplers);
  const attributesOf = ({ attributes, targets = [] }: GLTF.IMeshPrimitive) =>
    [attributes, ...targets].flatMap((one) => Object.values(one));
  const kinds: [keyof typeof bytes, (number | undefined)[]][] = [
    ['baked', stored.flatMap(({ views = [] }) => views)],
    ['textures', images.map(({ bufferView }) => bufferView)],
    ['geometry', viewsOf(primitives.flatMap((one) => [one.indices, ...attributesOf(one)]))],
    ['geometry', primitives.map((one) => (one.extensions?.[DRACO] as GLTF.IAccessor)?.bufferView)],
    ['animations', viewsOf(samplers.flatMap(({ input, output }) => [input, output]))],
  ];
  const kindOf = new Map(kinds.reverse().flatMap(([kind, views]) => views.map((view) => [view, kind])));
  for (const [view, { byteLength, extensions }] of bufferViews.entries()) {
    const packed = extensions?.EXT_meshopt_compression ?? extensions?.KHR_meshopt_compression;
    bytes[kindOf.get(view) ?? 'other'] += (packed as { byteLength?: number })?.byteLength ?? byteLength;
  }
  return bytes;
}

function textSize(json: object): number {
  return new TextEncoder().encode(JSON.stringify(json)).length;
}

/** What `bake` tells of what it did, with `--json` as it is. */
export interface BakeReport extends CharacterReport {
  input: { file: string; bytes: number };
  output: { file: string; bytes: number; bytesByKind: BytesByKind };
  levels: LevelReport[];
  warnings: string[];
}

/** The report in words. */
export function bakeText(report: BakeReport): string {
  const { input, output, clips, levels, encoding, precision, textureBytes, warnings } = report;
  const baked = formatBytes(output.bytesByKind.baked);
  const sampled =
    encoding === 'tracks' ? '' : `, ${clips.reduce((sum, { frames }) => sum + frames, 0)} frames`;
  const lines = [
    `${output.file}: ${formatBytes(output.bytes)} (${input.file}: ${formatBytes(input.bytes)})`,
    `${clips.length} clips${sampled}, ${describeJoints(report)}: ${baked} in the file, ${formatBytes(textureBytes)} on the GPU`,
  ];
  const more = output.bytes - input.bytes;
  const help = precision === 'float' ? '; --precision half takes about half of that' : '';
  if (more > 0)
    lines.push(`It is ${formatBytes(more)} larger than its source, as ${baked} are what was baked${help}.`);
  return [...lines, ...levelLines(levels), ...warningLines(warnings)].join('\n');
}
