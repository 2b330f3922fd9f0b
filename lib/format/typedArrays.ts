import type { ArrayType } from './bakedJSON.js';

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
export type ArrayOf<T extends ArrayType> = InstanceType<(typeof KINDS)[T]>;

/** The name of an array's type. */
export function typeOf(array: AnyArray): ArrayType {
  return (Object.keys(KINDS) as ArrayType[]).find((type) => array instanceof KINDS[type]) as ArrayType;
}

/** Bytes of a number. */
export function bytesOf(type: ArrayType): number {
  return KINDS[type].BYTES_PER_ELEMENT;
}

/** The bytes of an array, little-endian. */
export function toBytes(array: AnyArray): Uint8Array {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  return isLittleEndian() ? bytes : reversed(bytes, array.BYTES_PER_ELEMENT);
}

/** The array that bytes are of: a copy, unless they are alone in their memory. */
export function fromBytes<T extends ArrayType>(bytes: Uint8Array, type: T): ArrayOf<T> {
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
