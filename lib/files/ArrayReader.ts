import type { ArrayOrder, ArrayType } from './bakedJSON.js';
import { type Blocks, inRows } from './columns.js';
import { countOf, expectField, objectOf } from './fileErrors.js';

/** An array of numbers of any kind that files hold. */
export type AnyArray = Float64Array | Float32Array | Uint32Array | Int32Array | Uint16Array | Uint8Array;

const KINDS = {
  float64: Float64Array,
  float32: Float32Array,
  uint32: Uint32Array,
  int32: Int32Array,
  uint16: Uint16Array,
  uint8: Uint8Array,
};

/** Typed arrays by the name of their type. */
type ArrayOf<T extends ArrayType> = InstanceType<(typeof KINDS)[T]>;

/** The name of an array's type. */
export function typeOf(array: AnyArray): ArrayType {
  return (Object.keys(KINDS) as ArrayType[]).find((type) => array instanceof KINDS[type]) as ArrayType;
}

/** Bytes of a number. */
function bytesOf(type: ArrayType): number {
  return KINDS[type].BYTES_PER_ELEMENT;
}

/** The bytes of an array, little-endian. */
export function toBytes(array: AnyArray): Uint8Array {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  return isLittleEndian() ? bytes : reversed(bytes, array.BYTES_PER_ELEMENT);
}

/** The array that bytes are of: a copy, unless they are alone in their memory. */
function fromBytes<T extends ArrayType>(bytes: Uint8Array, type: T): ArrayOf<T> {
  const Kind = KINDS[type];
  const own = isLittleEndian() ? bytes : reversed(bytes, Kind.BYTES_PER_ELEMENT);
  // Not `slice`, which of Node's buffers copies nothing.
  const { buffer } = own.byteLength === own.buffer.byteLength ? own : new Uint8Array(own);
  return new Kind(buffer as ArrayBuffer) as ArrayOf<T>;
}

const isLittleEndian = () => new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Each number's bytes the other way round. */
function reversed(bytes: Uint8Array, size: number): Uint8Array {
  const turned = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) turned[i - (i % size) + size - 1 - (i % size)] = bytes[i];
  return turned;
}

const ORDERS: readonly unknown[] = ['rows', 'columns', 'differences'];

/** Reads the arrays of something that was encoded, by their names. */
export class ArrayReader {
  private readonly json: Record<string, unknown>;

  /**
   * @param json For each name what is said of the array.
   * @param field Where that stands in the file, for messages.
   */
  constructor(
    json: unknown,
    private readonly views: readonly Uint8Array[],
    private readonly field: string,
  ) {
    this.json = objectOf(json, field);
  }

  /**
   * An array of its own; an empty one if the file has none of that name.
   *
   * @param length How many numbers it has to have, if that is known.
   * @throws If it is of another type or length.
   */
  read<T extends ArrayType>(name: string, type: T, length?: number): ArrayOf<T> {
    const field = `${this.field}.${name}`;
    if (!Object.hasOwn(this.json, name)) {
      expectField((length ?? 0) === 0, field, undefined, `an array of ${length}`);
      return fromBytes(new Uint8Array(0), type);
    }
    const json = objectOf(this.json[name], field);
    expectField(json.type === type, `${field}.type`, json.type, `"${type}"`);
    const { views } = this;
    const view = countOf(json.view, `${field}.view`, views.length - 1);
    const has = views[view].byteLength / bytesOf(type);
    expectField(json.length === has, `${field}.length`, json.length, `${has}, as many as the view holds`);
    if (length !== undefined) expectField(has === length, `${field}.length`, has, `${length}`);
    return fromBytes(views[view], type);
  }

  /**
   * An array of texels, in rows.
   *
   * @param where Tells of the array where its rows are.
   */
  readTexels<T extends 'float32' | 'uint16'>(
    name: string,
    type: T,
    where: (array: ArrayOf<T>) => Blocks,
  ): ArrayOf<T> {
    const array = this.read(name, type);
    if (array.length === 0) return array;
    const field = `${this.field}.${name}`;
    const { order } = this.json[name] as { order: ArrayOrder };
    const known = ORDERS.includes(order) && (order !== 'differences' || type === 'uint16');
    expectField(known, `${field}.order`, order, 'an order that such numbers are stored in');
    expectField(array.length % 4 === 0, `${field}.length`, array.length, 'a multiple of 4');
    return inRows(array, order, where(array), field);
  }
}
