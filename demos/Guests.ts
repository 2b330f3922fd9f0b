import { bakeCharacter, mergeMaterials, type SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import { Box3, Matrix4, Vector3 } from 'three';
import type { Library } from './battle/Armies.js';
import type { OpenedCharacter } from './lib/openFile.js';
import { movesOf, partOf, placeOf } from './lib/plan.js';

/** How tall they are, and where they stand: units of the battle. */
const HEIGHT = 2.6;
const PLACE = new Matrix4().makeTranslation(1, 0, -13);

/**
 * A crowd of a visitor's own character, which mixes its clips.
 *
 * @throws If the file has no clips, or nothing that can be baked.
 */
export function inviteGuests(
  library: Library,
  { name, root, clips, baked }: OpenedCharacter,
  count: number,
  maxTextureSize: number,
): SkinnedInstancedMesh {
  if (baked === null && clips.length === 0) throw new Error(`${name} has no animation clips to play.`);
  const options = { maxTextureSize, skipUnsupported: true, mergeMaterials: mergeMaterials() };
  const crowd = new library.SkinnedInstancedMesh(baked ?? bakeCharacter(root, clips, options), count);
  // hides what the file hides
  if (baked !== null) new library.InstanceParts(crowd);
  root.updateMatrixWorld(true);
  const { x, y, z } = new Box3().setFromObject(root, true).getSize(new Vector3());
  const scale = new Matrix4().makeScale(HEIGHT / y, HEIGHT / y, HEIGHT / y).premultiply(PLACE);
  const matrix = new Matrix4();
  for (let i = 0; i < count; i++)
    crowd.setMatrixAt(i, placeOf(i, Math.max(x, z, y / 2), matrix).premultiply(scale));
  const names = movesOf(crowd.boneTexture.clips).map((clip) => clip.name);
  crowd.playAll((i) => names[partOf(i, names.length).clip], {
    time: (i) => partOf(i, names.length).time,
    timeScale: (i) => partOf(i, names.length).timeScale,
  });
  crowd.castShadow = crowd.receiveShadow = true;
  return crowd;
}
