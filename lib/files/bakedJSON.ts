import type { EncodingName, Precision, TextureLayout } from '../animation/BoneTextureData.js';
import type { ClipMarker } from '../animation/ClipTable.js';
import type { PartFlip } from '../animation/Rig.js';
import type { BakeOptions } from '../baking/BakeOptions.js';

/**
 * Name of the glTF extension that holds baked characters.
 *
 * @category Save
 */
export const EXTENSION = 'SIM_baked_animation';
/** Version of the extension that is written and read. */
export const VERSION = 1;

/** Kind of number in an array, as JavaScript's typed arrays are called. */
export type ArrayType = 'float64' | 'float32' | 'uint32' | 'int32' | 'uint16' | 'uint8';

/**
 * In which order an array is stored. `'rows'`: as it is. `'columns'`: frame after frame of one joint or track, then the next, which
 * compresses better. `'differences'`: the same of 16-bit numbers, of which what they differ from a straight line is stored.
 * `'indices'`: as it is, and numbers of vertices.
 */
export type ArrayOrder = 'rows' | 'columns' | 'differences' | 'indices';

/** One array of numbers in a file. */
export interface ArrayJSON {
  /** Which of the views holds it. */
  view: number;
  /** Kind of number, little-endian. */
  type: ArrayType;
  /** How many numbers. */
  length: number;
  /** Bytes of what belongs together, e.g. of a texel. */
  stride: number;
  /** In which order they are stored. */
  order: ArrayOrder;
}

/** What encoding makes of something: JSON, and the bytes of the arrays that it refers to by number. */
export interface Encoded<JSON = object> {
  /** All but the numbers. */
  json: JSON;
  /** Bytes of each array, little-endian. */
  views: Uint8Array[];
}

/** One clip in a file. */
export interface ClipJSON {
  /** As `play` takes it. */
  name: string;
  /** First frame, or the clip's number from 1 for tracks. */
  start: number;
  /** Number of frames. */
  count: number;
  /** Seconds. */
  duration: number;
  /** Frames per second; 0 for a pose. */
  fps: number;
  /** Whether the array `rootMotion` has four numbers for each of its frames. */
  rootMotion: boolean;
  /** Named times. */
  markers: ClipMarker[];
}

/** What a clip has besides if it is stored as tracks. */
export interface TrackClipJSON {
  /** Texels from one frame to the next. */
  stride: number;
  /** Error of sampling, as a share of the character's size. */
  error: number;
  /** Whether its keys are added to what else plays. */
  additive: boolean;
  /** Where they are not those of the clip. */
  name?: string;
  /** Where it is not that of the clip. */
  duration?: number;
  /** Where it is not that of the clip. */
  fps?: number;
  /** How many frames are stored, where they do not lie evenly from 0 to the duration. */
  frames?: number;
  /** How many numbers of the array `slots` then say where they lie; the clips' are one after another. */
  slots?: number;
}

/** What tracks have besides. */
export interface TracksJSON {
  /** Name of each node. */
  names: string[];
  /** One for each clip. */
  clips: TrackClipJSON[];
}

/** A bone texture in a file, see `BoneTextureData` for what its fields mean. */
export interface BoneTextureJSON {
  /** How poses are stored. */
  encoding: EncodingName;
  /** Kind of number. */
  precision: Precision;
  /** Texels. */
  layout: TextureLayout;
  /** Frames of all clips, and the rest pose. */
  frames: number;
  /** In the order of their frames. */
  clips: ClipJSON[];
  /** In the order of the texels. */
  jointNames: string[];
  /** The nearest joint above each; not there for tracks. */
  jointParents?: number[];
  /** Morph targets that clips move. */
  morphNames: string[];
  /** Parts that clips mirror or flatten. */
  flips: PartFlip[];
  /** Only for encoding 'tracks'. */
  tracks?: TracksJSON;
  /** By name. */
  arrays: Record<string, ArrayJSON>;
  /** CRC-32 of the views, one after the other, and of this JSON without it. */
  checksum: number;
}

/** Where the bytes of an array are in a glTF file. */
export interface ViewJSON {
  /** Index of the buffer view. */
  bufferView: number;
  /** How they are compressed by meshoptimizer, if they are. */
  meshopt?: MeshoptJSON;
}

/** How bytes are compressed by meshoptimizer. */
export interface MeshoptJSON {
  /** Elements that come out. */
  count: number;
  /** Bytes of each. */
  stride: number;
  /** Which of its codecs. */
  mode: 'ATTRIBUTES' | 'INDICES';
}

/** The places of views in a glTF file. */
export interface StoredViews {
  /** One for each view. */
  views: ViewJSON[];
}

/** JSON of something that was encoded, with the places of its views in a glTF file. */
export type Stored<JSON> = JSON & StoredViews;

/** Bake options as a file keeps them: without clips, which are objects. */
export type BakeOptionsJSON = Omit<BakeOptions, 'clips' | 'rootMotion' | 'encoding'> & {
  /** How poses are stored. */
  encoding?: EncodingName;
};

/** How materials are merged. */
export interface MergingJSON {
  /** Whether those of different textures too. */
  textures?: boolean;
  /** Texels on a side of the layers that textures become, at most. */
  maxSize?: number;
}

/** Whether and how materials are merged, see `BakeCharacterOptions.mergeMaterials`. */
export type MergeMaterialsJSON = boolean | MergingJSON;

/** Triangles of one material. */
export interface LevelGroup {
  /** First of their corners. */
  start: number;
  /** How many corners. */
  count: number;
  /** Which material. */
  materialIndex: number;
}

/** A level of detail in a file: either `distance` or `screenShare` says where it begins. */
export interface LevelJSON {
  /** World units from the camera. */
  distance?: number;
  /** Share of the height of the picture. */
  screenShare?: number;
  /** See `CrowdLevels.add`. */
  hysteresis?: number;
  /** Joints that a vertex follows at most. */
  influences?: 1 | 2 | 4;
  /** The same in shadow maps. */
  shadowInfluences?: 1 | 2 | 4;
  /** Poses a second. */
  poseRate?: number;
  /** Whether what is attached to joints is drawn. */
  attachments?: boolean;
  /** Whether it casts shadows; without it as the crowd does. */
  castShadow?: boolean;
  /** Whether it receives shadows; without it as the crowd does. */
  receiveShadow?: boolean;
  /** How far its surface is off, as a share of the character's longest side. */
  error?: number;
  /** Name of the array with the corners of its triangles; without one, nothing is drawn. */
  indices?: string;
  /** Runs of these of one material each, if the character has several. */
  groups?: LevelGroup[];
}

/**
 * Levels of detail that are made of the character's own vertices: triangles of the geometry that a crowd makes of all its meshes, by the
 * numbers of its vertices.
 */
export interface LevelsJSON {
  /** How many vertices that geometry has. */
  vertices: number;
  /** Three numbers that are others if its vertices are, or stand in another order. Left out if a vertex is at no number. */
  positions?: number[];
  /** From near to far. */
  list: LevelJSON[];
  /** By name. */
  arrays: Record<string, ArrayJSON>;
  /** As that of the bone texture. */
  checksum: number;
}

/** A vertex texture in a file: its JSON, see `VertexTextureJSON`, and what its views hold. */
export interface VertexTextureInFile {
  /** By name. */
  arrays: Record<string, ArrayJSON>;
  /** As that of the bone texture. */
  checksum: number;
}

/** One character of a file. */
export interface CharacterJSON {
  /** What it is called. */
  name?: string;
  /** Index of the glTF scene that holds its meshes. */
  scene?: number;
  /** Or of the node. Without both there is the bone texture alone. */
  node?: number;
  /** The baked animation. */
  boneTexture?: Stored<BoneTextureJSON>;
  /** Or that of all its vertices. */
  vertexTexture?: Stored<VertexTextureInFile>;
  /** How it was baked. */
  bakeOptions?: BakeOptionsJSON;
  /** Parts that no instance shows to begin with. */
  hiddenParts?: string[];
  /** Whether and how materials are merged when the file is loaded. */
  mergeMaterials?: MergeMaterialsJSON;
  /** Levels of detail. */
  levels?: Stored<LevelsJSON>;
}

/** The extension at the root of a glTF file. */
export interface ExtensionJSON {
  /** Of the format. */
  version: number;
  /** At least one. */
  characters: CharacterJSON[];
}
