import { BoxGeometry, Mesh, MeshStandardMaterial } from 'three';
import { type Character, createCharacter } from '../../demos/character.js';

/**
 * The built-in figure with an eighth of its triangles: vertices are what a software renderer takes longest over. For tests
 * of what is drawn where and when, not of how one character is posed.
 */
export const createCoarseCharacter = (): Character => createCharacter({ detail: 0.4 });

/** The same with as few as there can be, for crowds. */
export const createCoarsestCharacter = (): Character => createCharacter({ detail: 0.2 });

/** Somebody in one colour, with a box on the head. */
export function createFigure(
  color: number,
  size: number,
  { root, clips } = createCoarsestCharacter(),
): Character {
  const material = new MeshStandardMaterial({ color });
  for (const mesh of root.getObjectsByProperty('isMesh', true) as Mesh[]) mesh.material = material;
  const hat = new Mesh(new BoxGeometry(size, size, size), material);
  hat.position.y = 0.3;
  root.getObjectByName('Head')!.add(hat);
  return { root, clips };
}
