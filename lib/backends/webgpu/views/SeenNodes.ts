import { Vector4 } from 'three';
import { If, instanceIndex, int, uint, uniform, uniformArray, vec2 } from 'three/tsl';
import { type Node, StorageBufferAttribute, type WebGPURenderer } from 'three/webgpu';
import type { PosedAtNodes } from '../../../../shaders/posePass.tsl.js';
import {
  type Elements,
  pairsIn,
  type StoredPairs,
  type StoredUints,
  uintsIn,
} from '../../../../shaders/tsl.js';
import { ID_MASK, LEVEL_CODES, MAX_LEVELS } from '../../../constants.js';
import { disposeAttribute } from '../../../utils/attributes.js';
import { levelOfState } from './LevelNodes.js';
import type { ViewBuffers } from './ViewBuffers.js';

/** Invocations of a workgroup of the pose pass. */
export const POSE_WORKGROUP = 64;

/** Poses a member of an instance. `at` is the number of what it writes, if that is not the number of the invocation. */
export type PoseMember = (instance: Node<'int'>, member: Node<'int'>, at?: Node<'int'>) => void;

/** How often instances are posed that a camera sees, by their levels of detail. */
export interface SeenRates {
  /** The level of each instance when the camera last saw it for which pictures are drawn; null if there is one level. */
  readonly states: StorageBufferAttribute | null;
  /** Poses a second at each level; 0 for one in every frame. */
  readonly poseRates: Float32Array;
}

/** Says whether an instance has to be posed. `rate` is that of its level of detail, null if levels have none. */
type IsStale = (instance: Node<'int'>, posedAt: PosedAtNodes, rate: Node<'float'> | null) => Node<'bool'>;

/** What is kept of the instances of a crowd of which those are posed that cameras see. */
export class SeenRows {
  /** When each instance was posed: seconds of the clock, and of which epoch. */
  readonly posedAt: StorageBufferAttribute;
  /** For each instance, 1 if it has to be posed for this camera. */
  readonly marks: StorageBufferAttribute;
  private askedRates: StorageBufferAttribute | null = null;
  private readonly capacity: number;

  constructor(capacity: number) {
    this.capacity = Math.max(1, capacity);
    this.posedAt = this.pairs();
    this.marks = new StorageBufferAttribute(new Uint32Array(this.capacity), 1);
  }

  /** The highest of the rates at which cameras want each instance posed, and when one has asked for it. */
  get asked(): StorageBufferAttribute {
    this.askedRates ??= this.pairs();
    return this.askedRates;
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
    disposeAttribute(this.posedAt);
    disposeAttribute(this.marks);
    if (this.askedRates !== null) disposeAttribute(this.askedRates);
  }

  private pairs(): StorageBufferAttribute {
    return new StorageBufferAttribute(new Float32Array(this.capacity * 2), 2);
  }
}

/** Lets the pose pass go through the instances that a camera sees, and remember when each was posed. */
export class SeenNodes {
  private readonly posedAt: StoredPairs;
  private readonly marks: StoredUints;
  private readonly marked: StoredUints;
  private readonly asked: StoredPairs | null;
  private readonly lastClock = uniform(0);
  private readonly count = uniform(0, 'int');
  private readonly epoch = uniform(0);
  private readonly bits: StoredUints;
  private readonly ids: StoredUints;
  private readonly totals: StoredUints;
  /** Poses a second of each level, as the first number of each vector. */
  private readonly rates: Vector4[];
  private readonly states: StoredUints | null;
  private readonly fades: boolean;

  /** What follows lets `use` replace, by that of another crowd and camera. */
  constructor(rows: SeenRows, { bits, ids, totals, fades }: ViewBuffers, levels: SeenRates | null) {
    this.fades = fades;
    this.rates = Array.from({ length: fades ? LEVEL_CODES : MAX_LEVELS }, () => new Vector4());
    this.asked = levels === null ? null : pairsIn(rows.asked);
    this.states = levels === null || levels.states === null ? null : uintsIn(levels.states).toReadOnly();
    this.posedAt = pairsIn(rows.posedAt);
    this.marks = uintsIn(rows.marks);
    this.marked = uintsIn(rows.marks).toReadOnly();
    this.bits = uintsIn(bits).toReadOnly();
    this.ids = uintsIn(ids).toReadOnly();
    this.totals = uintsIn(totals).toReadOnly();
  }

  /**
   * @param view What the camera sees.
   * @param epoch Another number whenever the clock does not go on from where it was.
   * @param levels Those of levels of detail, if they have any.
   * @param lastClock Seconds of the clock before it was last moved.
   */
  use(
    count: number,
    rows: SeenRows,
    { bits, ids, totals }: ViewBuffers,
    epoch: number,
    levels: SeenRates | null,
    lastClock: number,
  ): void {
    this.lastClock.value = lastClock;
    if (levels !== null) {
      for (let level = 0; level < this.rates.length; level++) this.rates[level].x = levels.poseRates[level];
      if (this.states !== null && levels.states !== null) this.states.value = levels.states;
      if (this.asked !== null) this.asked.value = rows.asked;
    }
    this.posedAt.value = rows.posedAt;
    this.marks.value = rows.marks;
    this.marked.value = rows.marks;
    this.count.value = count;
    this.epoch.value = epoch;
    this.bits.value = bits;
    this.ids.value = ids;
    this.totals.value = totals;
  }

  /** Marks who is seen and has to be posed. One invocation for each instance. */
  mark(isStale: IsStale, clock: Node<'float'>): void {
    const { count, bits, epoch, posedAt, marks } = this;
    const id = int(instanceIndex).toVar();
    If(id.lessThan(count), () => {
      // The first list has all that are seen.
      const word = bits.element(id.shiftRight(5));
      If(
        word
          .shiftRight(uint(id).bitAnd(uint(31)))
          .bitAnd(uint(1))
          .notEqual(uint(0)),
        () => {
          const last = posedAt.element(id).toVar();
          const stale = isStale(id, { clock: last.x, isKnown: last.y.equal(epoch) }, this.rateOf(id, clock));
          marks.element(id).assign(uint(stale));
          If(stale, () => {
            posedAt.element(id).assign(vec2(clock, epoch));
          });
        },
      );
    });
  }

  /** Builds what is done for each of the `members` of each instance that is marked. */
  each(members: Node<'int'>, pose: PoseMember): void {
    const index = int(instanceIndex).toVar();
    const place = index.div(members).toVar();
    If(place.lessThan(int(this.totals.element(int(0)))), () => {
      const entry = this.ids.element(place);
      const instance = int(this.fades ? entry.bitAnd(uint(ID_MASK)) : entry).toVar();
      If(this.marked.element(instance).notEqual(uint(0)), () => {
        const member = index.sub(place.mul(members)).toVar();
        pose(instance, member, instance.mul(members).add(member).toVar());
      });
    });
  }

  /**
   * How often an instance is posed for its levels: where several cameras see it, as often as the one that needs it most. Twin of
   * `PosedRows.rateOf`. Builds on the current stack.
   */
  private rateOf(id: Node<'int'>, clock: Node<'float'>): Node<'float'> | null {
    if (this.asked === null) return null;
    const rates = uniformArray(this.rates, 'vec4') as unknown as Elements<'vec4'>;
    const level = this.states === null ? int(0) : levelOfState(int(this.states.element(id)), this.fades);
    const rate = rates.element(level).x.toVar();
    const stored = this.asked;
    const last = stored.element(id).toVar();
    const isHigher = rate.notEqual(0).and(last.x.equal(0).or(last.x.greaterThan(rate)));
    // What lies in the future is from an epoch before.
    const isRecent = last.y.greaterThanEqual(this.lastClock).and(last.y.lessThanEqual(clock));
    If(isHigher.and(isRecent), () => {
      rate.assign(last.x);
    }).Else(() => {
      stored.element(id).assign(vec2(rate, clock));
    });
    return rate;
  }
}
