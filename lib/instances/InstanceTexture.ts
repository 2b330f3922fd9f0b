import { type DataArrayTexture, DataTexture, FloatType, RGBAFormat } from 'three';
import { INSTANCES_PER_ROW } from '../constants.js';
import { type OwnedFloats, swapItems } from '../utils/attributes.js';

/** Array textures have at least this many layers. */
const MAX_LAYERS = 256;

/**
 * A texture with a few numbers for each instance, of which only what changed is uploaded. WebGLRenderer can upload parts of a
 * plain texture, WebGPURenderer only whole layers of an array texture: so there is one of each over the same numbers, made
 * when it is first asked for; that of layers by `layeredOf`.
 */
export class InstanceTexture {
  readonly data: OwnedFloats;

  readonly stride: number;
  readonly rows: number;
  readonly layerRows: number;
  private plainTexture: DataTexture | null = null;
  layeredTexture: DataArrayTexture | null = null;
  /** A range for each row that ever waited for upload. They serve again, since otherwise some would be made in each frame. */
  private readonly ranges: ({ start: number; count: number } | undefined)[];
  /** How often all that waited was sent, and how often it had been when each row last had something that waited. */
  private sent = 0;
  private readonly waitsSince: Int32Array;
  /** The renderer that was prepared for last; others must not upload a part only. */
  private last: WeakRef<object> | null = null;
  /** Whether all of the plain texture waits for upload, so that ranges would leave something out. */
  private allWaits = false;

  /**
   * @param stride Numbers per instance, a multiple of 4.
   * @param perRow Instances in a row.
   */
  constructor(
    capacity: number,
    stride: number,
    readonly perRow = INSTANCES_PER_ROW,
  ) {
    const rows = Math.max(1, Math.ceil(capacity / perRow));
    this.layerRows = Math.ceil(rows / MAX_LAYERS);
    this.rows = Math.ceil(rows / this.layerRows) * this.layerRows;
    this.stride = stride;
    this.data = new Float32Array(this.rows * perRow * stride);
    this.ranges = new Array(this.rows);
    this.waitsSince = new Int32Array(this.rows).fill(-1);
  }

  /** For WebGLRenderer: `perRow` instances a row. */
  get plain(): DataTexture {
    // Made elsewhere: a function in which another one is made costs something at each call.
    this.plainTexture ??= this.makePlain();
    return this.plainTexture;
  }

  /** Marks an instance for upload. */
  changed(index: number): void {
    this.changedRange(index, index + 1);
  }

  /** Marks the instances from `start` up to and without `end` for upload. */
  changedRange(start: number, end: number): void {
    const { perRow } = this;
    for (let at = start; at < end; ) {
      const row = Math.floor(at / perRow);
      const next = Math.min((row + 1) * perRow, end);
      this.changedInRow(row, at, next);
      at = next;
    }
  }

  /**
   * Replaces `count` numbers from `at` on, which are of one row if that is not 0. Only what differs from before is uploaded, each row
   * from its first difference to its last.
   */
  assign(values: ArrayLike<number>, count: number, at = 0): void {
    const { data, stride } = this;
    const perRow = this.perRow * stride;
    for (let start = at; start < at + count; start += perRow) {
      const end = Math.min(start + perRow, at + count);
      let first = start;
      while (first < end && data[first] === values[first - at]) first++;
      if (first === end) continue;
      let last = end - 1;
      while (data[last] === values[last - at]) last--;
      for (let i = first; i <= last; i++) data[i] = values[i - at];
      this.changed(Math.floor(first / stride));
      this.changed(Math.floor(last / stride));
    }
  }

  /** Exchanges the numbers of two instances. */
  swap(i: number, j: number): void {
    swapItems(this.data, i, j, this.stride);
    this.changed(i);
    this.changed(j);
  }

  /** Marks all of it for upload. */
  changedAll(): void {
    // Without ranges, renderers send all of a texture, in one call rather than in one for each row.
    this.waitWhole();
    this.changedRange(0, this.rows * this.perRow);
  }

  /** Call before a renderer draws: one that has never had the texture must get all of it, also after `disposePlain`. */
  prepare(renderer: object): void {
    // What another renderer was sent is not among the ranges any more, which are those since then.
    if (this.last?.deref() === renderer) return;
    this.last = new WeakRef(renderer);
    this.waitWhole();
    this.layeredTexture?.clearLayerUpdates();
  }

  dispose(): void {
    this.disposePlain();
    this.layeredTexture?.dispose();
  }

  /** A renderer that has let go of it gets all of it again. */
  disposePlain(): void {
    this.waitWhole();
    this.plainTexture?.dispose();
  }

  private makePlain(): DataTexture {
    const texture = new DataTexture(this.data, this.width, this.rows, RGBAFormat, FloatType);
    texture.needsUpdate = this.allWaits = true;
    texture.onUpdate = () => {
      this.allWaits = false;
    };
    return texture;
  }

  private waitWhole(): void {
    if (this.plainTexture === null) return;
    this.plainTexture.clearUpdateRanges();
    this.allWaits = true;
  }

  private changedInRow(row: number, start: number, end: number): void {
    const { stride, plainTexture, layeredTexture, ranges, waitsSince } = this;
    if (plainTexture !== null) {
      if (!this.allWaits) {
        const { updateRanges } = plainTexture;
        // Renderers take the ranges away that they have sent.
        if (updateRanges.length === 0) this.sent++;
        let range = ranges[row];
        if (range === undefined) {
          range = { start: 0, count: 0 };
          ranges[row] = range;
        }
        if (waitsSince[row] === this.sent) {
          const last = Math.max(range.start + range.count, end * stride);
          range.start = Math.min(range.start, start * stride);
          range.count = last - range.start;
        } else {
          waitsSince[row] = this.sent;
          range.start = start * stride;
          range.count = (end - start) * stride;
          updateRanges.push(range);
        }
      }
      plainTexture.needsUpdate = true;
    }
    if (layeredTexture !== null) {
      layeredTexture.addLayerUpdate(Math.floor(row / this.layerRows));
      layeredTexture.needsUpdate = true;
    }
  }

  get width(): number {
    return (this.perRow * this.stride) / 4;
  }
}

/** Gives an instance the numbers of another. */
export function copyItem(texture: InstanceTexture, from: number, to: number): void {
  const { data, stride } = texture;
  data.copyWithin(to * stride, from * stride, (from + 1) * stride);
  texture.changed(to);
}
