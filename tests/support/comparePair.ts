import { Group } from 'three';
import type { Drawing } from './drawings.js';
import { expectSamePicture } from './expectSamePicture.js';
import type { Pair } from './pair.js';
import { createStage, forEachMaterial, type LightKind } from './pictures.js';

/**
 * Share of the pixels that a character covers, with its shadow, that may differ. Measured: none for most, 5 of 7,203 for
 * the knight, whose shields lie one in another.
 */
export const BOUND = 0.0015;

/** Compares a character, or its shadow alone, with three.js's. */
export async function comparePair(
  { draw }: Drawing,
  label: string,
  { reference, crowd, bounds }: Pair,
  light: LightKind,
  shadowOnly = false,
): Promise<void> {
  const { scene, camera } = createStage(bounds, light);
  for (const object of [reference.root, crowd]) {
    forEachMaterial(object, (material) => {
      material.colorWrite = material.depthWrite = !shadowOnly;
    });
  }
  expectSamePicture(
    `${label}, ${light}${shadowOnly ? ', shadow alone' : ''}`,
    await draw(scene, camera, reference.root),
    await draw(scene, camera, crowd),
    await draw(scene, camera, new Group()),
    BOUND,
  );
}
