import type { Material, Texture, WebGLRenderer } from 'three';
import { hasUserHook } from '../../utils/surfaceMaps.js';

/** What three.js gives a material for shadow maps, of each material that casts one, and what it has of its own. */
interface Given {
  alphaHash?: boolean;
  map?: Texture | null;
  alphaMap?: Texture | null;
  displacementMap?: Texture | null;
  alphaTest?: number;
  displacementScale?: number;
  displacementBias?: number;
}

const GIVEN = [
  'map',
  'alphaMap',
  'displacementMap',
  'alphaTest',
  'displacementScale',
  'displacementBias',
] as const;

/** What each material for shadow maps was given for its last draw. */
const lastGiven = /*@__PURE__*/ new WeakMap<Material, Given>();

/**
 * Lets a draw of a shadow map use what its material has just been given. All groups of a crowd have one such material, and between two
 * draws with the same material three.js looks neither for other textures nor for other numbers, nor whether there are any.
 *
 * Takes away textures that make no difference to depth. They would be sent in vain; and as some groups have one and others none, each
 * draw would have three.js look for another program, which takes long even where it finds one. The text of its shaders is that of
 * pictures, `shaders/skinVertex.glsl.ts`; under WebGPURenderer the nodes are, see `patchNodeMaterial`.
 */
export function syncShadowMaterial({ state }: WebGLRenderer, material: Material): void {
  const given = material as Given;
  if ((given.map || given.alphaMap) && !readsTextures(material)) given.map = given.alphaMap = null;
  let last = lastGiven.get(material);
  if (last === undefined) {
    last = {};
    lastGiven.set(material, last);
  }
  let isSame = true;
  for (const key of GIVEN) if (last[key] !== given[key]) isSame = false;
  if (isSame) return;
  if (programOf(last) !== programOf(given)) material.needsUpdate = true;
  for (const key of GIVEN) last[key] = given[key] as never;
  const { useProgram: setProgram } = state as { useProgram(program: WebGLProgram | null): boolean };
  // Then three.js sends all that a program needs.
  setProgram(null);
}

/** Whether a material is one of three.js's own for shadow maps. */
export const isDepth = (material: Material): boolean =>
  'isMeshDepthMaterial' in material || 'isMeshDistanceMaterial' in material;

/** Whether textures may say which fragments are discarded: three.js's depth materials read them for nothing else. */
function readsTextures(material: Material): boolean {
  const { alphaTest = 0, alphaHash } = material as Given;
  return !isDepth(material) || alphaTest > 0 || alphaHash === true || hasUserHook(material);
}

/** What differs where three.js needs another program: the uv channels of the textures that there are. */
const programOf = (given: Given): string =>
  GIVEN.map((key) => (given[key] as Texture | null | undefined)?.channel).join();
