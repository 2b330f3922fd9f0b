import { InstanceList } from '../culling/InstanceList.js';
import type { PoseDirtyTracker } from './PoseDirtyTracker.js';

/** Room for those who come into view next, in shares of those who are seen. */
const SPARE = 1.25;
/** Small crowds have a row for each instance. */
const MIN_SIZE = 128;
/** Once so small a share of the rows was in use for so many moments, they are given back. */
export const SHARE_IN_USE = 0.25;
const PATIENCE = 120;

/**
 * Which row of a palette holds the pose of which instance. Instances get rows as cameras see them, and lose them to others once they
 * are not seen any more, so that memory goes by who is seen.
 */
export class PaletteRows {
  /** How many rows there are. */
  size = 0;
  /** Whether each instance below `size` has the row of its own number, so that nobody has to look rows up. */
  inOrder = true;
  /** The row of each instance, which is `size` for those without one, and the instance of each row. */
  rowOf = new InstanceList(0, true).texture;
  instanceOf = new InstanceList(0, true);
  /** Goes up when an instance gets another row. */
  private version = 0;
  /** Where the search for a row goes on. */
  private hand = 0;
  /** For how many moments few rows were in use. */
  private idle = 0;

  /** @param free Frees what draws may still read. */
  constructor(
    public capacity: number,
    private readonly free = (thing: { dispose(): void }): unknown => thing.dispose(),
  ) {}

  /** Makes room for another number of instances, in the palette that there is: that goes by who is seen. */
  resize(capacity: number): void {
    this.capacity = capacity;
    this.setSize(this.size > capacity ? 0 : this.size);
  }

  /** How many rows there should be where so many are seen. */
  sizeFor(count: number, size = this.size): number {
    const wanted = Math.ceil(Math.max(count * SPARE, size * 1.5, MIN_SIZE));
    return wanted > this.capacity / 2 ? this.capacity : wanted;
  }

  /**
   * Gives back what has not been used for long. Call it once a moment, with the number of instances that were seen in the one before.
   *
   * @returns Whether there are no rows any more.
   */
  shrink(count: number): boolean {
    const { size } = this;
    if (count === 0 || count > size * SHARE_IN_USE || this.sizeFor(count, 0) === size) this.idle = 0;
    else if (++this.idle > PATIENCE) this.setSize(0);
    return this.size < size;
  }

  /** Rows are those of the beginning then. */
  setSize(size: number): void {
    this.size = size;
    this.hand = this.idle = 0;
    this.version++;
    this.inOrder = true;
    this.free(this.rowOf);
    this.free(this.instanceOf);
    this.rowOf = new InstanceList(size > 0 ? this.capacity : 0, true).texture;
    this.rowOf.data.fill(size);
    for (let id = 0; id < size; id++) this.rowOf.data[id] = id;
    this.instanceOf = new InstanceList(size, true);
    this.instanceOf.assignAll();
  }

  /** The row of an instance that is to be posed: another's, if it has none, for whom nobody asks. There are at least as many as are asked for. */
  rowFor(id: number, { asked, lose }: PoseDirtyTracker): number {
    const { instanceOf, rowOf, size } = this;
    const { data } = rowOf;
    while (data[id] === size) {
      const row = this.hand;
      this.hand = (row + 1) % size;
      const former = instanceOf.get(row);
      if ((asked[former >> 5] & (1 << (former & 31))) !== 0) continue;
      this.inOrder = false;
      this.version++;
      data[former] = size;
      rowOf.changed(former >> 2);
      lose(former);
      data[id] = row;
      rowOf.changed(id >> 2);
      instanceOf.set(row, id);
    }
    return data[id];
  }

  /** A list of instances by their rows. */
  listed(list: InstanceList): InstanceList {
    return this.inOrder ? list : list.rows(this.rowOf.data, this.version);
  }

  dispose(): void {
    this.setSize(0);
  }
}
