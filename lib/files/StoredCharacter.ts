import type { BufferGeometry } from 'three';
import type { BoneTextureData } from '../animation/BoneTextureData.js';
import { expectClips } from '../animation/ClipTable.js';
import {
  NODE_ENTRIES,
  type PoseTracks,
  RANGES,
  SLOT_HEAD,
  TRACK_ABSENT,
  TRACK_CONSTANT,
  TRACK_TEXEL,
} from '../animation/PoseTracks.js';
import { TRS_SIZE } from '../animation/Rig.js';
import { MAX_TRACK_TEXELS, SHORTS_PER_ROW, trackSize } from '../animation/trackTexels.js';
import type { Character } from '../character/assembleCharacter.js';
import type { MergeMaterialsOptions } from '../character/mergeMaterials.js';
import { AFFINE_SIZE, MATRIX_TEXELS } from '../constants.js';
import type { LevelOptions } from '../features/levels/CrowdLevels.js';
import { expectFit, expectLength, expectShape, isPositive, type Shape } from '../utils/messages.js';

/**
 * Name of the glTF extension that holds baked characters.
 *
 * @category Save
 */
export const EXTENSION = 'SIM_baked_animation';
/** Version of the extension that is written and read. */
export const VERSION = 3;

/** The extension that compresses views. */
export const MESHOPT = 'EXT_meshopt_compression';

/** What bytes take in a file: views begin at multiples of 8, so that arrays of any numbers may be made of them in place. */
export const aligned = (bytes: number): number => Math.ceil(bytes / 8) * 8;

/** An error about a file: what is wrong, and what to do. */
export const fileError = (what: string, cause?: unknown): Error =>
  new Error(`${EXTENSION}: ${what}`, { cause });

/** What is thrown where a file cannot be read: an error about it in the place of others, but for those of the loader's. */
export function damaged(cause: unknown): unknown {
  const message = String((cause as Error | null)?.message ?? cause);
  const isSaid = message.startsWith(EXTENSION) || message.startsWith('THREE.GLTFLoader');
  return isSaid ? cause : fileError(`${message}; the file is damaged: bake it anew.`, cause);
}

/** Where a level begins by how large it is drawn. */
export interface LevelHeight {
  /** Share of the height of the picture. */
  screenShare: number;
}

/** A level of detail of a character's own vertices. */
export interface StoredLevel {
  /** Where it begins, as `CrowdLevels.add` takes it. */
  start: number | LevelHeight;
  /** As `CrowdLevels.add` takes them. */
  options: Omit<LevelOptions, 'material'>;
  /** How far its surface is off, as a share of the character's longest side, if that is known. */
  error?: number;
  /** Corners of its triangles, as vertices of the character's geometry; null for nothing. */
  indices: Uint32Array | null;
  /** Runs of one material. */
  groups: BufferGeometry['groups'];
}

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

const FIELDS: Shape = {
  parts: [{ names: ['text'], materials: [{ material: '?count' }] }],
  geometry: { attributes: { position: 'text' }, corners: ['count'], userData: {} },
  looks: ['count'],
  levels: [
    { options: {}, indices: '?words', groups: [{ start: 'count', count: 'count', materialIndex: 'count' }] },
  ],
};

/**
 * Checks what was unpacked of a character for what would hang a page, take any amount of memory or be an error of JavaScript:
 * what names more than there is, or goes in a circle. Chance is found by the digest.
 *
 * @throws If anything is not as it has to be; the message names the field.
 */
export function checkStored(fields: StoredFields): void {
  expectShape(fields, FIELDS, 'value');
  const { geometry, looks, levels, parts, data, morphTargetInfluences = [] } = fields;
  expectShape(morphTargetInfluences, ['number'], 'value.morphTargetInfluences');
  const { corners, userData } = geometry;
  const groups = corners.length;
  for (const list of [looks, userData.lacks ?? looks]) expectLength(list, groups, 'value.geometry.groups');
  // Corners of levels are checked when these are added to a crowd.
  const named = [
    ...levels.flatMap(({ groups: runs }) => runs.map(({ materialIndex = 0 }) => materialIndex)),
    ...parts.flatMap(({ materials }) => materials.map(({ material = 0 }) => material)),
  ];
  const areThere = named.every((material) => material < groups);
  expectFit(areThere, 'value.parts');
  if (data || fields.vertices === undefined) checkData(data as BoneTextureData);
}

/** Checks the data of a bone texture. */
function checkData(data: BoneTextureData): void {
  const field = 'value.data';
  const { jointNames, jointBinds, jointParents, clips, frames, tracks, encoding, precision } = data;
  const joints = jointNames.length;
  const names = { jointNames: ['text'], morphNames: ['text'] } as const;
  const boxes = { restBounds: 6, jointBoxes: `floats ${joints * 6}` };
  expectShape(data, { ...names, ...boxes, frames: 'count', layout: {}, flips: [{}] }, field);
  expectShape(jointBinds.filter(Boolean), [AFFINE_SIZE], `${field}.jointBinds`);
  const up = jointParents ?? jointNames.map(() => -1);
  /** From which joint on the way up was taken that first came to each. */
  const seenBy = new Uint32Array(joints);
  const areJoints =
    [up, jointBinds].every(({ length }) => length === joints) &&
    up.every((joint) => joint in jointNames || joint === -1) &&
    // A joint of the same node as one before it says its own number.
    up.every((_, own) => {
      let at = own;
      for (; at >= 0 && up[at] !== at && seenBy[at] === 0; at = up[at]) seenBy[at] = own + 1;
      return at < 0 || up[at] === at || seenBy[at] <= own;
    });
  expectFit(joints > 0 && areJoints, `${field}.jointParents`);
  const isEncoded = tracks !== undefined && encoding === (tracks === null ? 'frames' : 'tracks');
  expectFit(isEncoded && (precision === 'half' || precision === 'float'), `${field}.encoding`);
  expectClips(clips, tracks === null ? frames : null, `${field}.clips`);
  if (tracks) checkTracks(data, tracks);
  else checkFrames(data);
}

function checkFrames({ jointNames, morphNames, frames, precision, layout, texels }: BoneTextureData): void {
  const { width, height, stride } = layout;
  const own = jointNames.length * MATRIX_TEXELS + Math.ceil(morphNames.length / 4);
  const fits = stride === own && width % stride === 0 && frames > 0 && frames <= (width / stride) * height;
  const Kind = precision === 'half' ? Uint16Array : Float32Array;
  expectFit(fits && texels instanceof Kind && texels.length === width * height * 4, 'value.data.layout');
}

function checkTracks(
  { jointNames, morphNames, precision, clips: { length: clips } }: BoneTextureData,
  tracks: PoseTracks,
): void {
  const field = 'value.data.tracks';
  const { parents, jointNodes, shorts, keys, table, clips: own } = tracks;
  const nodes = parents.length;
  const joints = jointNames.length;
  const morphs = Math.ceil(morphNames.length / 4);
  const shape = {
    names: ['text'],
    parents: 'integers',
    rest: `doubles ${nodes * TRS_SIZE}`,
    fixed: `doubles ${nodes * AFFINE_SIZE}`,
    before: `doubles ${AFFINE_SIZE}`,
    jointNodes: `integers ${joints}`,
    inverses: `doubles ${joints * AFFINE_SIZE}`,
    morphRest: `doubles ${morphs * 4}`,
    keys: 'floats',
    table: `words ${clips * (nodes + morphs) * NODE_ENTRIES}`,
    clips: [{ duration: 'number', fps: 'number', frames: 'count', slots: '?floats', stride: 'count' }],
  } as const;
  expectShape(tracks, shape, field);
  // Parents come first.
  const areParents = parents.every((parent, node) => parent < node && parent >= Math.min(node, 1) - 1);
  const areNodes = nodes > 0 && jointNodes.every((node) => node >= 0 && node < nodes);
  expectFit(areParents && areNodes && own.length === clips, `${field}.parents`);
  const areShorts =
    precision === 'half' ? shorts instanceof Uint16Array && shorts.length > 0 : shorts === null;
  const areRows = (shorts?.length ?? 0) % SHORTS_PER_ROW === 0 && keys.length % 4 === 0;
  expectFit(areShorts && areRows && trackSize(tracks) <= MAX_TRACK_TEXELS, `${field}.keys`);
  own.forEach(({ frames, slots }, i) => {
    const [, , last, isUneven] = slots ?? [0, 1, frames - 1, 0];
    const areFrames =
      frames > 0 &&
      last <= (isUneven ? (slots?.length ?? 0) - SLOT_HEAD : frames) - 1 &&
      (slots?.subarray(SLOT_HEAD) ?? []).every((stored: number) => stored >= 0 && stored <= frames - 1);
    expectFit(areFrames, `${field}.clips.${i}.slots`);
  });
  // Every track of every clip has to lie among the keys.
  const size = table.length / clips;
  const beyond = table.findIndex((entry, i) => {
    if (entry === TRACK_ABSENT) return false;
    const { frames, stride } = own[Math.floor(i / size)];
    const isRange = i % NODE_ENTRIES === RANGES;
    const isConstant = (entry & TRACK_CONSTANT) !== 0;
    const texels = (shorts === null || isRange || isConstant ? keys : shorts).length / 4;
    return (entry & TRACK_TEXEL) + (isRange ? 1 : isConstant ? 0 : (frames - 1) * stride) >= texels;
  });
  expectFit(beyond < 0, `${field}.table.${beyond}`);
}
