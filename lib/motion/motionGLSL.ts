import type { MotionStep } from '../../shaders/MotionProgram.js';
import { motionNumber } from '../../shaders/motion.glsl.js';
import type { UniformType } from '../instances/UniformLayout.js';
import type { MotionDefinition } from './MotionDefinition.js';

const SIZES: Readonly<Record<UniformType, number>> = { float: 1, vec2: 2, vec3: 3, vec4: 4, color: 3 };

/** How many numbers a uniform is. */
export const sizeOfType = (type: UniformType): number => SIZES[type];

/** What a motion may read beside its uniforms, each only if its text has the name. */
const GIVEN: Readonly<Record<string, string>> = {
  color: 'vec4 color = motionColor();',
  random: 'float random = motionRandom();',
  instance: 'int instance = instanceIndex();',
  worldMatrix: 'mat4 worldMatrix = modelMatrix * instanceMatrix;',
};

/** Whether a motion's GLSL has a name in it. */
export const reads = ({ glsl }: MotionDefinition, name: string): boolean =>
  new RegExp(`\\b${name}\\b`).test(glsl);

/** The GLSL function of a motion, which changes a position and a normal. */
export function motionFunctionGLSL(name: string, motion: MotionDefinition, step: MotionStep): string {
  const uniforms = step.places
    .filter((place) => reads(motion, place.name))
    .map((place) => {
      const size = SIZES[place.type];
      const type = size === 1 ? 'float' : `vec${size}`;
      const components = 'xyzw'.slice(place.at & 3, (place.at & 3) + size);
      const vector = motionNumber(place.at).replace(/\.\w$/, '');
      return `${type} ${place.name} = ${vector}.${components};`;
    });
  const given = Object.keys(GIVEN)
    .filter((one) => reads(motion, one))
    .map((one) => GIVEN[one]);
  const time = reads(motion, 'time') ? [`float time = ${motionNumber(step.timeAt)};`] : [];
  // Braces, so that the text may declare what it likes.
  return /* glsl */ `
void ${name}( inout vec3 position, inout vec3 normal ) {

  ${[...given, ...time, ...uniforms].join('\n  ')}
  {

${motion.glsl}

  }

}
`;
}
