import { Color } from 'three';

/** A colour that calls back when one of its numbers is set, some times for each change. */
export class ObservedColor extends Color {
  // Only declared: the constructor of Color sets them already, by way of r, g and b.
  declare private _r: number;
  declare private _g: number;
  declare private _b: number;
  private readonly changed: () => void;

  static {
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

  constructor({ r, g, b }: Color, changed: () => void) {
    super(r, g, b);
    this.changed = changed;
  }

  // `Color.clone` would pass no callback.
  override clone(): this {
    return new Color(this._r, this._g, this._b) as this;
  }
}
