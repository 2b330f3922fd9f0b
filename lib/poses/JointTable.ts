import { describe } from '../utils/describe.js';

/** A joint that objects may be attached to. */
export interface Socket {
  /** Index of the joint. */
  joint: number;
  /**
   * The joint's bind matrix, 12 numbers row by row: it takes an object in the joint's own space to where the joint's skinning
   * matrix moves it from.
   */
  bind: readonly number[];
}

/** Finds joints by name or index. */
export class JointTable {
  /**
   * @param names In the order of the texels.
   * @param binds Bind matrix of each; null for joints of skins in detached bind mode.
   */
  constructor(
    readonly names: readonly string[],
    private readonly binds: readonly (readonly number[] | null)[],
  ) {}

  /**
   * Index of a joint.
   *
   * @throws If there is no such joint.
   */
  indexOf(joint: string | number): number {
    const { names } = this;
    const index = typeof joint === 'number' ? joint : names.indexOf(joint);
    if (Number.isInteger(index) && index >= 0 && index < names.length) return index;
    throw new Error(
      `There is no joint ${describe(joint)}; there are ${names.length}, ` +
        `"${names[0]}" to "${names[names.length - 1]}".`,
    );
  }

  /**
   * A joint to attach to. Of several with one name it is the last, since sockets come after all other joints.
   *
   * @throws If there is no such joint, or it is of a skin in detached bind mode.
   */
  socket(joint: string | number): Socket {
    const { names, binds } = this;
    const last = typeof joint === 'string' ? names.lastIndexOf(joint) : joint;
    if (last === -1) {
      throw new Error(
        `There is no joint "${joint}" to attach to; there are ${names.map((name) => `"${name}"`).join(', ')}. ` +
          `For another node under the root, bake with sockets: ['${joint}'].`,
      );
    }
    const index = this.indexOf(last);
    const bind = binds[index];
    if (bind === null) {
      throw new Error(
        `Joint "${joint}" is of a skin in detached bind mode; bake with sockets: ['${names[index]}'].`,
      );
    }
    return { joint: index, bind };
  }
}
