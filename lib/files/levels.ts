import type { BufferGeometry } from 'three';
import type { LevelOptions } from '../features/levels/CrowdLevels.js';
import { positionSums } from '../utils/geometries.js';
import { ArrayReader, toBytes } from './ArrayReader.js';
import type { ArrayJSON, Encoded, LevelGroup, LevelJSON, LevelsJSON } from './bakedJSON.js';
import { checksumOf } from './checksum.js';
import { countOf, expectField, fileError, numberOf, objectsOf } from './fileErrors.js';

/** Options of `CrowdLevels.add` that a file keeps. */
export type StoredLevelOptions = Omit<LevelOptions, 'material'>;

/** A level of detail to be written: what `simplifyGeometry` returns of the crowd's geometry, and where it begins. */
export interface WrittenLevel extends StoredLevelOptions {
  /** Triangles of the level, as `simplifyGeometry` returns them; null for nothing from there on. */
  geometry: BufferGeometry | null;
  /** For each of its vertices the number of the one that it is in the crowd's geometry. */
  vertices?: Uint32Array;
  /** World units from the camera; either this or `screenShare`. */
  distance?: number;
  /** Share of the height of the picture. */
  screenShare?: number;
  /** How far its surface is off, as `simplifyGeometry` has estimated it; kept for those who look into the file. */
  error?: number;
}

/** Levels of a character as a file has them, for {@link readLevels}. */
export interface StoredLevels {
  /** What is said of them. */
  json: Record<string, unknown>;
  /** Bytes of their arrays. */
  views: Uint8Array[];
  /** Where they are in the file, for messages. */
  field: string;
}

/** Where a level begins by how large it is drawn. */
export interface LevelHeight {
  /** Share of the height of the picture. */
  screenShare: number;
}

/** A level of detail as it was read. */
export interface ReadLevel {
  /** As `CrowdLevels.add` takes it. */
  start: number | LevelHeight;
  /** As `CrowdLevels.add` takes them, without those that the file does not say. */
  options: StoredLevelOptions;
  /** How far its surface is off, as a share of the character's longest side; undefined if the file does not say. */
  error: number | undefined;
  /** Corners of its triangles, as vertices of the crowd's geometry; null for nothing. */
  indices: Uint32Array | null;
  /** Runs of one material. */
  groups: LevelGroup[];
}

/** All levels of a character as they were read. */
export interface ReadLevels {
  /** How many vertices the crowd's geometry had. */
  vertices: number;
  /** Where these were, see `LevelsJSON`; null if the file does not say. */
  positions: number[] | null;
  /** From near to far. */
  list: ReadLevel[];
}

/** Levels as JSON and bytes. @param source The crowd's geometry. */
export function encodeLevels(levels: readonly WrittenLevel[], source: BufferGeometry): Encoded<LevelsJSON> {
  const vertices = source.getAttribute('position').count;
  const arrays: Record<string, ArrayJSON> = {};
  const views: Uint8Array[] = [];
  const list = levels.map((written, i): LevelJSON => {
    const { geometry, vertices: picked, distance, screenShare, error } = written;
    const level: LevelJSON = {
      ...(screenShare === undefined ? { distance } : { screenShare }),
      ...optionsOf(written),
      ...(error !== undefined && { error }),
    };
    if (geometry === null) return level;
    if (picked === undefined || geometry.index === null) {
      throw fileError(
        `levels[${i}] is not what simplifyGeometry returns; pass all of that, and its distance.`,
      );
    }
    const indices = Uint32Array.from(geometry.index.array, (corner) => picked[corner]);
    if (indices.some((vertex) => !(vertex < vertices))) {
      throw fileError(
        `levels[${i}] has vertices that the crowd's geometry, of ${vertices}, has not; simplify crowd.geometry.`,
      );
    }
    const name = `indices${i}`;
    const view = views.push(toBytes(indices)) - 1;
    arrays[name] = { view, type: 'uint32', length: indices.length, stride: 4, order: 'indices' };
    const groups = geometry.groups.map(({ start, count, materialIndex = 0 }) => ({
      start,
      count,
      materialIndex,
    }));
    return { ...level, indices: name, ...(groups.length > 0 && { groups }) };
  });
  const positions = positionSums(source);
  const areNumbers = positions.every(Number.isFinite);
  const json: LevelsJSON = { vertices, ...(areNumbers && { positions }), list, arrays, checksum: 0 };
  json.checksum = checksumOf(json, views);
  return { json, views };
}

/**
 * Reads levels of a loaded character, for whoever wants more of them than `addLevelsOf` does.
 *
 * @throws If anything is not as it has to be.
 *
 * @category Save
 */
export function readLevels({ json: object, views, field }: StoredLevels): ReadLevels {
  const arrays = new ArrayReader(object.arrays, views, `${field}.arrays`);
  const vertices = countOf(object.vertices, `${field}.vertices`);
  const list = objectsOf(object.list, `${field}.list`).map((level, i): ReadLevel => {
    const at = `${field}.list[${i}]`;
    const { distance, screenShare, error } = level;
    const start =
      screenShare === undefined
        ? numberOf(distance, `${at}.distance`)
        : { screenShare: numberOf(screenShare, `${at}.screenShare`) };
    const read = {
      start,
      options: optionsOf(level, at),
      error: error === undefined ? undefined : numberOf(error, `${at}.error`),
    };
    if (level.indices === undefined) return { ...read, indices: null, groups: [] };
    const indices = arrays.read(String(level.indices), 'uint32');
    const inside = indices.every((vertex) => vertex < vertices) && indices.length % 3 === 0;
    expectField(inside, `${at}.indices`, indices, `corners of triangles, from 0 to ${vertices - 1}`);
    const groups = objectsOf(level.groups ?? [], `${at}.groups`).map((group, k) => {
      const place = `${at}.groups[${k}]`;
      const first = countOf(group.start, `${place}.start`, indices.length);
      const count = countOf(group.count, `${place}.count`, indices.length - first);
      return { start: first, count, materialIndex: countOf(group.materialIndex, `${place}.materialIndex`) };
    });
    return { ...read, indices, groups };
  });
  return { vertices, positions: positionsOf(object.positions, `${field}.positions`), list };
}

/** What each option has to be. */
const OPTIONS: Record<keyof StoredLevelOptions, (value: unknown, field: string) => unknown> = {
  hysteresis: numberOf,
  poseRate: numberOf,
  influences: influencesOf,
  shadowInfluences: influencesOf,
  attachments: booleanOf,
  castShadow: booleanOf,
  receiveShadow: booleanOf,
};

/** Options of a level that say something. @param at Where it is in a file, which may be damaged. */
function optionsOf(level: object, at?: string): StoredLevelOptions {
  const options: Record<string, unknown> = {};
  for (const [key, check] of Object.entries(OPTIONS)) {
    const value = (level as Record<string, unknown>)[key];
    if (value !== undefined) options[key] = at === undefined ? value : check(value, `${at}.${key}`);
  }
  return options;
}

function influencesOf(value: unknown, field: string): unknown {
  expectField([1, 2, 4].includes(value as number), field, value, '1, 2 or 4');
  return value;
}

function booleanOf(value: unknown, field: string): unknown {
  expectField(typeof value === 'boolean', field, value, 'true or false');
  return value;
}

function positionsOf(json: unknown, field: string): number[] | null {
  if (json === undefined) return null;
  expectField(Array.isArray(json) && json.length === 3, field, json, 'three numbers');
  return json.map((value) => numberOf(value, field));
}
