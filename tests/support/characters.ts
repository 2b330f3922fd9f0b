import { describe } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { MISSING } from '../setup/missingNote.mjs';
import type { Twin } from './captures.js';
import { createCoarseCharacter } from './coarseCharacter.js';
import { loadModel, type Model, modelNames } from './models.js';
import { THOROUGH } from './thorough.js';

/**
 * The real characters that tests know. Other files of the folder are tested too, by the bounds that hold for all. Each of these is
 * drawn with one language of shaders, and the built-in one with all.
 */
const DRAWN_WITH: Record<string, Twin> = {
  'CesiumMan.glb': 'GLSL',
  'Horse.glb': 'TSL on WebGPU',
  'Knight.glb': 'GLSL',
  'RobotExpressive.glb': 'TSL on WebGPU',
};
const KNOWN = Object.keys(DRAWN_WITH);
/** Of those, the ones that are tested where not everything is: of each language, the one that asks for most. */
const FEW = ['Knight.glb', 'RobotExpressive.glb'];

const found = await modelNames();

export const BUILT_IN = 'built-in';
/** The same with fewer triangles, see {@link createCoarseCharacter}. */
export const COARSE = 'coarse';

/** A new copy of a character: the built-in one, or that of a file. */
export async function loadCharacter(name: string): Promise<Model> {
  if (name === COARSE) return { name, ...createCoarseCharacter() };
  return name === BUILT_IN ? { name, ...createCharacter() } : loadModel(name);
}

/** Whether a real character is there. */
export const hasCharacter = (name: string): boolean => name === BUILT_IN || found.includes(name);

/**
 * Defines the same tests for the built-in character and every real one. Those of known characters that are not there are
 * skipped and say so, so that a run without models can be told from one with them.
 *
 * @param twin What they are drawn with.
 */
export function describeCharacters(define: (name: string) => void, twin?: Twin): void {
  const names = new Set([BUILT_IN, ...KNOWN, ...found]);
  for (const name of names) {
    if (!THOROUGH && found.includes(name) && KNOWN.includes(name) && !FEW.includes(name)) continue;
    if (twin === undefined || (DRAWN_WITH[name] ?? twin) === twin)
      describeCharacter(name, () => define(name));
  }
}

/** Defines tests that need one real character. */
export function describeCharacter(name: string, define: () => void): void {
  if (hasCharacter(name)) describe(name, define);
  else describe.skip(`${name} ${MISSING}`, define);
}
