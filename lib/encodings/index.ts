import type { Encoding, EncodingName, MatrixEncodingName } from './Encoding.js';
import { matrixEncoding } from './matrix.js';
import { quaternionEncoding } from './quaternion.js';

/** Every encoding, in the order of the codes that shader variants carry. */
export const ENCODING_NAMES: readonly EncodingName[] = ['matrix', 'quaternion', 'tracks'];

/** The encoding of matrices of that name. */
export function encodingByName(name: MatrixEncodingName): Encoding {
  return name === 'matrix' ? matrixEncoding : quaternionEncoding;
}
