import { Euler, Quaternion, Vector3 } from 'three';

/** What values of bones call. */
export interface ValueOwner {
  /** Before a number is read or set: brings the value up to what its instance shows now. */
  read(): void;
  /** Once a number of a vector was set. */
  wrote?(): void;
}

/** A property under which a value keeps its owner; there is none while it is made, and none in clones. */
const OWNER = 'valueOwner';

type Owned = Record<string, unknown> & { [OWNER]?: ValueOwner };

/** A vector of a bone: up to date whenever it is read, also where a program holds on to it. */
export class BoneVector3 extends Vector3 {
  constructor(value: number, owner?: ValueOwner) {
    observe(BoneVector3.prototype, ['x', 'y', 'z']);
    super(value, value, value);
    own(this, owner);
  }

  /** As a plain vector is written. */
  toJSON(): { x: number; y: number; z: number } {
    return { x: this.x, y: this.y, z: this.z };
  }

  // That of Vector3 would pass its numbers to the constructor.
  override clone(): this {
    return new Vector3(this.x, this.y, this.z) as this;
  }
}

/** The same for its rotation. It tells of changes as every quaternion does. */
export class BoneQuaternion extends Quaternion {
  constructor(owner?: ValueOwner) {
    observe(BoneQuaternion.prototype, ['_x', '_y', '_z', '_w']);
    super();
    own(this, owner);
  }

  override clone(): this {
    return new Quaternion().copy(this) as this;
  }
}

/** The same as angles. */
export class BoneEuler extends Euler {
  constructor(owner?: ValueOwner) {
    observe(BoneEuler.prototype, ['_x', '_y', '_z', '_order']);
    super();
    own(this, owner);
  }

  override clone(): this {
    return new Euler().copy(this) as this;
  }
}

function own(value: object, owner: ValueOwner | undefined): void {
  Object.defineProperty(value, OWNER, { value: owner });
}

/**
 * Makes accessors of the numbers in which three.js keeps a value, so that all its methods go by them. Called by constructors, the first
 * of which does it: a module that does it as it is loaded stays in every page.
 */
function observe(prototype: object, names: readonly string[]): void {
  if (Object.hasOwn(prototype, names[0])) return;
  for (const name of names) {
    const kept = `${name}Kept`;
    Object.defineProperty(prototype, name, {
      get(this: Owned) {
        this[OWNER]?.read();
        return this[kept];
      },
      set(this: Owned, value: unknown) {
        this[OWNER]?.read();
        this[kept] = value;
        this[OWNER]?.wrote?.();
      },
    });
  }
}
