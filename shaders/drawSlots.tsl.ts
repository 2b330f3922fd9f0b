import { int, vec2 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import {
  FIRST_LISTED,
  PARAM_CLOCK,
  PARAM_EPOCH,
  PARAM_LISTED,
  PARAM_LOOKS_UP,
  PARAM_MORPH_TEXEL,
  PARAM_PARTS,
  PARAM_PARTS_PER_ROW,
  PARAM_ROWS,
  PARAM_STRIDE,
} from '../lib/constants.js';
import { matrixUniform, numbersIn } from './tsl.js';

/** The `bindMatrix` of what is drawn. */
export const drawParameters = /*@__PURE__*/ matrixUniform();

const parameter = (index: number) => numbersIn<'float'>(drawParameters.element(index >> 2), index);

/** Twin of `drawSlots.glsl.ts`: the parameters of a draw. Textures are nodes of their own here. */
export const drawClock = (seconds: Node<'float'> = parameter(PARAM_CLOCK)): Node<'vec2'> =>
  vec2(seconds, parameter(PARAM_EPOCH));
export const drawRows = (): Node<'float'> => parameter(PARAM_ROWS);
export const drawStride = (): Node<'float'> => parameter(PARAM_STRIDE);
export const drawMorphTexel = (): Node<'int'> => int(parameter(PARAM_MORPH_TEXEL));
/** Where in the list is what is drawn first. */
export const drawFirst = (): Node<'int'> => int(parameter(PARAM_LISTED)).sub(FIRST_LISTED);
export const drawLooksUp = (): Node<'bool'> => parameter(PARAM_LOOKS_UP).notEqual(0);
export const drawPartCount = (): Node<'int'> => int(parameter(PARAM_PARTS));
export const drawPartsPerRow = (): Node<'int'> => int(parameter(PARAM_PARTS_PER_ROW));
