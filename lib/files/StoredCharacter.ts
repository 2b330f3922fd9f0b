import type { BoneTextureData } from '../animation/BoneTextureData.js';
import type { Character } from '../character/assembleCharacter.js';
import type { MergeMaterialsOptions } from '../character/mergeMaterials.js';
import { expectFit, expectShape } from '../utils/expect.js';
import { isPositive } from '../utils/messages.js';
import type { StoredLevel } from './addLevelsOf.js';
import { EXTENSION, fileError, VERSION } from './fileErrors.js';

/** A character in a file: its glTF mesh, and all else that it is made of, packed. */
export interface StoredCharacter {
  mesh: number;
  value: unknown;
  /** Buffer view of each kind of array, and of each large array. */
  views: number[];
  /** Of the value, the views and the positions of the mesh. */
  digest: number;
}

/** What is packed: a character, but for what glTF has itself. */
export interface StoredFields
  extends Omit<Character, 'geometry' | 'material' | 'boneTexture' | 'made' | 'parts'> {
  parts: StoredPart[];
  geometry: StoredGeometry;
  /** For each group how its material is made of the one in glTF, see `LOOKS`. */
  looks: number[];
  levels: StoredLevel[];
  mergeMaterials?: MergeMaterialsOptions | null;
  /** The data of its bone texture, without texels of tracks; or those of its vertex texture. */
  data?: BoneTextureData;
  vertices?: unknown;
}

export interface StoredPart {
  names: readonly string[];
  hidden: boolean;
  /** Number of each among the character's, if it is one of them: others were merged. */
  materials: { name: string; color?: number[]; material?: number }[];
}

/** What glTF does not say of a geometry. */
export interface StoredGeometry {
  /** Names of attributes, by those that `GLTFLoader` makes of what they are called in the file. */
  attributes: Record<string, string>;
  /** Corners of each group, or vertices where there is no index. */
  corners: number[];
  /** See `BufferGeometry.userData` of merged geometries. */
  userData: { lacks?: number[] };
}

/** What `GLTFLoader` looks at in a geometry when it makes a material for it, bit by bit. */
export const LOOKS = ['tangent', 'color', 'normal'] as const;

/**
 * The characters of a file; null if it has none.
 *
 * @throws If they are of another version, or are none.
 */
export function storedIn(json: object): StoredCharacter[] | null {
  const { extensions, meshes } = json as { extensions?: Record<string, never>; meshes?: unknown[] };
  const { version, characters }: Extension = extensions?.[EXTENSION] ?? { version: VERSION };
  if (version !== VERSION) {
    throw fileError(
      `the file is of version ${version}, and this library reads version ${VERSION}; bake the file anew.`,
    );
  }
  if (characters === undefined) return null;
  expectShape(characters, [{ mesh: 'count', views: ['count'], digest: 'number' }], 'characters');
  const list = characters as StoredCharacter[];
  const used = new Set(list.map(({ mesh }) => mesh));
  expectFit(used.size === list.length && list.every(({ mesh }) => meshes && mesh in meshes), 'characters');
  return list;
}

/** The codec needs at least one byte for so many, and some for each file. */
const MAX_RATIO = 64;
const SLACK = 8192;

/**
 * Checks the buffer views of a file with characters before anything is unpacked.
 *
 * @throws If one that a character needs is not there or named again, or one says that more comes out of it than can: a small file could
 * ask for any amount of memory.
 */
export function checkViews(json: object, characters: readonly StoredCharacter[]): void {
  const { bufferViews = [], buffers = [] } = json as {
    bufferViews?: BufferView[];
    buffers?: { uri?: string }[];
  };
  const used = new Set<number>();
  for (const view of characters.flatMap(({ views }) => views)) {
    expectFit(isPositive(bufferViews[view]?.byteLength) && !used.has(view), `bufferViews.${view}`);
    used.add(view);
  }
  bufferViews.forEach(({ buffer = 0, extensions }, view) => {
    const packed = extensions?.EXT_meshopt_compression;
    const { count = 0, byteStride = 0, byteLength = 0 } = packed ?? {};
    // For bytes that are nowhere, loaders would wait without an end.
    const isThere = packed !== undefined || buffer === 0 || buffers[buffer]?.uri !== undefined;
    expectFit(isThere && count * byteStride <= byteLength * MAX_RATIO + SLACK, `bufferViews.${view}`);
  });
}

interface Extension {
  version?: unknown;
  characters?: unknown;
}

interface BufferView {
  buffer?: number;
  byteLength?: number;
  extensions?: Record<string, { count: number; byteStride: number; byteLength: number }>;
}
