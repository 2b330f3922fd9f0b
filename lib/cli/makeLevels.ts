import { MeshoptSimplifier } from 'meshoptimizer';
import type { Object3D } from 'three';
import { assembleCharacter } from '../character/assembleCharacter.js';
import { mergeMaterials as merger } from '../character/mergeMaterials.js';
import { simplifyGeometry } from '../character/simplifyGeometry.js';
import type { WriteOptions } from '../format/writeBoneTexture.js';
import { SkinnedInstancedMesh } from '../objects/SkinnedInstancedMesh.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import type { MadeLevel } from './bakeReport.js';
import type { BakeRequest } from './bakeRequest.js';
import { inputError } from './CommandError.js';

/** Levels of a character, as they are written, and what is said of them. */
export interface MadeLevels {
  made: MadeLevel[];
  written: Pick<WriteOptions, 'levels' | 'geometry'>;
}

/** Lines of a picture, of which a level's error shall take no more than one where the command line does not say when it begins. */
const LINES = 1080;
/** No level begins nearer than this, however small its error is. */
const LARGEST_SHARE = 0.5;
/** Each level begins where the character is at most this share of what it was where the level before began. */
const STEP = 0.75;

/**
 * Makes levels of detail of the geometry that crowds of the character will have.
 *
 * @throws If crowds cannot be made of it, or there is no such part to be hidden.
 */
export async function makeLevels(
  scene: Object3D,
  boneTexture: BoneTexture,
  { levels, hiddenParts, mergeMaterials }: BakeRequest,
): Promise<MadeLevels> {
  if (levels.length === 0 && hiddenParts.length === 0) return { made: [], written: {} };
  await MeshoptSimplifier.ready;
  const made: MadeLevel[] = [];
  try {
    // Textures are empty here. Pages may merge materials by them: vertices are the same, and loading makes the groups of triangles.
    const merging = mergeMaterials ? merger({ textures: false }) : undefined;
    const options = { hiddenParts, mergeMaterials: merging, skipUnsupported: true };
    const { geometry } = new SkinnedInstancedMesh(assembleCharacter(scene, boneTexture, options), 1);
    if (levels.length === 0) return { made, written: {} };
    const list = levels.map(({ ratio, distance, screenShare }) => {
      const simplified = simplifyGeometry(geometry, ratio, MeshoptSimplifier);
      const { error, triangles, vertices } = simplified;
      const before = made.at(-1)?.screenShare;
      const share = screenShare ?? shareOf(error, before);
      if (before !== undefined && share >= before) throw new Error(notSmaller(ratio, share, before));
      const start = distance === null ? { screenShare: share } : { distance };
      made.push({ ratio, triangles, error, ...start });
      return { geometry: simplified.geometry, vertices, error, ...start };
    });
    return { made, written: { levels: list, geometry } };
  } catch (error) {
    throw inputError(`bake: ${(error as Error).message}`, error);
  }
}

/** Where a level begins by its own error is only known when it has been made. */
function notSmaller(ratio: number, share: number, before: number): string {
  const percent = (value: number) => `${Number((value * 100).toPrecision(3))}%`;
  return `--levels has ${ratio}@${percent(share)}, and the level before it begins at ${percent(before)} only, by its error; use a smaller share`;
}

/** How large a character is drawn when a level's error takes one line of the picture. */
function shareOf(error: number, before = LARGEST_SHARE / STEP): number {
  const share = Math.min(1 / (LINES * Math.max(error, 1e-6)), before * STEP);
  return Number(share.toPrecision(3));
}
