import { Layers } from 'three';

/** Layers that call back when they are set. */
export class ObservedLayers extends Layers {
  // Only declared: the constructor of Layers sets it already, by way of `mask`.
  declare private _mask: number;
  private readonly changed: (mask: number) => void;

  static {
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

  constructor(changed: (mask: number) => void) {
    super();
    this.changed = changed;
  }
}
