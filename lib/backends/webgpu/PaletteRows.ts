import { LIST_TEXELS } from '../../constants.js';
import { InstanceTexture } from '../../instances/InstanceTexture.js';

/** Numbers in a texel. */
const PER_TEXEL = 4;
/** Room for those who come into view next, in shares of those who are seen. */
const SPARE = 1.25;
/** Once so small a share of the rows was in use for so many moments, the others are given back. */
const SHARE_IN_USE = 0.25;
const PATIENCE = 120;
/** Of an instance without a row, and of a row without an instance. */
const NONE = -1;

/**
 * Which row of a palette holds the pose of which instance. Rows are handed out to instances as cameras see them and taken from
 * those that are not seen any more, so that memory goes by who is seen. Where half of a crowd is seen, each instance has the row
 * of its own number.
 */
export class PaletteRows {
  /** How many rows there are. */
  size = 0;
  /** Of the rows that are to be posed next, bit `row & 31` of word `row >> 5`. */
  due: Int32Array = new Int32Array(0);

  /** The row of each instance, and the instance of each row, as textures that shaders read; null while these are the same. */
  texture: InstanceTexture | null = null;
  instanceOf: InstanceTexture | null = null;
  private rows: Int32Array = new Int32Array(0);
  private instances: Int32Array = new Int32Array(0);
  private hand = 0;
  private idle = 0;

  /** Whether each of the instances has the row of its own number. */
  get isWhole(): boolean {
    return this.size >= this.capacity;
  }

  /** @param free Frees what draws may still read. */
  constructor(
    public capacity: number,
    private readonly free = (texture: InstanceTexture): unknown => texture.dispose(),
  ) {}

  /**
   * Makes room for so many. Whoever had a row has none any more then.
   *
   * @param perRow Rows come in multiples of so many.
   * @returns Whether there had to be made any.
   */
  grow(count: number, perRow: number): boolean {
    if (count <= this.size) return false;
    const requested = Math.ceil(Math.max(count * SPARE, this.size * 2) / perRow) * perRow;
    this.setSize(requested > this.capacity / 2 ? this.capacity : requested);
    return true;
  }

  /** Makes room for the places of another number of instances, of whom none has a row then. There are as many rows as before. */
  resize(capacity: number): void {
    this.capacity = capacity;
    this.setSize(this.size > capacity ? 0 : this.size);
  }

  /** Call once a moment, with the number of instances that were seen in the one before: gives back what has not been used for long. */
  shrink(count: number): void {
    if (count === 0 || count > this.size * SHARE_IN_USE) this.idle = 0;
    else if (++this.idle > PATIENCE) this.setSize(0);
  }

  /**
   * Gives rows to those instances that shall be posed and have none, and marks the rows of all of them as due.
   *
   * @param posed Bits of these instances.
   * @param kept Bits of those that must keep their rows.
   * @param lost Called for each instance whose row is taken.
   */
  assign(posed: Int32Array, kept: Int32Array, lost: (id: number) => void): void {
    const { rows, due } = this;
    due.fill(0);
    for (let word = 0; word < posed.length; word++) {
      for (let rest = posed[word]; rest !== 0; rest &= rest - 1) {
        const id = word * 32 + 31 - Math.clz32(rest & -rest);
        if (rows[id] === NONE) this.take(id, kept, lost);
        due[rows[id] >> 5] |= 1 << (rows[id] & 31);
      }
    }
  }

  dispose(): void {
    this.setSize(0);
  }

  /** There are at least as many rows as instances that must keep theirs. */
  private take(id: number, kept: Int32Array, lost: (id: number) => void): void {
    const { rows, instances } = this;
    let row = this.hand;
    while (instances[row] !== NONE && (kept[instances[row] >> 5] & (1 << (instances[row] & 31))) !== 0)
      row = (row + 1) % this.size;
    this.hand = (row + 1) % this.size;
    const former = instances[row];
    if (former !== NONE) {
      rows[former] = NONE;
      lost(former);
    }
    rows[id] = row;
    instances[row] = id;
    write(this.texture, id, row);
    write(this.instanceOf, row, id);
  }

  private setSize(size: number): void {
    this.size = size;
    this.hand = this.idle = 0;
    if (this.texture !== null) this.free(this.texture);
    if (this.instanceOf !== null) this.free(this.instanceOf);
    this.texture = this.instanceOf = null;
    if (this.isWhole || size === 0) return;
    this.due = new Int32Array(Math.ceil(size / 32));
    this.rows = new Int32Array(this.capacity).fill(NONE);
    this.instances = new Int32Array(size).fill(NONE);
    this.texture = createTexture(this.capacity);
    this.instanceOf = createTexture(size);
  }
}

function createTexture(count: number): InstanceTexture {
  const texels = Math.ceil(count / PER_TEXEL);
  return new InstanceTexture(texels, PER_TEXEL, Math.min(texels, LIST_TEXELS));
}

function write(texture: InstanceTexture | null, at: number, value: number): void {
  if (texture === null) return;
  texture.data[at] = value;
  texture.changed(at >> 2);
}
