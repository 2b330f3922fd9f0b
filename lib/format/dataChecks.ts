import type { BoxArray } from '../poses/BoxArray.js';
import { describe } from '../utils/describe.js';

/**
 * Throws unless a field of a bone texture's data is as it has to be.
 *
 * @param field E.g. `clips[1].name`.
 * @param wanted What the field has to be, for the message.
 */
export function check(holds: boolean, field: string, value: unknown, wanted: string): void {
  if (holds) return;
  throw new Error(
    `BoneTexture: data.${field} is ${describe(value)}, but has to be ${wanted}; use the data of a BoneTexture as they are.`,
  );
}

export function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0;
}

export function checkBox(box: BoxArray, field: string): void {
  const isBox =
    Array.isArray(box) &&
    box.length === 6 &&
    box.every((value) => typeof value === 'number' && !Number.isNaN(value));
  check(
    isBox,
    field,
    isBox || !Array.isArray(box) ? box : box.join(', '),
    'six numbers: least x, y, z, then greatest',
  );
}

/** Checks that an array has the type and the length that it has to have. */
export function checkArray(
  array: ArrayLike<number>,
  Kind: Float32ArrayConstructor | Float64ArrayConstructor | Int32ArrayConstructor | Uint32ArrayConstructor,
  length: number,
  field: string,
): void {
  check(
    array instanceof Kind && array.length === length,
    field,
    array,
    `a ${Kind.name} of ${length} numbers`,
  );
}
