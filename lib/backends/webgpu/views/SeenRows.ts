import { StorageBufferAttribute, type WebGPURenderer } from 'three/webgpu';
import { disposeAttribute } from '../../../utils/attributes.js';
import { createMatrixRows, type MatrixRows, maxMatrixRows } from '../MatrixRows.js';

/** What is kept of a crowd's poses, and how much there is of it for each instance. */
export interface PosedMembers {
  readonly capacity: number;
  /** Matrices of an instance that the first step of the pass writes. */
  readonly entries: number;
  /** Those that the second writes. */
  readonly columns: number;
}

/** Palettes of more bytes hold the poses of those who are seen; in smaller ones each instance has the row of its own number. */
const POOLED_BYTES = 1_048_576;
const MATRIX_BYTES = 48;
/** Room for those who come into view next, in shares of those who are seen. */
const SPARE = 1.25;
/** Rows that are left over for whom the GPU sees at the border of a picture, and the CPU does not. */
const SLACK = 64;
/** Once so small a share of the rows was in use in so many turns, the others are given back. */
const SHARE_IN_USE = 0.25;
const PATIENCE = 120;

/**
 * Rows of a palette for the instances that cameras see, on WebGPU: twin of `lib/backends/webgl/PaletteRows.ts`. The GPU hands them out,
 * since it makes the lists; the CPU counts who may be seen, by the same spheres, and sees to it that there are enough before
 * that. A turn is a frame in which something is posed. A row belongs to its instance until a whole turn has passed in which no
 * camera saw it.
 */
export class SeenRows {
  /** What the steps of the pass write. Others whenever there is another number of rows. */
  palette: MatrixRows;
  locals: MatrixRows;
  /** For each instance, its row, with the highest bit set if it has to be posed, and the turn in which a camera last saw it. */
  rows: StorageBufferAttribute;
  /** Where the search for the next row begins, and for each row the turn in which its instance was last seen. */
  turns: StorageBufferAttribute;
  /** When each instance was posed: seconds of the clock, and of which epoch. */
  readonly posedAt: StorageBufferAttribute;
  /** Turns are counted from here, so that zero is long ago. */
  turn = 3;
  /** Grows whenever whatever was posed is lost. */
  version = 0;
  /** Whether there may be fewer rows than instances. */
  isPooled: boolean;

  private askedRates: StorageBufferAttribute | null = null;
  private readonly capacity: number;
  private size: number;
  private places: number;
  /** Who was seen in this turn and in the one before, a bit for each instance. */
  private now: Int32Array;
  private before: Int32Array;
  private frame = -1;
  private used = 0;
  private idle = 0;
  /** What draws of this frame may read still. */
  private readonly retired: { dispose(): void }[] = [];

  /** @param webGPU Whether it is for WebGPU. The WebGL 2 backend poses all instances. */
  constructor(
    private readonly members: PosedMembers,
    private readonly webGPU: boolean,
  ) {
    const { capacity, columns } = members;
    this.capacity = webGPU ? Math.max(1, capacity) : 1;
    this.isPooled = webGPU && capacity * columns * MATRIX_BYTES > POOLED_BYTES;
    this.size = this.places = this.isPooled ? SLACK : capacity;
    const words = this.isPooled ? Math.ceil(capacity / 32) : 0;
    this.now = new Int32Array(words);
    this.before = new Int32Array(words);
    this.palette = this.createPalette();
    this.locals = this.createLocals();
    this.posedAt = this.pairs();
    this.rows = this.createRows();
    this.turns = this.createTurns();
  }

  /** Rows that are handed out; 0 where each instance has the row of its own number. */
  get count(): number {
    return this.size < this.capacity ? this.size : 0;
  }

  /** The highest of the rates at which cameras want each instance posed, and when one has asked for it. */
  get asked(): StorageBufferAttribute {
    this.askedRates ??= this.pairs();
    return this.askedRates;
  }

  /** Frees what draws of frames before may have read. */
  beginFrame(frame: number): void {
    if (frame === this.frame) return;
    this.frame = frame;
    for (let i = 0; i < this.retired.length; i++) this.retired[i].dispose();
    this.retired.length = 0;
  }

  /** Begins a turn: rows that were not used in the last one are free. */
  beginTurn(): void {
    if (!this.isPooled) return;
    this.turn++;
    const { now } = this;
    this.now = this.before;
    this.before = now;
    this.now.fill(0);
    if (this.used > this.size * SHARE_IN_USE || this.size <= SLACK * 2) this.idle = 0;
    else if (++this.idle > PATIENCE) this.setSize(SLACK, SLACK);
  }

  /**
   * Makes room for whom a camera sees. Where there was too little, all rows are given out anew: see `version`.
   *
   * @param seen Bits of whoever it may see; null for all.
   * @param drawn Bits of whoever is drawn at all.
   */
  see(renderer: WebGPURenderer, seen: Int32Array | null, drawn: Uint32Array): void {
    if (!this.isPooled) return;
    const { now, before } = this;
    let places = 0;
    let used = 0;
    for (let word = 0; word < now.length; word++) {
      const bits = drawn[word] & (seen === null ? -1 : seen[word]);
      if (bits !== 0) places += bitCount(bits);
      now[word] |= bits;
      const either = now[word] | before[word];
      if (either !== 0) used += bitCount(either);
    }
    this.used = used;
    const { capacity, size } = this;
    const { entries, columns } = this.members;
    const isFull = size < capacity && used + SLACK > size;
    if (!isFull && (places + SLACK <= this.places || this.places === capacity)) return;
    const room = maxMatrixRows(renderer);
    const needed = isFull ? roomFor(used, size, capacity, Math.floor(room / columns)) : size;
    this.setSize(needed, roomFor(places, this.places, capacity, Math.floor(room / entries)));
  }

  /** Gives each instance the row of its own number, for good: for who poses all of them, or cannot be told of other buffers. */
  makeWhole(): void {
    const { capacity } = this;
    if (!this.isPooled) return;
    this.isPooled = false;
    if (this.size < capacity || this.places < capacity) this.setSize(capacity, capacity);
  }

  /** How many instances were posed at a time of the clock, in an epoch. */
  async countAt(renderer: WebGPURenderer, clock: number, epoch: number): Promise<number> {
    const posedAt = new Float32Array(await renderer.getArrayBufferAsync(this.posedAt));
    const time = Math.fround(clock);
    let count = 0;
    for (let i = 0; i < posedAt.length; i += 2) if (posedAt[i] === time && posedAt[i + 1] === epoch) count++;
    return count;
  }

  dispose(): void {
    this.beginFrame(-1);
    this.palette.dispose();
    this.locals.dispose();
    for (const buffer of [this.posedAt, this.rows, this.turns]) disposeAttribute(buffer);
    if (this.askedRates !== null) disposeAttribute(this.askedRates);
  }

  private setSize(size: number, places: number): void {
    const { palette, locals, rows, turns, retired } = this;
    this.idle = 0;
    if (places !== this.places) {
      this.places = places;
      retired.push(locals);
      this.locals = this.createLocals();
    }
    if (size === this.size) return;
    this.size = size;
    this.version++;
    // No camera's rows are from this turn.
    this.turn += 2;
    this.before.fill(0);
    retired.push(
      palette,
      { dispose: () => disposeAttribute(rows) },
      { dispose: () => disposeAttribute(turns) },
    );
    this.palette = this.createPalette();
    this.rows = this.createRows();
    this.turns = this.createTurns();
  }

  private createPalette(): MatrixRows {
    return createMatrixRows(this.size * this.members.columns, this.webGPU);
  }

  private createLocals(): MatrixRows {
    return createMatrixRows(this.places * this.members.entries, this.webGPU);
  }

  private createRows(): StorageBufferAttribute {
    return new StorageBufferAttribute(new Uint32Array(this.capacity * 2), 1);
  }

  private createTurns(): StorageBufferAttribute {
    return new StorageBufferAttribute(new Uint32Array(this.count + 1), 1);
  }

  private pairs(): StorageBufferAttribute {
    return new StorageBufferAttribute(new Float32Array(this.capacity * 2), 2);
  }
}

/** How much room to make where there is `size`, for `count` of `capacity`; no more than a device takes, if that will do. */
function roomFor(count: number, size: number, capacity: number, most: number): number {
  if (count + SLACK <= size) return size;
  const needed = Math.ceil(Math.max(count * SPARE + SLACK, size * 1.5));
  const fitting = needed > capacity / 2 ? capacity : needed;
  if (fitting <= most) return fitting;
  if (count <= most) return most;
  throw new Error(
    `SkinnedInstancedMesh: this device has room for the poses of ${most} instances, and not of all ${count} that cameras see; make several crowds.`,
  );
}

/** How many bits are set. */
function bitCount(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return (((fours + (fours >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}
