import type { Camera, Matrix4 } from 'three';
import { ALL_LEVELS, MAX_LEVELS } from '../constants.js';
import type { PoseRequest } from './InstanceList.js';

/**
 * Which instances a mesh draws, as a number: a bit `1 << level` for each level of detail, and above these one more than the number of
 * the kind that they are of, 0 for all kinds. Without a bit, it draws none.
 */
export type ListNumber = number;

export const levelsIn = (list: ListNumber): number => list & ALL_LEVELS;
/** -1 for all. */
export const kindIn = (list: ListNumber): number => (list >> MAX_LEVELS) - 1;
export const listOfKind = (list: ListNumber, kind: number): ListNumber => list | ((kind + 1) << MAX_LEVELS);

/** Sorts what cameras see of a crowd into lists that different meshes draw. A crowd without it has one list for all. */
export interface LODSelector {
  /** Whether there is more than one list now. */
  readonly isUsed: boolean;
  /** Levels of detail at which instances may be seen, the crowd's own mesh among them. */
  readonly count: number;
  /** Whether instances at any level are posed less often than frames are drawn. */
  readonly hasPoseRates: boolean;
  /** By level the squared distance, or size, from which on it is drawn, and the same for instances that are there already. */
  readonly enter: Float32Array;
  readonly stay: Float32Array;
  /** By level the distance from which on instances fade into it, and by how many steps in a unit: 0 for none. */
  readonly fadeStart: Float32Array;
  readonly fadeRate: Float32Array;
  /** Goes up when `update` finds that something has changed. */
  readonly version: number;
  /** Whether levels go by the share of the picture's height, and half the character's height, in radii of its sphere. */
  readonly byScreen: boolean;
  readonly halfHeight: number;
  /** By level the one at which instances are that have come to its start. */
  readonly reached: Uint8Array;
  /** Whether entries of lists say which pixels of an instance are drawn, with ids below `capacity`. */
  fadesFor(capacity: number): boolean;
  /** Brings the numbers up to what the levels are now; returns their version. */
  update(): number;
  /** What a mesh draws. */
  listOf(mesh: object): ListNumber;
  /** Whether anything is drawn at a level; a bit for each at which something is. */
  hasContent(level: number): boolean;
  readonly drawnLevels: number;
  /** Whether instances at a level have to be posed. */
  isPosed(level: number): boolean;
  /** The level to which instances pass over from a level that they are at. */
  nextTo(level: number): number;
  /** The level in shadow maps of an instance that the camera sees at a level. */
  inShadow(level: number): number;
  /** Poses a second of an instance at a level, with `FADING` if it is passing over. */
  poseRateOf(code: number, inShadow: boolean): number;
  /** Measures distances from a camera, for who chooses levels elsewhere. */
  measure(): LevelMeasure;
}

/** Divides what cameras see, or what they see at a level of detail, by kinds of instances: see `CrowdKinds`. */
export interface KindSplitter {
  /** By id the number of its kind. */
  readonly kinds: Uint8Array;
  /** By number what draws each kind. */
  readonly meshes: ArrayLike<unknown>;
  /** Goes up when instances are of other kinds, or there are other kinds. */
  readonly version: number;
  /** What a mesh draws. */
  listOf(mesh: object): ListNumber;
  /** Whether a mesh draws instances of the kind that an instance has. */
  shows(mesh: object, id: number): boolean;
  /** What draws an instance. */
  meshOf(id: number): object | undefined;
  /** How many of the instances are of a kind, as a share. */
  shareOf(kind: number): number;
}

/** From where a camera sees a crowd: what a level's start is compared with. */
export interface LevelMeasure {
  /** Goes up when levels may be others than before, though no instance has moved. */
  readonly version: number;
  /**
   * First from the crowd's space to one about the camera with the axes of the world: the upper rows of a matrix. Then, at
   * `LEVEL_SCALE`, what a squared distance is multiplied by; with levels by size, it is divided by a squared radius too.
   */
  readonly measure: Float64Array;
  /** Whether levels go by size, and whether that does not depend on distance. */
  readonly bySize: boolean;
  readonly flat: boolean;
  update(splitter: LODSelector, camera: Camera, matrixWorld: Matrix4, capacity: number): void;
}

/** How much a view may draw. */
export interface ViewBudget {
  readonly maxTriangles: number;
  /** By level at which the viewer sees an instance, and where it is passing over, its triangles. */
  readonly costs: Float64Array;
  /** Says how many triangles an instance has at a level. */
  setCost(level: number, triangles: number): void;
  /** Says that all is not as it was. */
  again(): void;
}

/** In `ViewLevels.shown`, of levels whose instances have to be posed; of others at which something is drawn it is 1. */
export const POSED = 2;

/** The levels of detail at which a view shows instances. */
export interface ViewLevels extends Pick<PoseRequest, 'levels' | 'poseRates' | 'hasPoseRates'> {
  /** Goes up when levels are others, though the camera sees the same; -1 while there is one for all. */
  readonly version: number;
  /** Whether there are several. */
  readonly isUsed: boolean;
  /** By level, since `begin`, what is needed of instances there: `POSED`, 1, or 0 where nothing is drawn. */
  readonly shown: Uint8Array;
  /**
   * Takes over where the viewer is.
   *
   * @param isFitted Whether levels may begin sooner than they say, see `fit`.
   * @returns False if instances are to be posed at other rates than before.
   */
  update(
    view: {
      readonly camera: Camera;
      /** The camera that decides on levels. */
      readonly lodCamera: Camera;
      readonly inShadow: boolean;
    },
    matrixWorld: Matrix4,
    isFitted: boolean,
  ): boolean;
  /** Says what instances cost at each level. */
  setCosts(budget: ViewBudget, trianglesAt: (level: number) => number): void;
  /** Begins levels sooner where those of the first `count` ids would cost too much, and chooses them. */
  fit(ids: Uint32Array, count: number, spheres: Float32Array, budget: ViewBudget): void;
  /** Call before `levelOf`. */
  begin(): void;
  /** The level at which an instance is drawn, with `FADING` if it is drawn at the next one too. */
  levelOf(id: number, spheres: Float32Array): number;
  /** How many of `FADE_STEPS` it has then passed over. */
  stepOf(id: number): number;
}
