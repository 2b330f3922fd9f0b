import { If, instanceIndex, int, invocationLocalIndex, Loop, uint, workgroupBarrier } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { bitCount, type StorageOf, While, workgroupAtomics } from '../../../../shaders/tsl.js';
import { ID_BITS } from '../../../constants.js';

/**
 * Makes lists of the instances that are in them, in ascending order: drawn in any other order, transparent instances would
 * flicker. Two computations follow each other. The first says of each instance which lists it is in, a bit for each, the second
 * counts the bits that come before it, and writes the lists.
 */

/** Invocations of a workgroup; each deals with an instance. Every device takes so many. */
export const WORKGROUP = 256;
/** Words in which a workgroup keeps a bit for each of its instances. */
export const GROUP_WORDS = WORKGROUP / 32;

/** The buffers of lists, which lie one after the other. */
export interface ListNodes {
  /** How many lists there are. */
  readonly lists: number;
  /** The most instances that can be in one. */
  readonly capacity: Node<'int'>;
  /** Words of bits that each list has room for. */
  readonly words: Node<'int'>;
  readonly bits: Pick<StorageOf<'uint'>, 'element'>;
  readonly ids: Pick<StorageOf<'uint'>, 'element'>;
}

export const isBitSet = (bits: Node<'uint'>, at: Node<'uint'>): Node<'bool'> =>
  bits.shiftRight(at).bitAnd(uint(1)).notEqual(uint(0));

/**
 * First step, for each instance.
 *
 * @param mask Of the invocation's instance: bit i says whether it is in list i.
 */
export function writeBits({ lists, words, bits }: ListNodes, mask: Node<'uint'>): void {
  const gathered = workgroupAtomics('gathered', lists * GROUP_WORDS);
  const local = int(invocationLocalIndex).toVar();
  Loop(lists, ({ i: list }) => {
    If(isBitSet(mask, uint(list)), () => {
      const bit = uint(1).shiftLeft(uint(local).bitAnd(uint(31)));
      gathered.or(list.mul(GROUP_WORDS).add(local.shiftRight(5)), bit);
    });
  });
  workgroupBarrier();
  If(local.lessThan(lists * GROUP_WORDS), () => {
    const list = local.div(GROUP_WORDS).toVar();
    const word = local.sub(list.mul(GROUP_WORDS)).toVar();
    const group = int(instanceIndex).sub(local).div(32);
    bits.element(list.mul(words).add(group).add(word)).assign(gathered.load(local));
  });
}

/** The beginning of the second step: each workgroup counts what comes before its instances. */
export function countLists({ lists, words, bits }: ListNodes) {
  const sums = workgroupAtomics('sums', lists);
  const local = int(invocationLocalIndex).toVar();
  const first = int(instanceIndex).sub(local).toVar();
  const addBits = (sum: Node<'uint'>, from: Node<'int'>, end: Node<'int'>, step: number) => {
    const word = from.toVar();
    While(word.lessThan(end), () => {
      sum.addAssign(bitCount(bits.element(word)));
      word.addAssign(step);
    });
  };
  Loop(lists, ({ i: list }) => {
    const row = list.mul(words).toVar();
    const sum = uint(0).toVar();
    addBits(sum, row.add(local), row.add(first.shiftRight(5)).toVar(), WORKGROUP);
    If(sum.notEqual(uint(0)), () => {
      sums.add(list, sum);
    });
  });
  workgroupBarrier();
  return {
    first,
    countBefore(list: Node<'int'>, id: Node<'int'>) {
      const row = list.mul(words).toVar();
      const word = row.add(id.shiftRight(5)).toVar();
      const sum = sums.load(list).toVar();
      addBits(sum, row.add(first.shiftRight(5)), word, 1);
      const before = uint(1)
        .shiftLeft(uint(id).bitAnd(uint(31)))
        .sub(uint(1));
      sum.addAssign(bitCount(bits.element(word).bitAnd(before)));
      return sum;
    },
  };
}

/**
 * The end of the second step, for each instance.
 *
 * @param fadesOf Which pixels of an instance are drawn by each list that it is in; null for all.
 */
export function writeLists(
  { lists, words, bits, capacity, ids }: ListNodes,
  { countBefore }: ReturnType<typeof countLists>,
  fadesOf: (id: Node<'int'>) => ((list: number) => Node<'uint'>) | null,
): void {
  const id = int(instanceIndex).toVar();
  const fadeIn = fadesOf(id);
  for (let list = 0; list < lists; list++) {
    const word = bits.element(id.shiftRight(5).add(words.mul(list)));
    If(isBitSet(word, uint(id).bitAnd(uint(31))), () => {
      const place = int(countBefore(int(list), id));
      ids
        .element(place.add(capacity.mul(list)))
        .assign(fadeIn === null ? uint(id) : uint(id).bitOr(fadeIn(list).shiftLeft(uint(ID_BITS))));
    });
  }
}
