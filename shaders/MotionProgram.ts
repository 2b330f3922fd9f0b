import type { UniformType } from '../lib/instances/UniformLayout.js';
import type { MotionTSL } from './motion.tsl.js';

/** Whether a motion moves vertices as they were modelled, or as they are posed. */
export type MotionStage = 'beforeSkinning' | 'afterSkinning';

/** What shaders need of a motion. */
export interface MotionSource {
  readonly name: string;
  readonly stage: MotionStage;
  /** GLSL statements, and functions that they call. */
  readonly glsl: string;
  readonly functions: string;
  readonly tsl: MotionTSL | undefined;
}

/** Motions of the vertices of a mesh, one after another, as shaders have them. */
export interface MotionProgram {
  /** Stands for it in codes of shader variants, from 1; 0 is no motion. */
  readonly number: number;
  /** How many vectors of four numbers its shaders are told in each draw. */
  readonly vectors: number;
  readonly steps: readonly {
    readonly source: MotionSource;
    /** Where its time lies among the numbers. */
    readonly timeAt: number;
    readonly places: readonly { readonly name: string; readonly type: UniformType; readonly at: number }[];
  }[];
}

/** Programs that codes of shader variants tell apart, with 0 for none. */
const MAX_MOTIONS = 32;

/** Where the first two numbers of a draw lie: whether the geometry has colours, and whether instances were exchanged. */
export const MOTION_HAS_COLOR = 0;
export const MOTION_SWAPPED = 1;
/** Where those of the motions begin. */
export const MOTION_FIRST = 2;

const programs: MotionProgram[] = [];

/**
 * Numbers a program.
 *
 * @throws If a page has too many.
 */
export function addMotionProgram(program: Omit<MotionProgram, 'number'>): MotionProgram {
  if (programs.length + 1 >= MAX_MOTIONS) {
    throw new Error(
      `The page has ${programs.length} different sets of motions already; define each motion once, outside of functions that run often, and let its uniforms differ.`,
    );
  }
  const numbered = { ...program, number: programs.length + 1 };
  programs.push(numbered);
  return numbered;
}

/** The program of a number; undefined for 0. */
export const motionProgram = (number: number): MotionProgram | undefined => programs[number - 1];

/** What chunks of a vertex shader have to do where motions move its vertices. */
export interface MotionChunks {
  /** StorageOf<'vec4'> of numbers that shaders are told; 0 where nothing is moved. */
  vectors: number;
  /** Defines what the others read. */
  declarations: string;
  /** Is done once the matrix `crowdSkin` is known. */
  move: string;
  /** What is added to a position or a normal, before and after it is multiplied with the matrix. */
  shift: readonly [string, string];
  turn: readonly [string, string];
}

const NONE: MotionChunks = {
  vectors: 0,
  declarations: '',
  move: '',
  shift: ['', ''],
  turn: ['', ''],
};

let compiler: ((codes: readonly number[]) => MotionChunks | null) | null = null;

/** Lets vertex shaders of WebGLRenderer have motions. It is not called, and so not loaded, as long as no crowd has one. */
export function setMotionCompiler(compile: typeof compiler): void {
  compiler = compile;
}

/** What shaders of these variants have to do. */
export const motionChunks = (codes: readonly number[]): MotionChunks => compiler?.(codes) ?? NONE;
