import type { Camera, Matrix4 } from 'three';
import type { PoseRequest, View } from './InstanceList.js';

/** Sorts what cameras see of a crowd into lists that different meshes draw. A crowd without it has one list for all. */
export interface LODSelector {
  /** Whether there is more than one list now. */
  readonly isUsed: boolean;
  /** Levels of detail at which instances may be seen, the crowd's own mesh among them. */
  readonly count: number;
  /** Whether instances at any level are posed less often than frames are drawn. */
  readonly hasPoseRates: boolean;
  /** Lists of several levels, a bit `1 << level` for each; they have the numbers from `MAX_LEVELS` on. */
  readonly mixed: readonly number[];
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
  /** Call once a frame. */
  beginFrame(): void;
  /** Brings the numbers up to what the levels are now; returns their version. */
  update(): number;
  /** The list that a mesh draws: a level, or one of several; null for all that is seen, -1 for none. */
  listOf(mesh: object): number | null;
  /** Whether instances at a level are in a list. */
  isIn(list: number | null, level: number): boolean;
  /** Whether anything is drawn at a level. */
  hasContent(level: number): boolean;
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
  /** Lists of a view. */
  lists(capacity: number): SplitLists;
}

/** Lists of single kinds have the numbers from here on, above those of levels. */
export const KIND_LISTS = 64;

/** Divides what cameras see, or what they see at a level of detail, by kinds of instances: see `CrowdKinds`. */
export interface KindSplitter {
  /** By id the number of its kind. */
  readonly kinds: Uint8Array;
  /** The lists that meshes draw. */
  readonly lists: readonly { readonly level: number | null; readonly kind: number }[];
  /** Goes up when instances are of other kinds, or other lists are needed. */
  readonly version: number;
  /** The list that a mesh draws, see `LODSelector.listOf`. */
  listOf(mesh: object): number | null;
  /** Whether a mesh draws instances of the kind that an instance has. */
  shows(mesh: object, id: number): boolean;
  /** What draws an instance. */
  meshOf(id: number): object | undefined;
  /** Of how many of the instances a list is, as a share. */
  shareOf(list: KindSplitter['lists'][number]): number;
  /** Lists of a view. */
  listsFor(levels: SplitLists | null): SplitLists;
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

/** The instances that a camera sees, in several lists. */
export interface SplitLists extends Partial<Pick<PoseRequest, 'levels' | 'poseRates' | 'hasPoseRates'>> {
  /** Goes up when the lists are others, though the camera sees the same; -1 while there is one list for all. */
  readonly version: number;
  /** Whether of some of the ids that `split` left, only some pixels are drawn. */
  readonly isFading: boolean;
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
  ): boolean | undefined;
  /** Says what instances cost at each level. */
  setCosts(budget: ViewBudget, trianglesAt: (level: number) => number): void;
  /** Begins levels sooner where those of the first `count` ids would cost too much, and chooses them. */
  fit(ids: Uint32Array, count: number, spheres: Float32Array, budget: ViewBudget): void;
  /**
   * Sorts out who is drawn in which list. Each has its ids in the order in which they come.
   *
   * @param ids The first `count` are seen. Those of which nothing is drawn are taken out; if `isFading` is true then, they are
   * entries, see `entryOf`.
   * @param spheres x, y, z and radius by id, in the crowd's space.
   * @param seen Bit `id & 31` of word `id >> 5` is cleared for those that are taken out.
   * @returns How many ids are left.
   */
  split(ids: Uint32Array, count: number, spheres: Float32Array, seen: Int32Array): number;
  /** What the mesh of a list draws; nothing for one that is none any more. */
  of(list: number): View;
  dispose(): void;
}
