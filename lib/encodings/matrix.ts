import { AFFINE_SIZE } from '../constants.js';
import type { Encoding } from './Encoding.js';

/** The three upper rows of the skinning matrix, one RGBA texel each; the last row is always (0, 0, 0, 1). */
export const matrixEncoding: Encoding = {
  name: 'matrix',
  texels: 3,

  encode(affine, at, out, outAt) {
    // Without a loop, which is faster: baking writes hundreds of thousands of these.
    out[outAt] = affine[at];
    out[outAt + 1] = affine[at + 1];
    out[outAt + 2] = affine[at + 2];
    out[outAt + 3] = affine[at + 3];
    out[outAt + 4] = affine[at + 4];
    out[outAt + 5] = affine[at + 5];
    out[outAt + 6] = affine[at + 6];
    out[outAt + 7] = affine[at + 7];
    out[outAt + 8] = affine[at + 8];
    out[outAt + 9] = affine[at + 9];
    out[outAt + 10] = affine[at + 10];
    out[outAt + 11] = affine[at + 11];
    return 0;
  },

  decode(first, second, alpha, out, at) {
    for (let i = 0; i < AFFINE_SIZE; i++) out[at + i] = first[i] + (second[i] - first[i]) * alpha;
  },
};
