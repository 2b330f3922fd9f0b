import type { GLTF } from '@gltf-transform/core';
import { bakedViewsOf } from './bakedParts.js';

/** What the bytes of a glTF file are spent on. */
export interface BytesByKind {
  geometry: number;
  textures: number;
  /** The source's own clips, and what the JSON says of them. */
  animations: number;
  /** Bone textures. */
  baked: number;
  /** Triangles of levels of detail that belong to bone textures. */
  levels: number;
  /** Skins, and whatever else buffers hold. */
  other: number;
  /** All else that it says. */
  json: number;
}

/** What a buffer view may be compressed by. */
interface Packed {
  byteLength?: number;
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

  const { baked, levels } = bakedViewsOf(json);
  for (const view of baked) claim(view, 'baked');
  for (const view of levels) claim(view, 'levels');
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
    levels: 0,
    other: 0,
    json: textSize({ ...json, animations: undefined }),
  };
  for (const [view, { byteLength, extensions }] of (json.bufferViews ?? []).entries()) {
    const packed = (extensions?.EXT_meshopt_compression ?? extensions?.KHR_meshopt_compression) as
      | Packed
      | undefined;
    bytes[kinds.get(view) ?? 'other'] += packed?.byteLength ?? byteLength;
  }
  return bytes;
}

function textSize(json: object): number {
  return new TextEncoder().encode(JSON.stringify(json)).length;
}
