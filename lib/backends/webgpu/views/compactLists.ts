import {
  If,
  instanceIndex,
  int,
  invocationLocalIndex,
  Loop,
  storageBarrier,
  uint,
  workgroupBarrier,
} from 'three/tsl';
import type { Node } from 'three/webgpu';
import { bitCount, type Uints, While, workgroupValues } from '../../../../shaders/tsl.js';
import { ID_BITS } from '../../../constants.js';

/**
 * Makes lists of the instances that are in them, in ascending order: drawn in any other order, transparent instances would
 * flicker. Three computations follow each other. The first says of each instance which lists it is in, a bit for each,
 * the second counts the bits that come before each word of 32 of them, and the third writes the lists.
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
  readonly bits: Uints;
  /** For each word of each list, how many instances come before it. */
  readonly starts: Uints;
  readonly ids: Uints;
}

/**
 * First step, for each instance.
 *
 * @param mask Of the invocation's instance: bit i says whether it is in list i.
 */
export function writeBits({ lists, words, bits }: ListNodes, mask: Node<'uint'>): void {
  const masks = workgroupValues('uint', 'masks', WORKGROUP);
  const local = int(invocationLocalIndex).toVar();
  masks.element(local).assign(mask);
  workgroupBarrier();
  If(local.lessThan(lists * GROUP_WORDS), () => {
    const list = local.div(GROUP_WORDS).toVar();
    const word = local.sub(list.mul(GROUP_WORDS)).toVar();
    const gathered = uint(0).toVar();
    Loop(32, ({ i }) => {
      const bit = masks.element(word.mul(32).add(i)).shiftRight(uint(list)).bitAnd(uint(1));
      gathered.assign(gathered.bitOr(bit.shiftLeft(uint(i))));
    });
    const group = int(instanceIndex).sub(local).div(32);
    bits.element(list.mul(words).add(group).add(word)).assign(gathered);
  });
}

/**
 * Second step, for one workgroup.
 *
 * @param used Words in use of each list.
 * @returns How many instances are in each list, for all invocations.
 */
export function countBits({ lists, words, bits, starts }: ListNodes, used: Node<'int'>): Uints {
  const totals = workgroupValues('uint', 'totals', lists);
  const sums = workgroupValues('uint', 'sums', WORKGROUP);
  const local = int(invocationLocalIndex).toVar();
  const share = used
    .add(WORKGROUP - 1)
    .div(WORKGROUP)
    .toVar();
  const first = local.mul(share).toVar();
  const end = first.add(share).toVar();
  Loop(lists, ({ i: list }) => {
    const row = list.mul(words).toVar();
    const ownWords = (visit: (word: Node<'int'>) => void) => {
      const word = first.toVar();
      While(word.lessThan(end).and(word.lessThan(used)), () => {
        visit(row.add(word).toVar());
        word.addAssign(1);
      });
    };
    const own = uint(0).toVar();
    ownWords((word) => {
      own.addAssign(bitCount(bits.element(word)));
    });
    sums.element(local).assign(own);
    workgroupBarrier();
    for (let step = 1; step < WORKGROUP; step *= 2) {
      const before = uint(0).toVar();
      If(local.greaterThanEqual(step), () => {
        before.assign(sums.element(local.sub(step)));
      });
      workgroupBarrier();
      sums.element(local).addAssign(before);
      workgroupBarrier();
    }
    const start = sums.element(local).sub(own).toVar();
    ownWords((word) => {
      starts.element(word).assign(start);
      start.addAssign(bitCount(bits.element(word)));
    });
    If(local.equal(WORKGROUP - 1), () => {
      totals.element(list).assign(start);
    });
  });
  // What is written to buffers is read too.
  storageBarrier();
  workgroupBarrier();
  return totals;
}

/** How many instances of a list come before one. Builds on the current stack, after the second step or at its end. */
export function countBefore(
  { words, bits, starts }: ListNodes,
  list: Node<'int'>,
  id: Node<'int'>,
): Node<'uint'> {
  const word = list.mul(words).add(id.shiftRight(5)).toVar();
  const before = uint(1)
    .shiftLeft(uint(id).bitAnd(uint(31)))
    .sub(uint(1));
  return starts
    .element(word)
    .add(bitCount(bits.element(word).bitAnd(before)))
    .toVar();
}

/**
 * Third step, for each instance.
 *
 * @param fadesOf Which pixels of an instance are drawn by each list that it is in; null for all.
 */
export function writeLists(
  nodes: ListNodes,
  fadesOf: ((id: Node<'int'>) => (list: number) => Node<'uint'>) | null,
): void {
  const id = int(instanceIndex).toVar();
  const bit = uint(1)
    .shiftLeft(instanceIndex.bitAnd(uint(31)))
    .toVar();
  const fadeIn = fadesOf?.(id) ?? null;
  for (let list = 0; list < nodes.lists; list++) {
    const word = nodes.bits.element(id.shiftRight(5).add(nodes.words.mul(list)));
    If(word.bitAnd(bit).notEqual(uint(0)), () => {
      const place = int(countBefore(nodes, int(list), id));
      nodes.ids
        .element(place.add(nodes.capacity.mul(list)))
        .assign(fadeIn === null ? uint(id) : uint(id).bitOr(fadeIn(list).shiftLeft(uint(ID_BITS))));
    });
  }
}
