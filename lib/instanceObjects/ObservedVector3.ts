import { Vector3 } from 'three';

/** A vector that calls back when one of its numbers is set, as three.js's `Quaternion` and `Euler` do. */
export class ObservedVector3 extends Vector3 {
  // Only declared: the constructor of Vector3 sets them already, by way of x, y and z.
  declare private _x: number;
  declare private _y: number;
  declare private _z: number;
  private readonly changed: () => void;

  static {
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

  constructor(x: number, y: number, z: number, changed: () => void) {
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
