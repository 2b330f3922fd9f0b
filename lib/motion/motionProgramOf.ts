import {
  MOTION_FIRST,
  type MotionPlace,
  type MotionProgram,
  type MotionStep,
  setMotionCompiler,
} from '../../shaders/MotionProgram.js';
import { compileMotions } from '../../shaders/motion.glsl.js';
import { addMotionProgram } from '../../shaders/motionPrograms.js';
import type { MotionDefinition } from './MotionDefinition.js';
import { motionFunctionGLSL, reads, sizeOfType } from './motionGLSL.js';

/** Programs that were made, by the definitions of their motions, which are told apart by what they are. */
const programs: { definitions: readonly MotionDefinition[]; program: MotionProgram }[] = [];

/** The program for motions of these definitions, one after another. */
export function motionProgramOf(definitions: readonly MotionDefinition[]): MotionProgram {
  const known = programs.find(
    (one) =>
      one.definitions.length === definitions.length &&
      one.definitions.every((definition, i) => definition === definitions[i]),
  );
  if (known !== undefined) return known.program;
  setMotionCompiler(compileMotions);
  const program = addMotionProgram((number) => makeProgram(number, definitions));
  programs.push({ definitions, program });
  return program;
}

function makeProgram(number: number, definitions: readonly MotionDefinition[]): MotionProgram {
  let end = MOTION_FIRST;
  /** Room for so many numbers, none of which is in another vector than the first. */
  const allot = (size: number): number => {
    if ((end & 3) + size > 4) end = (end | 3) + 1;
    end += size;
    return end - size;
  };
  const steps: MotionStep[] = definitions.map(({ name, stage, tsl, types }) => {
    const timeAt = allot(1);
    const places: MotionPlace[] = types.map(([uniform, type]) => ({
      name: uniform,
      type,
      at: allot(sizeOfType(type)),
    }));
    return { name, stage, tsl, timeAt, places };
  });

  const functions: string[] = [];
  const calls = { beforeSkinning: '', afterSkinning: '' };
  definitions.forEach((definition, i) => {
    const name = `motion_${number}_${i}`;
    if (definition.functions !== '') functions.push(definition.functions);
    functions.push(motionFunctionGLSL(name, definition, steps[i]));
    calls[definition.stage] += `${name}( moved, turned ); `;
  });
  return {
    number,
    vectors: Math.ceil(end / 4),
    readsColor: definitions.some((one) => reads(one, 'color')),
    readsRandom: definitions.some((one) => reads(one, 'random')),
    functions,
    before: calls.beforeSkinning.trim(),
    after: calls.afterSkinning.trim(),
    steps,
  };
}
