import { MAX_MOTIONS, type MotionProgram } from './MotionProgram.js';

const programs: MotionProgram[] = [];

/**
 * Numbers a program.
 *
 * @throws If a page has too many.
 */
export function addMotionProgram(make: (number: number) => MotionProgram): MotionProgram {
  if (programs.length + 1 >= MAX_MOTIONS) {
    throw new Error(
      `SkinnedInstancedMesh.motion: the page has ${programs.length} different sets of motions already; define each motion once, outside of functions that run often, and let its uniforms differ.`,
    );
  }
  const program = make(programs.length + 1);
  programs.push(program);
  return program;
}

/** The program of a number; undefined for 0. */
export const motionProgram = (number: number): MotionProgram | undefined => programs[number - 1];
