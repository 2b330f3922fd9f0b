import type { BoneTextureData } from '../animation/BoneTextureData.js';
import type { Character } from '../character/assembleCharacter.js';
import type { MergeMaterialsOptions } from '../character/mergeMaterials.js';
import { expectFit, expectShape, isPositive } from '../utils/messages.js';
import type { StoredLevel } from './addLevelsOf.js';
import { EXTENSION, fileError, VERSION } from './fileErrors.js';

/** A character in a file, an extension of its glTF mesh: all else that it is made of, packed. */
export interface StoredCharacter {
  version: number;
  value: unknown;
  /** Buffer view of each kind of array, and of each large array. */
  views: number[];
  /** Of the value, the views and the positions of the mesh. */
  digest: number;
}

/** What is packed: a character, but for what glTF has itself. */
export interface StoredFields
  extends Omit<Character, 'geometry' | 'material' | 'boneTexture' | 'made' | 'parts'> {
  parts: {
    names: readonly string[];
    hidden: boolean;
    /** Number of each among the character's, if it is one of them: others were merged. */
    materials: { name: string; color?: number[]; material?: number }[];
  }[];
  /** What glTF does not say of a geometry. */
  geometry: {
    /** Names of attributes, by those that `GLTFLoader` makes of what they are called in the file. */
    attributes: Record<string, string>;
    /** Corners of each group, or vertices where there is no index. */
    corners: number[];
    /** See `BufferGeometry.userData` of merged geometries. */
    userData: { lacks?: number[] };
  };
  /** For each group how its material is made of the one in glTF, see `LOOKS`. */
  looks: number[];
  levels: StoredLevel[];
  mergeMaterials?: MergeMaterialsOptions | null;
  /** The data of its bone texture, without texels of tracks; or those of its vertex texture. */
  data?: BoneTextureData;
  vertices?: unknown;
}

/** What `GLTFLoader` looks at in a geometry when it makes a material for it, bit by bit. */
export const LOOKS = ['tangent', 'color', 'normal'] as const;

/** What is looked at in a glTF document. */
export interface DocumentOfFile {
  /** Of earlier versions. */
  extensions?: Record<string, StoredCharacter>;
  nodes?: { mesh?: number; extras?: object }[];
  meshes?: {
    extensions?: Record<string, StoredCharacter>;
    primitives: { indices?: number; material?: number }[];
  }[];
  bufferViews?: {
    buffer?: number;
    byteLength?: number;
    extensions?: Record<string, { count: number; byteStride: number; byteLength: number }>;
  }[];
  buffers?: { uri?: string }[];
}

/** What a file says of its characters, of whatever version, by the numbers of their meshes. */
export const storedIn = ({ extensions, meshes = [] }: DocumentOfFile): Map<number, StoredCharacter> =>
  new Map(
    [...meshes, { extensions }].flatMap((one, mesh) => {
      const stored = one.extensions?.[EXTENSION];
      return stored === undefined ? [] : [[mesh, stored]];
    }),
  );

/** The codec needs at least one byte for so many, and some for each file. */
const MAX_RATIO = 64;
const SLACK = 8192;

/**
 * The characters of a file, whose buffer views are checked before anything is unpacked.
 *
 * @throws If they are of another version; or a view that one needs is not there or named again, or one says that more comes out of it than
 * can: a small file could ask for any amount of memory.
 */
export function checkedIn(json: DocumentOfFile): Map<number, StoredCharacter> {
  const stored = storedIn(json);
  const used = new Set<number>();
  const { bufferViews = [], buffers = [] } = json;
  for (const one of stored.values()) {
    const version = one?.version;
    if (version !== VERSION) {
      throw fileError(
        `the file is of version ${version}, and this library reads version ${VERSION}; bake the file anew.`,
      );
    }
    expectShape(one, { views: ['count'] }, 'character');
    for (const view of one.views) {
      expectFit(isPositive(bufferViews[view]?.byteLength) && !used.has(view), `bufferViews.${view}`);
      used.add(view);
    }
  }
  if (used.size === 0) return stored;
  // Without these, promises of loaders fail that nobody waits for.
  expectShape(json, { accessors: [{}], buffers: [{}] }, 'file');
  bufferViews.forEach(({ buffer = 0, extensions }, view) => {
    const packed = extensions?.EXT_meshopt_compression;
    const { count = 0, byteStride = 0, byteLength = 0 } = packed ?? {};
    // For bytes that are nowhere, loaders would wait without an end.
    const isThere = packed !== undefined || buffer === 0 || buffers[buffer]?.uri !== undefined;
    expectFit(isThere && count * byteStride <= byteLength * MAX_RATIO + SLACK, `bufferViews.${view}`);
  });
  return stored;
}
