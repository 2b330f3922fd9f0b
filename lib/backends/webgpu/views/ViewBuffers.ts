import { IndirectStorageBufferAttribute, StorageBufferAttribute } from 'three/webgpu';
import { disposeAttribute } from '../../../utils/attributes.js';
import { GROUP_WORDS, WORKGROUP } from './compactLists.js';

/** Numbers that an indirect draw takes: vertices, instances, first vertex, and two that are zero here. */
export const DRAW_NUMBERS = 5;

/** The buffers in which the GPU keeps what one camera sees of a crowd. */
export class ViewBuffers {
  /** Instances in each list, `capacity` numbers for each: ids, or entries if levels of detail fade, see `entryOf`. */
  readonly ids: StorageBufferAttribute;
  /** How many instances are in each list. */
  readonly totals: StorageBufferAttribute;
  /** What each draw of the crowd's meshes takes, `DRAW_NUMBERS` for each. */
  draws: IndirectStorageBufferAttribute;
  /** Workgroups of the two steps that pose the instances of the first list. */
  readonly poseSizes: readonly [IndirectStorageBufferAttribute, IndirectStorageBufferAttribute];
  /** Of each list a bit for each instance. */
  readonly bits: StorageBufferAttribute;
  /** Words of bits of a list. */
  readonly words: number;

  /**
   * @param capacity Instances that there is room for.
   * @param lists How many lists there are.
   * @param draws Draws that there is room for.
   * @param fades Whether levels of detail fade.
   */
  constructor(
    readonly capacity: number,
    readonly lists: number,
    draws: number,
    readonly fades: boolean,
  ) {
    this.words = Math.ceil(capacity / WORKGROUP) * GROUP_WORDS;
    this.ids = uints(lists * capacity);
    this.totals = uints(lists);
    this.draws = createDraws(draws);
    this.poseSizes = [createSize(), createSize()];
    this.bits = uints(lists * this.words);
  }

  /** Draws that there is room for. */
  get drawCapacity(): number {
    return this.draws.count / DRAW_NUMBERS;
  }

  /** Makes room for more draws. Returns what held them, which a draw may still read in this frame. */
  growDraws(draws: number): { dispose(): void } {
    const before = this.draws;
    this.draws = createDraws(draws);
    return { dispose: () => disposeAttribute(before) };
  }

  dispose(): void {
    for (const buffer of [this.ids, this.totals, this.draws, ...this.poseSizes, this.bits])
      disposeAttribute(buffer);
  }
}

const createSize = () => new IndirectStorageBufferAttribute(new Uint32Array(3), 1);

const createDraws = (draws: number) =>
  new IndirectStorageBufferAttribute(new Uint32Array(draws * DRAW_NUMBERS), 1);

/** Room for so many whole numbers; at least one, since there are no empty buffers. */
const uints = (count: number): StorageBufferAttribute =>
  new StorageBufferAttribute(new Uint32Array(Math.max(1, count)), 1);
