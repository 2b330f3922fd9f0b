import type { Palette } from '../../crowd/Palette.js';
import { CompactRows } from './CompactRows.js';
import { createMatrixRows, type MatrixRows } from './MatrixRows.js';

/** Room for `count` skinning matrices. On WebGL 2 they are exact in any case. */
export function createPalette(count: number, webGPU: boolean, palette: Palette): MatrixRows {
  return webGPU && palette === 'compact' ? new CompactRows(count) : createMatrixRows(count, webGPU);
}
