import { Vector4 } from 'three';
import { bool, If, instanceIndex, int, select, uint, uniform, uniformArray, vec2 } from 'three/tsl';
import type { Node, StorageBufferAttribute } from 'three/webgpu';
import type { PosedAtNodes } from '../../../../shaders/posePass.tsl.js';
import {
  type AtomicUints,
  atomicsIn,
  type Elements,
  pairsIn,
  type StoredPairs,
  type StoredUints,
  uintsIn,
  While,
} from '../../../../shaders/tsl.js';
import { ID_MASK, LEVEL_CODES, MAX_LEVELS } from '../../../constants.js';
import type { SeenRows } from './SeenRows.js';
import type { ViewBuffers } from './ViewBuffers.js';

/** Invocations of a workgroup of the pose pass. */
export const POSE_WORKGROUP = 64;

/** Of the row of an instance: its number, and whether the instance has to be posed. */
const ROW_MASK = 0x7fffffff;
const DUE = 0x80000000;

/** Where an instance is posed that a camera sees. */
export interface SeenPlace {
  /** Its place in the camera's list. */
  place: Node<'int'>;
  /** Its row in the palette. */
  row: Node<'int'>;
}

/** Poses a member of an instance. */
export type PoseMember = (instance: Node<'int'>, member: Node<'int'>, seen?: SeenPlace) => void;

/** The row of an instance in a palette. Builds on the current stack. */
export const seenRowOf = (rows: StoredUints, instance: Node<'int'>): Node<'int'> =>
  int(rows.element(instance.mul(2)).bitAnd(uint(ROW_MASK))).toVar();

/** How often instances are posed that a camera sees, by their levels of detail. */
export interface SeenRates {
  /** The level of each instance when the camera last saw it for which pictures are drawn; null if there is one level. */
  states: StorageBufferAttribute | null;
  /** Poses a second at each level; 0 for one in every frame. */
  readonly poseRates: Float32Array;
}

/** Says whether an instance has to be posed. `rate` is that of its level of detail, null if levels have none. */
type IsStale = (instance: Node<'int'>, posedAt: PosedAtNodes, rate: Node<'float'> | null) => Node<'bool'>;

/** Lets the pose pass go through the instances that a camera sees, and remember when each was posed. */
export class SeenNodes {
  private readonly posedAt: StoredPairs;
  private readonly rows: StoredUints;
  private readonly rowsRead: StoredUints;
  private readonly turns: AtomicUints;
  private readonly turn = uniform(0, 'uint');
  /** Rows that are handed out; 0 where each instance has the row of its own number. */
  private readonly rowCount = uniform(0, 'int');
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
    this.rows = uintsIn(rows.rows);
    this.rowsRead = uintsIn(rows.rows).toReadOnly();
    this.turns = atomicsIn(rows.turns);
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
    this.rows.value = rows.rows;
    this.rowsRead.value = rows.rows;
    this.turns.use(rows.turns);
    this.turn.value = rows.turn;
    this.rowCount.value = rows.count;
    this.count.value = count;
    this.epoch.value = epoch;
    this.bits.value = bits;
    this.ids.value = ids;
    this.totals.value = totals;
  }

  /** Gives rows to whom the camera sees, and marks those of whoever has to be posed. One invocation for each instance. */
  mark(isStale: IsStale, clock: Node<'float'>): void {
    const { count, bits, epoch, posedAt, rows, turn } = this;
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
          const isKnown = last.y.equal(epoch).toVar();
          const row = id.toVar();
          If(this.rowCount.notEqual(0), () => {
            const kept = rows.element(id.mul(2).add(1)).add(uint(1)).greaterThanEqual(turn);
            If(kept, () => {
              row.assign(seenRowOf(rows, id));
            }).Else(() => {
              row.assign(this.freeRow(id));
              isKnown.assign(bool(false));
            });
            this.turns.store(row.add(1), turn);
            rows.element(id.mul(2).add(1)).assign(turn);
          });
          const stale = isStale(id, { clock: last.x, isKnown }, this.rateOf(id, clock));
          rows.element(id.mul(2)).assign(uint(row).bitOr(select(stale, uint(DUE), uint(0))));
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
      const word = this.rowsRead.element(instance.mul(2)).toVar();
      If(word.greaterThanEqual(uint(DUE)), () => {
        const member = index.sub(place.mul(members)).toVar();
        pose(instance, member, { place, row: int(word.bitAnd(uint(ROW_MASK))).toVar() });
      });
    });
  }

  /**
   * A row whose instance was seen neither in this turn nor in the one before. All invocations go through the rows together, so that
   * no two of them look at the same one; there are as many as it takes, see `SeenRows.see`. Builds on the current stack.
   */
  private freeRow(id: Node<'int'>): Node<'int'> {
    const { turns, rowCount, turn } = this;
    const row = id.mod(rowCount).toVar();
    const tried = int(0).toVar();
    While(tried.lessThan(rowCount), () => {
      const next = int(turns.add(int(0), uint(1)).mod(uint(rowCount))).toVar();
      tried.addAssign(1);
      If(turns.load(next.add(1)).add(uint(1)).lessThan(turn), () => {
        row.assign(next);
        tried.assign(rowCount);
      });
    });
    return row;
  }

  /**
   * How often an instance is posed for its levels: where several cameras see it, as often as the one that needs it most. Twin of
   * `PoseDirtyTracker.rateOf`. Builds on the current stack.
   */
  private rateOf(id: Node<'int'>, clock: Node<'float'>): Node<'float'> | null {
    if (this.asked === null) return null;
    const rates = uniformArray(this.rates, 'vec4') as unknown as Elements<'vec4'>;
    const state = this.states === null ? int(0) : int(this.states.element(id));
    // With `FADING` if it is passing over to the next.
    const level = this.fades ? state.bitAnd(LEVEL_CODES - 1) : state;
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
