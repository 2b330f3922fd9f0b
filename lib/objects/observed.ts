import { Color, Layers, Vector3 } from 'three';

/** A vector that calls back when one of its numbers is set, as three.js's `Quaternion` and `Euler` do. */
export class ObservedVector3 extends Vector3 {
  // Only declared: the constructor of Vector3 sets them already, by way of x, y and z.
  /** @internal */
  declare _x: number;
  /** @internal */
  declare _y: number;
  /** @internal */
  declare _z: number;
  /** @internal */
  readonly changed: () => void;

  constructor(x: number, y: number, z: number, changed: () => void) {
    observeObservedVector3();
    super(x, y, z);
    this.changed = changed;
  }

  /** As a plain vector is written. */
  toJSON(): { x: number; y: number; z: number } {
    return { x: this._x, y: this._y, z: this._z };
  }

  // `Vector3.clone` would pass no callback.
  override clone(): this {
    return new Vector3(this._x, this._y, this._z) as this;
  }
}

/** A colour that calls back when one of its numbers is set, some times for each change. */
export class ObservedColor extends Color {
  constructor({ r, g, b }: Color, wrote: () => void) {
    observe(ObservedColor.prototype, ['r', 'g', 'b']);
    super(r, g, b);
    own(this, { wrote });
  }

  // `Color.clone` would pass no callback.
  override clone(): this {
    return new Color(this.r, this.g, this.b) as this;
  }
}

/** Layers that call back when they are set. */
export class ObservedLayers extends Layers {
  constructor(changed: (mask: number) => void) {
    observe(ObservedLayers.prototype, ['mask']);
    super();
    own(this, { wrote: () => changed(this.mask) });
  }
}

/** What observed values call. */
export interface ValueOwner {
  /** Before a number is read or set: brings the value up to what it stands for. */
  read?(): void;
  /** Once a number was set. */
  wrote?(): void;
}

/** A property under which a value keeps its owner; there is none while it is made, and none in clones. */
const OWNER = 'valueOwner';

type Owned = Record<string, unknown> & { [OWNER]?: ValueOwner };

export function own(value: object, owner: ValueOwner | undefined): void {
  Object.defineProperty(value, OWNER, { value: owner });
}

/**
 * Makes accessors of the numbers in which three.js keeps a value, so that all its methods go by them. Called by constructors, the first
 * of which does it: a module that does it as it is loaded stays in every page.
 */
export function observe(prototype: object, names: readonly string[]): void {
  if (Object.hasOwn(prototype, names[0])) return;
  for (const name of names) {
    const kept = `${name}Kept`;
    Object.defineProperty(prototype, name, {
      get(this: Owned) {
        this[OWNER]?.read?.();
        return this[kept];
      },
      set(this: Owned, value: unknown) {
        this[OWNER]?.read?.();
        this[kept] = value;
        this[OWNER]?.wrote?.();
      },
    });
  }
}

function observeObservedVector3(): void {
  if (Object.hasOwn(ObservedVector3.prototype, 'x')) return;
  // TypeScript does not let accessors take the place of fields. They are written out: those that `observe` makes by name are slower,
  // and places are set in each frame.
  Object.defineProperties(ObservedVector3.prototype, {
    x: {
      get(this: ObservedVector3) {
        return this._x;
      },
      set(this: ObservedVector3, value: number) {
        this._x = value;
        // Not there yet while Vector3 sets them.
        this.changed?.();
      },
    },
    y: {
      get(this: ObservedVector3) {
        return this._y;
      },
      set(this: ObservedVector3, value: number) {
        this._y = value;
        this.changed?.();
      },
    },
    z: {
      get(this: ObservedVector3) {
        return this._z;
      },
      set(this: ObservedVector3, value: number) {
        this._z = value;
        this.changed?.();
      },
    },
  });
}
