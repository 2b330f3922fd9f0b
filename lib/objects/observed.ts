import { Color, type Euler, Layers, type Object3D, type Quaternion, Vector3 } from 'three';
import { observe, own, type ValueOwner } from '../utils/observe.js';

/** Declared by an interface, so that accessors may take the place of fields. */
interface VectorFields extends Vector3 {
  x: number;
  y: number;
  z: number;
}

const Vector = Vector3 as unknown as new (x: number, y: number, z: number) => VectorFields;

/** A vector that tells its owner when its numbers are read and set, also where a program holds on to it. */
export class ObservedVector3 extends Vector {
  // Only declared: the constructor of Vector3 sets them already, by way of x, y and z, when there is no owner yet.
  /** @internal */
  declare _x: number;
  /** @internal */
  declare _y: number;
  /** @internal */
  declare _z: number;

  constructor(
    value: number,
    /** @internal */
    readonly owner: ValueOwner,
  ) {
    super(value, value, value);
  }

  override get x(): number {
    this.owner?.read?.('x');
    return this._x;
  }

  override set x(value: number) {
    this.owner?.read?.('x');
    this._x = value;
    this.owner?.wrote?.();
  }

  override get y(): number {
    this.owner?.read?.('y');
    return this._y;
  }

  override set y(value: number) {
    this.owner?.read?.('y');
    this._y = value;
    this.owner?.wrote?.();
  }

  override get z(): number {
    this.owner?.read?.('z');
    return this._z;
  }

  override set z(value: number) {
    this.owner?.read?.('z');
    this._z = value;
    this.owner?.wrote?.();
  }

  /** As a plain vector is written. */
  toJSON(): { x: number; y: number; z: number } {
    return { x: this.x, y: this.y, z: this.z };
  }

  // `Vector3.clone` would pass no owner.
  override clone(): this {
    return new Vector3(this.x, this.y, this.z) as this;
  }
}

/** Gives an object other fields, not to be written over, as in every Object3D. */
export function setFields(object: Object3D, values: Partial<Record<keyof Object3D, object>>): void {
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(object, name, { configurable: true, enumerable: true, value });
}

/** Has a rotation and a quaternion follow each other, as `Object3D` does, and call back when either is set. */
export function observeRotation(rotation: Euler, quaternion: Quaternion, wrote: () => void): void {
  rotation._onChange(() => {
    quaternion.setFromEuler(rotation, false);
    wrote();
  });
  quaternion._onChange(() => {
    rotation.setFromQuaternion(quaternion, undefined, false);
    wrote();
  });
}

/** A colour that calls back when one of its numbers is set, some times for each change. */
export class ObservedColor extends Color {
  constructor({ r, g, b }: Color, wrote: (color: Color) => void) {
    observe(ObservedColor.prototype, ['r', 'g', 'b']);
    super(r, g, b);
    own(this, { wrote: () => wrote(this) });
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
