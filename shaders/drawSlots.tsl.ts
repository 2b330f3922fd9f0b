import { vec2 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { PARAM_CLOCK, PARAM_EPOCH } from '../lib/constants.js';
import { matrixUniform, numbersIn } from './tsl.js';

/** The `bindMatrix` of what is drawn. */
export const drawParameters = /*@__PURE__*/ matrixUniform();

/** Twin of `drawSlots.glsl.ts`: a parameter of the draw. Textures are nodes of their own here. */
export const drawParameter = (index: number): Node<'float'> =>
  numbersIn(drawParameters.element(index >> 2), index);

export const drawClock = (seconds: Node<'float'> = drawParameter(PARAM_CLOCK)): Node<'vec2'> =>
  vec2(seconds, drawParameter(PARAM_EPOCH));
