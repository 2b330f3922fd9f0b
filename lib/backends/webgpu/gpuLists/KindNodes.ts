import { Vector4 } from 'three';
import { If, int, Loop, uint, uniformArray } from 'three/tsl';
import { type Node, StorageBufferAttribute } from 'three/webgpu';
import { type Elements, type StorageOf, storageOf } from '../../../../shaders/tsl.js';
import { kindIn, type ListNumber, levelsIn } from '../../../culling/LODSelector.js';
import { isBitSet } from './compactLists.js';

/** The most lists of a view that has kinds, a bit for each. */
export const MAX_LISTS = 31;
/** What is no kind, as `kindIn` has it: all instances are in the list, or none. */
const ALL = -1;
const NONE = -2;

/** A buffer of words that shares its numbers with an array of the crowd's. */
export class StoredWords {
  buffer = new StorageBufferAttribute(new Uint32Array(1), 1);
  private version = -1;

  /** @returns Whether they are other ones than the last time. */
  update({ buffer: words }: ArrayBufferView, version: number): boolean {
    const isOther = words !== this.buffer.array.buffer;
    if (isOther) {
      this.dispose();
      this.buffer = new StorageBufferAttribute(new Uint32Array(words as ArrayBuffer), 1);
    } else if (version === this.version) return false;
    else this.buffer.needsUpdate = true;
    this.version = version;
    return true;
  }

  dispose(): void {
    this.buffer.dispose();
  }
}

/** The lists of an instance by its kind, in compute shaders. Twin of `lib/culling/SplitLists.ts`. */
export class KindNodes {
  /** For each list of a view, the list of levels of detail that it is a part of, and the kind. */
  private readonly table = Array.from({ length: MAX_LISTS }, () => new Vector4());
  /** Made once: each is a buffer of its own, of which a shader may have few. */
  private readonly rows = uniformArray(this.table, 'vec4') as unknown as Elements<'vec4'>;
  private readonly kinds: StorageOf<'uint'>;

  /**
   * @param stored By id the number of an instance's kind, four of them in a word; those of one of the crowds.
   * @param lists How many a view has.
   */
  constructor(
    stored: StoredWords,
    private readonly lists: number,
  ) {
    this.kinds = storageOf(stored.buffer, 'uint').toReadOnly();
  }

  use({ buffer }: StoredWords, lists: readonly ListNumber[]): void {
    this.kinds.value = buffer;
    this.table.forEach((row, i) => {
      if (i >= lists.length) row.set(i, NONE, 0, 0);
      else row.set(lists.indexOf(levelsIn(lists[i])), kindIn(lists[i]), 0, 0);
    });
  }

  /**
   * The lists that an instance is in, a bit for each. Builds on the current stack.
   *
   * @param levels Its lists of levels.
   */
  expand(id: Node<'int'>, levels: Node<'uint'>): Node<'uint'> {
    const word = this.kinds.element(id.shiftRight(2));
    const kind = int(word.shiftRight(uint(id.bitAnd(3)).mul(uint(8))).bitAnd(uint(255))).toVar();
    const lists = uint(0).toVar();
    Loop(this.lists, ({ i }) => {
      const row = this.rows.element(i).toVar();
      const own = int(row.y).toVar();
      If(isBitSet(levels, uint(row.x)).and(own.equal(ALL).or(own.equal(kind))), () => {
        lists.assign(lists.bitOr(uint(1).shiftLeft(uint(i))));
      });
    });
    return lists;
  }

  /** The bit of the list of levels that a list is a part of. Builds on the current stack. */
  bitOf(list: number): Node<'uint'> {
    return uint(1)
      .shiftLeft(uint(this.rows.element(int(list)).x))
      .toVar();
  }
}
