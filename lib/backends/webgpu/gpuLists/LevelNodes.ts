import { Vector4 } from 'three';
import { clamp, dot, If, int, Loop, select, sqrt, uint, uniform, uniformArray, vec3, vec4 } from 'three/tsl';
import type { Node, StorageBufferAttribute } from 'three/webgpu';
import { type Elements, type StorageOf, storageOf } from '../../../../shaders/tsl.js';
import {
  FADE_NEAR,
  FADE_STEPS,
  FADING,
  LEVEL_CODES,
  LEVEL_MASK,
  LEVEL_SCALE,
  MAX_LEVELS,
} from '../../../constants.js';
import {
  kindIn,
  type LevelMeasure,
  type ListNumber,
  type LODSelector,
} from '../../../culling/LODSelector.js';

/** Larger than any distance: shaders need not know infinity. */
const FAR = 3e38;

/** The level of detail of an instance, in compute shaders. Twin of `lib/features/levels/CameraLevels.ts`. */
export class LevelNodes {
  /** For each level, and the one behind the last, the numbers that `rowOf` names. */
  private readonly table = Array.from({ length: MAX_LEVELS + 1 }, () => new Vector4());
  /** Made once: each is a buffer of its own. */
  private readonly levels = uniformArray(this.table, 'vec4') as unknown as Elements<'vec4'>;
  /** For each of these the lists that an instance is in: of more bits than a float holds. */
  private readonly bits = this.table.map(() => 0);
  private readonly lists = uniformArray(this.bits, 'uint') as unknown as Elements<'uint'>;
  /** See `LevelMeasure`. */
  private readonly rows: Vector4[] = Array.from({ length: 3 }, () => new Vector4());
  private readonly scale = uniform(1);
  private readonly bySize = uniform(0, 'int');
  private readonly flat = uniform(0, 'int');
  private readonly count = uniform(1, 'int');
  private readonly inShadow = uniform(0, 'int');
  private readonly states: StorageOf<'uint'>;

  /**
   * @param states The level of each instance when it was last seen; where levels fade, a code with its step in multiples of
   * `LEVEL_CODES`. `use` lets it be that of another camera.
   * @param fades Whether levels fade.
   */
  constructor(
    states: StorageBufferAttribute,
    readonly fades: boolean,
  ) {
    this.states = storageOf(states, 'uint');
  }

  /**
   * @param chosen As the camera sees them for which pictures are drawn.
   * @param inShadow Whether this is for a shadow map, which may be drawn coarser.
   */
  use(
    table: LODSelector,
    lists: readonly ListNumber[],
    chosen: LevelMeasure,
    states: StorageBufferAttribute,
    inShadow: boolean,
  ): void {
    const { measure } = chosen;
    for (let i = 0; i < this.rows.length; i++) this.rows[i].fromArray(measure as unknown as number[], i * 4);
    this.scale.value = measure[LEVEL_SCALE];
    this.bySize.value = chosen.bySize ? 1 : 0;
    this.flat.value = chosen.flat ? 1 : 0;
    this.count.value = table.count;
    this.inShadow.value = inShadow ? 1 : 0;
    this.states.value = states;
    for (let level = 0; level < this.table.length; level++) {
      const reached = table.reached[level];
      this.bits[level] = listsAt(inShadow ? table.inShadow(reached) : reached, table, lists);
      this.table[level].set(
        Math.min(table.enter[level], FAR),
        Math.min(table.stay[level], FAR),
        table.fadeStart[level],
        table.fadeRate[level],
      );
    }
  }

  /**
   * The lists of which an instance is one at its level, a bit for each. Builds on the current stack.
   *
   * @param sphere Around the instance, in the crowd's space.
   */
  choose(id: Node<'int'>, sphere: Node<'vec4'>): Node<'uint'> {
    const rows = uniformArray(this.rows, 'vec4') as unknown as Elements<'vec4'>;
    const measure = this.scale.toVar();
    If(this.flat.equal(0), () => {
      const center = vec4(sphere.xyz, 1).toVar();
      const [x, y, z] = [0, 1, 2].map((i) => dot(rows.element(int(i)), center));
      const to = vec3(x, y, z).toVar();
      measure.mulAssign(dot(to, to));
    });
    If(this.bySize.notEqual(0), () => {
      measure.divAssign(sphere.w.mul(sphere.w));
    });
    const last = int(this.states.element(id)).toVar();
    const level = int(0).toVar();
    // No level is looked at behind the first that is not reached.
    Loop(MAX_LEVELS - 1, ({ i }) => {
      const next = i.add(1).toVar();
      const { enter, stay } = this.rowOf(next);
      const start = this.fades ? enter : select(last.equal(next), stay, enter);
      If(level.equal(i).and(next.lessThan(this.count)).and(measure.greaterThanEqual(start)), () => {
        level.assign(next);
      });
    });
    if (this.fades) return this.fade(id, measure, level);
    this.states.element(id).assign(uint(level));
    return this.rowOf(level).lists.toVar();
  }

  /** What `use` wrote of a level. Builds on the current stack. */
  private rowOf(level: Node<'int'>) {
    const { x, y, z, w } = this.levels.element(level).toVar();
    // The lists that an instance at this level is in, a bit for each.
    const lists = this.lists.element(level);
    return { enter: x, stay: y, fadeStart: z, fadeRate: w, lists };
  }

  /** The same for an instance that may have passed over a part of the way to the next level. Twin of `CameraLevels.stepAt`. */
  private fade(id: Node<'int'>, measure: Node<'float'>, level: Node<'int'>): Node<'uint'> {
    const next = this.rowOf(level.add(1));
    const way = clamp(sqrt(measure).sub(next.fadeStart).mul(next.fadeRate), 0, FADE_STEPS - 1);
    const step = int(way).toVar();
    const code = level.add(select(step.greaterThan(0), int(FADING), int(0)));
    this.states.element(id).assign(uint(code.add(step.mul(LEVEL_CODES))));
    const lists = this.rowOf(level).lists.toVar();
    If(this.inShadow.equal(0).and(step.greaterThan(0)), () => {
      lists.assign(lists.bitOr(next.lists));
    });
    // In shadow maps levels take turns at once, half way.
    If(this.inShadow.notEqual(0).and(step.greaterThanEqual(FADE_STEPS / 2)), () => {
      lists.assign(next.lists);
    });
    return lists;
  }

  /**
   * Which pixels of an instance are drawn by a list that it is in, whose bit among those of levels `bitOf` tells, see `FADE_STEPS`, after `choose`. Twin of
   * `SplitLists.split`. Builds on the current stack.
   */
  fadesOf(
    id: Node<'int'>,
    bitOf = (list: number): Node<'uint'> => uint(1 << list),
  ): (list: number) => Node<'uint'> {
    const state = int(this.states.element(id)).toVar();
    const level = state.bitAnd(LEVEL_MASK).toVar();
    const near = this.rowOf(level).lists.toVar();
    const far = this.rowOf(level.add(1)).lists.toVar();
    const step = uint(select(this.inShadow.equal(0), state.div(LEVEL_CODES), int(0))).toVar();
    const isIn = (lists: Node<'uint'>, list: number) => lists.bitAnd(bitOf(list)).notEqual(uint(0));
    return (list) => {
      const fade = select(isIn(near, list), step.bitOr(uint(FADE_NEAR)), step);
      return uint(select(step.equal(uint(0)).or(isIn(near.bitAnd(far), list)), uint(0), fade));
    };
  }
}

/** Those of all kinds that an instance at a level is in, a bit for each. Where nothing is drawn, it is in the level's own alone. */
function listsAt(level: number, table: LODSelector, lists: readonly ListNumber[]): number {
  let bits = 0;
  lists.forEach((list, i) => {
    const isIn = table.hasContent(level) ? (list >> level) & 1 : list === 1 << level;
    if (kindIn(list) < 0 && isIn) bits |= 1 << i;
  });
  return bits;
}
