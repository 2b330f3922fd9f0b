import { Vector4 } from 'three';
import { clamp, dot, If, int, Loop, select, sqrt, uint, uniformArray, vec3, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { type Elements, type StorageOf, storageOf } from '../../../../shaders/tsl.js';
import {
  ALL_LEVELS,
  FADE_NEAR,
  FADE_STEPS,
  FADING,
  LEVEL_CODES,
  LEVEL_MASK,
  LEVEL_SCALE,
  MAX_LEVELS,
} from '../../../constants.js';
import { kindIn, levelsIn } from '../../../culling/LODSelector.js';
import type { NodesInTurn } from '../PerRenderer.js';
import type { ListedView } from './CameraLists.js';
import { isBitSet } from './compactLists.js';

/** The most lists of a view, a bit for each. */
export const MAX_LISTS = 31;
/** Larger than any distance: shaders need not know infinity. */
const FAR = 3e38;
/** Where in the table lists begin, behind what levels are measured by, and levels. */
const LISTS = 4;
const LEVELS = LISTS + MAX_LISTS;

/** The lists of an instance, in compute shaders. Twin of `lib/culling/SplitLists.ts` and `lib/features/levels/CameraLevels.ts`. */
export class SplitNodes {
  /** The last row is the level behind the last. */
  private readonly table = Array.from({ length: LEVELS + MAX_LEVELS + 1 }, () => new Vector4());
  /** Made once: each is a buffer of its own, of which a shader may have few. */
  private readonly rows = uniformArray(this.table, 'vec4') as unknown as Elements<'vec4'>;
  /** How many lists a view has, and whether levels fade. */
  private readonly count: number;
  private readonly fades: boolean;
  private readonly states: StorageOf<'uint'> | null;
  private readonly kinds: StorageOf<'uint'> | null;

  /** @param nodes Those of the steps, which are for one view after another. */
  constructor(nodes: NodesInTurn<ListedView>, { levels, kinds, buffers }: ListedView) {
    this.count = buffers.lists;
    this.fades = buffers.fades;
    this.states = levels && nodes.add(storageOf(levels.states, 'uint'), (of) => of.levels?.states);
    this.kinds = kinds && nodes.add(storageOf(kinds.buffer, 'uint').toReadOnly(), (of) => of.kinds?.buffer);
    nodes.call((of) => this.use(of));
  }

  /** The lists that an instance is in, a bit for each. Builds on the current stack. */
  listsOf(id: Node<'int'>, sphere: Node<'vec4'>): Node<'uint'> {
    const levels = this.levelsOf(id, sphere);
    const word = this.kinds?.element(id.shiftRight(2));
    const kind = word?.shiftRight(uint(id.bitAnd(3)).mul(uint(8))).bitAnd(uint(255));
    const own = kind && int(kind).toVar();
    const lists = uint(0).toVar();
    Loop(this.count, ({ i }) => {
      const row = this.rows.element(i.add(LISTS)).toVar();
      const isIn = uint(row.x).bitAnd(levels).notEqual(uint(0));
      If(own === undefined ? isIn : isIn.and(row.y.lessThan(0).or(int(row.y).equal(own))), () => {
        lists.assign(lists.bitOr(uint(1).shiftLeft(uint(i))));
      });
    });
    return lists;
  }

  /**
   * Which pixels of an instance are drawn by a list that it is in, see `FADE_STEPS`, after `listsOf`; null for all. Builds on the current
   * stack.
   */
  fadesOf(id: Node<'int'>): ((list: number) => Node<'uint'>) | null {
    const { states } = this;
    if (states === null || !this.fades) return null;
    const state = int(states.element(id)).toVar();
    const level = state.bitAnd(LEVEL_MASK).toVar();
    const [near, far] = [level, level.add(1)].map((at) => this.levelAt(at).drawn.toVar());
    const step = uint(select(this.inShadow, int(0), state.div(LEVEL_CODES))).toVar();
    return (list) => {
      const drawn = uint(this.rows.element(int(LISTS + list)).x).toVar();
      const isNear = isBitSet(drawn, near);
      const fade = select(isNear, step.bitOr(uint(FADE_NEAR)), step);
      const isWhole = step.equal(uint(0)).or(isNear.and(isBitSet(drawn, far)));
      return uint(select(isWhole, uint(0), fade));
    };
  }

  private use({ lists, splitter, levels, inShadow }: ListedView): void {
    const { table } = this;
    for (let i = 0; i < MAX_LISTS; i++) {
      const list = i < lists.length ? lists[i] : 0;
      // Where nothing is drawn at a level, an instance is in the level's own list alone.
      const some = levelsIn(list);
      const drawn = some === ALL_LEVELS ? (splitter?.drawnLevels ?? some) : some;
      table[LISTS + i].set(drawn, kindIn(list), 0, 0);
    }
    if (levels === null || splitter === null) return;
    const { measure, bySize, flat } = levels.chosen;
    for (let row = 0; row < 3; row++) table[row].fromArray(measure as unknown as number[], row * 4);
    // Then all are at a distance of 1.
    if (flat) for (let row = 0; row < 3; row++) table[row].set(0, 0, 0, row >> 1);
    table[3].set(measure[LEVEL_SCALE], bySize ? 1 : 0, inShadow ? 1 : 0, splitter.count);
    for (let level = 0; level <= MAX_LEVELS; level++) {
      const { enter, stay, fadeStart, fadeRate, reached } = splitter;
      const drawn = inShadow ? splitter.inShadow(reached[level]) : reached[level];
      const start = this.fades ? fadeStart : stay;
      table[LEVELS + level].set(
        Math.min(enter[level], FAR),
        Math.min(start[level], FAR),
        fadeRate[level],
        drawn,
      );
    }
  }

  /** What `use` wrote of a level. Builds on the current stack. */
  private levelAt(level: Node<'int'>) {
    const { x, y, z, w } = this.rows.element(level.add(LEVELS)).toVar();
    return { enter: x, stay: y, fadeStart: y, fadeRate: z, drawn: uint(w) };
  }

  private get inShadow(): Node<'bool'> {
    return this.rows.element(int(3)).z.notEqual(0);
  }

  /** The levels at which an instance is drawn, a bit for each. */
  private levelsOf(id: Node<'int'>, sphere: Node<'vec4'>): Node<'uint'> {
    const { states, rows, fades } = this;
    if (states === null) return uint(1);
    const center = vec4(sphere.xyz, 1).toVar();
    const [x, y, z] = [0, 1, 2].map((row) => dot(rows.element(int(row)), center));
    const to = vec3(x, y, z).toVar();
    const told = rows.element(int(3)).toVar();
    const measure = told.x.mul(dot(to, to)).toVar();
    If(told.y.notEqual(0), () => {
      measure.divAssign(sphere.w.mul(sphere.w));
    });
    const last = int(states.element(id)).toVar();
    const level = int(0).toVar();
    // No level is looked at behind the first that is not reached.
    Loop(MAX_LEVELS - 1, ({ i }) => {
      const next = i.add(1).toVar();
      const { enter, stay } = this.levelAt(next);
      const start = fades ? enter : select(last.equal(next), stay, enter);
      If(
        level
          .equal(i)
          .and(next.lessThan(int(told.w)))
          .and(measure.greaterThanEqual(start)),
        () => {
          level.assign(next);
        },
      );
    });
    const { drawn } = this.levelAt(level);
    const levels = uint(1).shiftLeft(drawn).toVar();
    if (!fades) {
      states.element(id).assign(uint(level));
      return levels;
    }
    // It may have passed over a part of the way to the next level, see `CameraLevels.stepAt`.
    const next = this.levelAt(level.add(1));
    const way = clamp(sqrt(measure).sub(next.fadeStart).mul(next.fadeRate), 0, FADE_STEPS - 1);
    const step = int(way).toVar();
    const code = level.add(select(step.greaterThan(0), int(FADING), int(0)));
    states.element(id).assign(uint(code.add(step.mul(LEVEL_CODES))));
    const far = uint(1).shiftLeft(next.drawn).toVar();
    // In shadow maps levels take turns at once, half way.
    const both = select(step.greaterThan(0), levels.bitOr(far), levels);
    const either = select(step.greaterThanEqual(FADE_STEPS / 2), far, levels);
    return uint(select(this.inShadow, either, both)).toVar();
  }
}
