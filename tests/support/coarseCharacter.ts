import { type Character, createCharacter } from '../../demos/character.js';

/**
 * The built-in figure with an eighth of its triangles: vertices are what a software renderer takes longest over. For tests
 * of what is drawn where and when, not of how one character is posed.
 */
export const createCoarseCharacter = (): Character => createCharacter({ detail: 0.4 });

/** The same with as few as there can be, for crowds. */
export const createCoarsestCharacter = (): Character => createCharacter({ detail: 0.2 });
