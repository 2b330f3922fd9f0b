import type { InstanceList } from './InstanceList.js';

/**
 * Says which instances of a crowd are drawn. With one, shaders ask `instanceIndex()` which instance the drawn index stands
 * for, and all that instances have is read from textures; without one, the drawn index is the instance, and nothing is asked.
 */
export interface View {
  /** How many are drawn: the first so many of the list. */
  readonly count: number;
  readonly list: InstanceList;
  /** Whether these are simply the first `count` instances, so that the list need not be read, and is not kept up to date. */
  readonly isWhole?: boolean;
  /** Whether there are instances in the list of which only some pixels are drawn. */
  readonly isFading?: boolean;
  /**
   * Brings the list up to date; called before each draw, also into a shadow map.
   *
   * @param count Instances in use.
   */
  update?(count: number): void;
}
