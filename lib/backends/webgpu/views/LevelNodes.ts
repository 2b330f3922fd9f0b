import { Vector4 } from 'three';
import { dot, If, int, Loop, select, uint, uniform, uniformArray, vec3, vec4 } from 'three/tsl';
import type { Node, StorageBufferAttribute } from 'three/webgpu';
import { type Elements, type StoredUints, uintsIn } from '../../../../shaders/tsl.js';
import type { CameraLevels } from '../../../views/CameraLevels.js';
import { type LevelTable, MAX_LEVELS } from '../../../views/LevelTable.js';

/** Larger than any distance: shaders need not know infinity. */
const FAR = 3e38;

/** The level of detail of an instance, in compute shaders. Twin of `lib/views/CameraLevels.ts`. */
export class LevelNodes {
  /** Of each level: from where on it is drawn, the same if it is drawn already, the lists that it is in. */
  private readonly table: Vector4[] = Array.from({ length: MAX_LEVELS }, () => new Vector4());
  /** See `CameraLevels.measure`. */
  private readonly rows: Vector4[] = Array.from({ length: 3 }, () => new Vector4());
  private readonly scale = uniform(1);
  private readonly bySize = uniform(0, 'int');
  private readonly flat = uniform(0, 'int');
  private readonly count = uniform(1, 'int');
  private readonly states: StoredUints;

  /** @param states The level of each instance when it was last seen; `use` lets it be that of another camera. */
  constructor(states: StorageBufferAttribute) {
    this.states = uintsIn(states);
  }

  /**
   * @param chosen As the camera sees them for which pictures are drawn.
   * @param inShadow Whether this is for a shadow map, which may be drawn coarser.
   */
  use(table: LevelTable, chosen: CameraLevels, states: StorageBufferAttribute, inShadow: boolean): void {
    const { measure } = chosen;
    this.rows.forEach((row, i) => {
      row.fromArray(measure as unknown as number[], i * 4);
    });
    this.scale.value = measure[12];
    this.bySize.value = chosen.bySize ? 1 : 0;
    this.flat.value = chosen.flat ? 1 : 0;
    this.count.value = table.count;
    this.states.value = states;
    this.table.forEach((numbers, level) => {
      const shown = inShadow ? table.inShadow(level) : level;
      numbers.set(
        Math.min(table.enter[level], FAR),
        Math.min(table.stay[level], FAR),
        listsOf(table, shown),
        0,
      );
    });
  }

  /**
   * The lists of which an instance is one at its level, a bit for each. Builds on the current stack.
   *
   * @param sphere Around the instance, in the crowd's space.
   */
  choose(id: Node<'int'>, sphere: Node<'vec4'>): Node<'uint'> {
    const table = uniformArray(this.table, 'vec4') as unknown as Elements<'vec4'>;
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
      const numbers = table.element(next).toVar();
      const start = select(last.equal(next), numbers.y, numbers.x);
      If(level.equal(i).and(next.lessThan(this.count)).and(measure.greaterThanEqual(start)), () => {
        level.assign(next);
      });
    });
    this.states.element(id).assign(uint(level));
    return uint(table.element(level).z).toVar();
  }
}

/** The first list has all at whose level something is drawn, then there is one for each level, then those of several. */
function listsOf(table: LevelTable, level: number): number {
  let lists = table.isDrawn(level) ? 1 : 0;
  lists |= 2 << level;
  table.mixed.forEach((levels, i) => {
    lists |= ((levels >> level) & 1) << (1 + table.count + i);
  });
  return lists;
}

/** How many lists a view has. */
export const listCount = (table: LevelTable): number =>
  table.isUsed ? 1 + table.count + table.mixed.length : 1;

/** The place among them of that of a mesh, by its `level`. */
export const listAt = (table: LevelTable, level: number | null): number => {
  if (level === null || level < 0 || !table.isUsed) return 0;
  return 1 + (level < MAX_LEVELS ? level : table.count + level - MAX_LEVELS);
};
