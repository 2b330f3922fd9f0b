import { drawSlotsGLSL } from './drawSlots.glsl.js';
import {
  type AskedOfInstances,
  instanceDeclarationsGLSL,
  instanceIndexGLSL,
  PLACE_INSTANCE,
  readInstance,
} from './instanceIndex.glsl.js';

const MAIN = /\bvoid\s+main\s*\(\s*(void)?\s*\)\s*\{/;

/** What a shader has that skins by itself, or by some of three.js's chunks: names that ours would declare once more. */
const SKINS = /#include <skin|\b(bindMatrix|boneTexture)\b/;

/**
 * Lets a shader know the instance that is drawn before it does anything else. Code that the user has put into it may ask for
 * `gl_InstanceID`, by which it means the instance.
 */
export const placedFirst = (vertexShader: string, asked: AskedOfInstances): string =>
  instanceDeclarationsGLSL(asked) + callFirst(readInstance(vertexShader), PLACE_INSTANCE);

/** Lets `main` begin with a statement. */
export const callFirst = (shader: string, statement: string): string =>
  shader.replace(MAIN, (it) => `${it}\n\n  ${statement}`);

/** Whether `placeVertexGLSL` can do anything with a vertex shader. */
export const isPlaceable = (vertexShader: string): boolean =>
  MAIN.test(vertexShader) && !SKINS.test(vertexShader);

/**
 * Lets a vertex shader that cannot be posed draw those instances at least that a list has, in the pose that the geometry was
 * modelled in.
 *
 * @param vertexShader Reads `instanceMatrix` and `instanceColor` as three.js declares them.
 */
export function placeVertexGLSL(vertexShader: string, variantParameter: number, colored: boolean): string {
  const asked = { placed: false, colored };
  const functions = instanceIndexGLSL(asked);
  const declarations = drawSlotsGLSL(functions, variantParameter) + functions;
  return placedFirst(vertexShader, asked).replace(MAIN, (it) => `${declarations}\n${it}`);
}
