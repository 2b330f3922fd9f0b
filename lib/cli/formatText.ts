import type { GLTF } from '@gltf-transform/core';
import type { BoneTexture } from '../animation/BoneTexture.js';
import type { EncodingName, Precision } from '../animation/BoneTextureData.js';
import { EXTENSION } from '../files/fileErrors.js';
import type { StoredCharacter } from '../files/StoredCharacter.js';

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

/** What reports say of a bone texture, or of a vertex texture. */
export interface TextureDescription {
  /** `'vertices'` for vertex textures. */
  encoding: EncodingName | 'vertices';
  precision: Precision;
  /** Names; of vertex textures none. */
  joints: string[];
  morphTargets: string[];
  /** On the GPU. */
  textureBytes: number;
}

/** Says what a texture is. */
export function describeTexture(boneTexture: BoneTexture): TextureDescription {
  const { encoding, precision, jointNames, morphNames, byteLength, binding } = boneTexture;
  return {
    encoding: binding === null ? encoding : 'vertices',
    precision,
    joints: binding === null ? [...jointNames] : [],
    morphTargets: [...morphNames],
    textureBytes: byteLength,
  };
}

/** `50 joints, tracks, half`, and for vertex textures `vertices, half`. */
export function describeJoints({
  joints,
  encoding,
  precision,
}: Pick<TextureDescription, 'encoding' | 'precision' | 'joints'>): string {
  return [...(joints.length === 0 ? [] : [`${joints.length} joints`]), encoding, precision].join(', ');
}

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
  const claim = (view: number | undefined, kind: Kind) => {
    if (view !== undefined && !kinds.has(view)) kinds.set(view, kind);
  };
  const claimAccessor = (accessor: number | undefined, kind: Kind) => {
    if (accessor === undefined) return;
    const { bufferView, sparse } = json.accessors?.[accessor] ?? {};
    claim(bufferView, kind);
    claim(sparse?.indices.bufferView, kind);
    claim(sparse?.values.bufferView, kind);
  };

  for (const { views } of bakedIn(json)?.characters ?? [])
    for (const view of views ?? []) claim(view, 'baked');
  for (const { bufferView } of json.images ?? []) claim(bufferView, 'textures');
  for (const { primitives } of json.meshes ?? []) {
    for (const { attributes, indices, targets = [], extensions } of primitives) {
      const draco = extensions?.KHR_draco_mesh_compression as { bufferView: number } | undefined;
      claim(draco?.bufferView, 'geometry');
      claimAccessor(indices, 'geometry');
      for (const accessor of [attributes, ...targets].flatMap((all) => Object.values(all))) {
        claimAccessor(accessor, 'geometry');
      }
    }
  }
  for (const { samplers } of json.animations ?? []) {
    for (const { input, output } of samplers) {
      claimAccessor(input, 'animations');
      claimAccessor(output, 'animations');
    }
  }

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

/** What a file says of what was baked into it, by whatever version; null where it says nothing. */
export function bakedIn(
  json: GLTF.IGLTF,
): { version?: unknown; characters?: Partial<StoredCharacter>[] } | null {
  return json.extensions?.[EXTENSION] ?? null;
}
