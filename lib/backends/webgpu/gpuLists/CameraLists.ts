import { type Camera, type Matrix4, Sphere } from 'three';
import { IndirectStorageBufferAttribute, StorageBufferAttribute } from 'three/webgpu';
import type { DrawnCrowd } from '../../../core/Crowd.js';
import type { LevelMeasure, ListNumber, LODSelector } from '../../../culling/LODSelector.js';
import { GROUP_WORDS, WORKGROUP } from './compactLists.js';
import type { CameraOcclusion } from './cullInstances.js';
import { DrawTable } from './DrawTable.js';

/** What the GPU keeps of a crowd for one camera that looks at it, and what it was computed from. */
export class CameraLists {
  /** The frame in which the camera last drew the crowd. */
  frame = -1;
  readonly draws: DrawTable;
  /** Where among these each mesh finds what it draws next. */
  readonly places: WeakMap<DrawnCrowd, number> = new WeakMap();

  /** Instances in each list, `capacity` numbers for each: ids, or entries if levels of detail fade, see `entryOf`. */
  readonly ids: StorageBufferAttribute;
  /** How many instances are in each list. */
  readonly totals: StorageBufferAttribute;
  /** Workgroups of the two steps that pose the instances of the first list. */
  readonly poseSizes: readonly [IndirectStorageBufferAttribute, IndirectStorageBufferAttribute];
  /** Of each list a bit for each instance. */
  readonly bits: StorageBufferAttribute;
  /**
   * Of a camera that decides on levels of detail, where it is, and by id the level of each instance when it was last seen; where levels
   * fade, a code with its step in multiples of `LEVEL_CODES`.
   */
  levels: { readonly chosen: LevelMeasure; readonly states: StorageBufferAttribute } | null = null;
  /** Words of bits of a list. */
  readonly words: number;

  private readonly state: number[] = [];

  /**
   * @param capacity Instances that there is room for.
   * @param lists How many lists there are.
   * @param fades Whether levels of detail fade.
   * @param retired Takes what draws of this frame may still read.
   */
  constructor(
    public camera: Camera,
    readonly capacity: number,
    readonly lists: number,
    readonly fades: boolean,
    private readonly retired: { dispose(): void }[],
  ) {
    this.draws = new DrawTable(retired);
    this.words = Math.ceil(capacity / WORKGROUP) * GROUP_WORDS;
    this.ids = uints(lists * capacity);
    this.totals = uints(lists);
    this.poseSizes = [createSize(), createSize()];
    this.bits = uints(lists * this.words);
  }

  /** What the camera goes by as it decides on levels of detail. */
  levelsOf(selector: LODSelector, matrixWorld: Matrix4): NonNullable<CameraLists['levels']> {
    this.levels ??= { chosen: selector.measure(), states: uints(this.capacity) };
    // The levels themselves are on the GPU.
    this.levels.chosen.update(selector, this.camera, matrixWorld, 0);
    return this.levels;
  }

  /** Call it before it is used in a frame, also for another camera than before. */
  begin(frame: number, camera: Camera): void {
    if (frame !== this.frame) this.draws.beginFrame();
    this.frame = frame;
    if (camera === this.camera) return;
    this.camera = camera;
    if (this.levels !== null) this.retired.push(this.levels.states);
    this.levels = null;
  }

  /** Remembers all numbers that lists are computed from. Returns whether they were the same the last time. */
  remember(numbers: readonly number[]): boolean {
    const { state } = this;
    let same = state.length === numbers.length;
    state.length = numbers.length;
    for (let i = 0; i < numbers.length; i++) {
      if (state[i] !== numbers[i]) same = false;
      state[i] = numbers[i];
    }
    return same;
  }

  dispose(): void {
    for (const buffer of [this.ids, this.totals, this.draws.buffer, ...this.poseSizes, this.bits])
      buffer.dispose();
    this.levels?.states.dispose();
  }
}

/** What a camera sees of a crowd is computed from this, and where it goes. */
export class ListedView {
  buffers!: CameraLists;
  matrices!: StorageBufferAttribute;
  /** A bit for each instance: whether it is drawn. */
  drawn!: StorageBufferAttribute;
  /** Instances in use. */
  count = 0;
  /** How many of `ViewSteps.planes` count, in sixes; 0 if all instances are seen. */
  frustums = 0;
  /** Around whatever an instance of the identity matrix may look like. */
  readonly sphere = new Sphere();
  /** What the steps of the pose pass compute of an instance, see `PoseSteps`; null if there is no pass. */
  posed: { readonly entries: number; readonly columns: number } | null = null;
  /** Null if nothing hides instances. */
  occlusion: CameraOcclusion | null = null;
  /** All instances, then those of each level of detail, if there are several, then others that meshes draw. */
  lists: readonly ListNumber[] = [];
  splitter: LODSelector | null = null;
  /** Those of the camera for which pictures are drawn; null if there is one level. */
  levels: CameraLists['levels'] = null;
  /** Whether this is for a shadow map, which may be drawn coarser. */
  inShadow = false;
  /** By id the number of an instance's kind, four of them in a word; null if all are of one. */
  kinds: { readonly buffer: StorageBufferAttribute } | null = null;
}

const createSize = () => new IndirectStorageBufferAttribute(new Uint32Array(3), 1);

/** Room for so many whole numbers; at least one, since there are no empty buffers. */
const uints = (count: number): StorageBufferAttribute =>
  new StorageBufferAttribute(new Uint32Array(Math.max(1, count)), 1);
