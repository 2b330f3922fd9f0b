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
  // Only declared: the constructor of Color sets them already, by way of r, g and b.
  /** @internal */
  declare _r: number;
  /** @internal */
  declare _g: number;
  /** @internal */
  declare _b: number;
  /** @internal */
  readonly changed: () => void;

  constructor({ r, g, b }: Color, changed: () => void) {
    observeObservedColor();
    super(r, g, b);
    this.changed = changed;
  }

  // `Color.clone` would pass no callback.
  override clone(): this {
    return new Color(this._r, this._g, this._b) as this;
  }
}

/** Layers that call back when they are set. */
export class ObservedLayers extends Layers {
  // Only declared: the constructor of Layers sets it already, by way of `mask`.
  /** @internal */
  declare _mask: number;
  /** @internal */
  readonly changed: (mask: number) => void;

  constructor(changed: (mask: number) => void) {
    observeObservedLayers();
    super();
    this.changed = changed;
  }
}

function observeObservedVector3(): void {
  if (Object.hasOwn(ObservedVector3.prototype, 'x')) return;
  // TypeScript does not let accessors take the place of fields.
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

function observeObservedColor(): void {
  if (Object.hasOwn(ObservedColor.prototype, 'r')) return;
  // TypeScript does not let accessors take the place of fields.
  Object.defineProperties(ObservedColor.prototype, {
    r: {
      get(this: ObservedColor) {
        return this._r;
      },
      set(this: ObservedColor, value: number) {
        this._r = value;
        // Not there yet while Color sets them.
        this.changed?.();
      },
    },
    g: {
      get(this: ObservedColor) {
        return this._g;
      },
      set(this: ObservedColor, value: number) {
        this._g = value;
        this.changed?.();
      },
    },
    b: {
      get(this: ObservedColor) {
        return this._b;
      },
      set(this: ObservedColor, value: number) {
        this._b = value;
        this.changed?.();
      },
    },
  });
}

function observeObservedLayers(): void {
  if (Object.hasOwn(ObservedLayers.prototype, 'mask')) return;
  // TypeScript does not let accessors take the place of fields.
  Object.defineProperties(ObservedLayers.prototype, {
    mask: {
      get(this: ObservedLayers) {
        return this._mask;
      },
      set(this: ObservedLayers, value: number) {
        this._mask = value;
        // Not there yet while Layers sets it.
        this.changed?.(value);
      },
    },
  });
}
