import {
  type IndirectStorageBufferAttribute,
  StorageBufferAttribute,
  type WebGPURenderer,
} from 'three/webgpu';
import type { PoseTracks } from '../../animation/PoseTracks.js';
import { trackLayout } from '../../animation/trackTexels.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { PaletteRows } from '../PaletteRows.js';
import { createMatrixRows, type MatrixRows, maxMatrixRows } from './MatrixRows.js';
import type { placesOf } from './StoredPlaces.js';

const MATRIX_BYTES = 48;
/** Instances that are posed at once where the CPU lists them: what lies between the steps takes no more memory than that. */
const MOST_AT_ONCE = 4096;

function countPoses({ boneTexture, columns: followed }: DrawnCrowd['crowd']) {
  const tracks = boneTexture.data.tracks as PoseTracks;
  const { length: nodes } = tracks.parents;
  const groups = tracks.morphRest.length / 4;
  // Behind all else is the inverse of the instance's matrix.
  const columns = followed + groups + 1;
  return { layout: trackLayout(tracks), nodes, entries: nodes + groups, followed, columns };
}

/**
 * Where lies what steps are told of a crowd, in vectors of four: the clock, and whether rows are handed out, see `PaletteRows`; nodes,
 * entries, joints that are followed and columns of `PoseBuffers.counts`; where tracks start, and of how many rows poses are kept first; and the place of
 * the first in `due`. How many of these are posed comes before all, as in `PoseList.totals` as a whole number.
 */
const POOLED = 1;
const CLOCK = 2;
const COUNTS = 4;
const KEPT = 11;
const FIRST = 12;
const NUMBERS = 16;

/** A list that the GPU has made, of instances whose rows have their numbers. */
export interface PoseList {
  /** In the lower `ID_BITS` of each. */
  readonly ids: StorageBufferAttribute;
  /** The first says how long it is. */
  readonly totals: StorageBufferAttribute;
  /** Workgroups of both steps. */
  readonly poseSizes: readonly [IndirectStorageBufferAttribute, IndirectStorageBufferAttribute];
}

/** Where the poses of a crowd go, on a renderer, and what steps are told of it. */
export class PoseBuffers {
  readonly counts: ReturnType<typeof countPoses>;
  readonly rows: PaletteRows;
  /** What steps are told, also as whole numbers. */
  readonly numbers = new StorageBufferAttribute(new Float32Array(NUMBERS), 4);
  private readonly words = new Uint32Array(this.numbers.array.buffer);
  /** Of these, how many rows are posed, and of how many poses are kept. */
  posedNow = 0;
  keptNow = 0;
  /** The crowd that is posed. */
  posedCrowd!: DrawnCrowd;
  /** Where its instances stand. */
  places!: ReturnType<typeof placesOf>;
  /** What the first step writes and the second reads. */
  locals!: MatrixRows;
  /** What the segments of long chains come to; null where no chain is long. */
  segments: MatrixRows | null = null;
  /** What the second writes and vertices read. */
  palette!: MatrixRows;
  /** The palette of the frame before; null where nobody asks for motion vectors. */
  before: MatrixRows | null = null;
  /** The rows that are posed, as the CPU lists them. */
  due!: StorageBufferAttribute;
  /** The list that takes its place; null for none. */
  list: PoseList | null = null;
  /** Rows that there are buffers for. */
  size = -1;
  /** The same with that of nobody. */
  private room = -1;
  /** Instances that are posed at once. */
  protected atOnce: number;
  /** Whether nobody is posed in the palette that there is. */
  protected isEmpty = true;
  /** Whether `due` lists all rows, in order. */
  protected isDueInOrder = false;
  /** What draws of this frame may still read. */
  protected readonly retired: { dispose(): void }[] = [];

  constructor(
    { crowd, playback: { capacity } }: DrawnCrowd,
    protected readonly webGPU: boolean,
  ) {
    this.counts = countPoses(crowd);
    const { nodes, entries, followed, columns, layout } = this.counts;
    this.numbers.array.set(
      [nodes, entries, followed, columns, layout.nodes, layout.joints, layout.clips],
      COUNTS,
    );
    this.rows = new PaletteRows(capacity, (texture) => this.retired.push(texture));
    if (!webGPU) this.rows.setSize(capacity);
    this.atOnce = webGPU ? MOST_AT_ONCE : Infinity;
    this.resize();
  }

  /**
   * Writes what steps are told next.
   *
   * @param first Place of the first row that is posed, among those that are due.
   * @param due How many are posed.
   * @param kept Instances whose poses are kept first; 0 for none.
   */
  tell(first: number, due: number, kept: number): void {
    const { numbers } = this;
    const { time } = this.posedCrowd.playback;
    const { array } = numbers;
    this.words[0] = this.posedNow = due;
    array[POOLED] = this.rows.inOrder ? 0 : 1;
    array[CLOCK] = time.time;
    array[CLOCK + 1] = time.epoch;
    array[KEPT] = this.keptNow = kept;
    array[FIRST] = first;
    numbers.needsUpdate = true;
  }

  /** Call it before steps are computed. */
  protected prepareBuffers(renderer: WebGPURenderer): void {
    const { rows } = this;
    rows.rowOf.prepare(renderer);
    rows.instanceOf.texture.prepare(renderer);
    this.locals.prepare(renderer);
    this.segments?.prepare(renderer);
    this.palette.prepare(renderer);
  }

  /**
   * Makes room for so many.
   *
   * @param atOnce How many are posed at once at the most.
   * @throws If the device has no room for them.
   */
  protected grow(renderer: WebGPURenderer, count: number, atOnce = this.atOnce): void {
    const { rows } = this;
    if (count > rows.size) rows.setSize(rows.sizeFor(count));
    if (rows.size === this.size && withNobody(rows) === this.room && atOnce === this.atOnce) return;
    this.checkRoom(renderer, atOnce);
    this.atOnce = atOnce;
    this.resize();
  }

  /** Lets go of rows that nobody has needed for long. Call it once a moment, with how many were seen in the one before. */
  protected shrink(count: number): void {
    if (!this.rows.shrink(count)) return;
    this.isEmpty = true;
    // The GPU may have listed them until now.
    this.atOnce = MOST_AT_ONCE;
  }

  dispose(): void {
    this.numbers.dispose();
    this.rows.dispose();
    this.retire();
    for (const thing of this.retired) thing.dispose();
  }

  private checkRoom(renderer: WebGPURenderer, atOnce: number): void {
    const { entries, columns, followed } = this.counts;
    const size = withNobody(this.rows);
    // What lies between the steps is of those that are posed at once.
    const width = Math.max(columns, atOnce < size ? 0 : entries);
    const room = Math.floor(maxMatrixRows(renderer) / width);
    if (size <= room) return;
    throw new Error(
      `SkinnedInstancedMesh: this device has room for poses of ${room} instances of ${followed} joints, not of ${size}; make several crowds, or give WebGPURenderer requiredLimits: maxBufferSize and maxStorageBufferBindingSize of ${size * width * MATRIX_BYTES}.`,
    );
  }

  private resize(): void {
    const { counts, webGPU } = this;
    if (this.size >= 0) this.retire();
    const { size } = this.rows;
    this.size = size;
    this.isEmpty = true;
    const entries = Math.min(size, this.atOnce) * counts.entries;
    this.locals = createMatrixRows(entries, webGPU);
    if (counts.layout.hasLongChains) this.segments = createMatrixRows(entries, webGPU);
    this.room = withNobody(this.rows);
    this.palette = createMatrixRows(this.room * counts.columns, webGPU);
    this.due = new StorageBufferAttribute(new Uint32Array(Math.max(1, size)), 1);
    this.isDueInOrder = false;
  }

  private retire(): void {
    const { due, segments } = this;
    this.retired.push(this.locals, this.palette, due);
    if (segments !== null) this.retired.push(segments);
  }
}

/** Rows that palettes have. Where some instance has none, it has the last: all its vertices are at one point. */
const withNobody = ({ size, capacity }: PaletteRows): number => (size < capacity ? size + 1 : size);
