import type { MatrixEncodingName } from '../../lib/encodings/Encoding.js';
import { matrixGLSL } from './matrix.glsl.js';
import { quaternionGLSL } from './quaternion.glsl.js';

/** GLSL decoder of each encoding: `jointMatrix_<name>`. */
export const encodingGLSL: Record<MatrixEncodingName, string> = {
  matrix: matrixGLSL,
  quaternion: quaternionGLSL,
};
