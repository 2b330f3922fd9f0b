import type { Encoding, EncodingName } from './Encoding.js';
import { matrixEncoding } from './matrix.js';
import { quaternionEncoding } from './quaternion.js';

/** Every encoding, in the order of the codes that shader variants carry. */
export const ENCODINGS: readonly Encoding[] = [matrixEncoding, quaternionEncoding];

export const ENCODING_NAMES: readonly EncodingName[] = /*@__PURE__*/ ENCODINGS.map(({ name }) => name);

/** The encoding of that name. */
export function encodingByName(name: EncodingName): Encoding {
  return ENCODINGS[ENCODING_NAMES.indexOf(name)];
}
