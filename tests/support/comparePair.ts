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

/** What is compared: the character with its shadow, or that alone. */
export type Seen = 'all' | 'shadow alone';

/** Compares a character with three.js's on one stage. */
export async function comparePair(
  { draw }: Drawing,
  label: string,
  { reference, crowd, bounds }: Pair,
  light: LightKind,
  ...seen: Seen[]
): Promise<void> {
  const { scene, camera } = createStage(bounds, light);
  const empty = await draw(scene, camera, new Group());
  for (const what of seen.length > 0 ? seen : (['all'] as const)) {
    for (const object of [reference.root, crowd]) {
      forEachMaterial(object, (material) => {
        material.colorWrite = material.depthWrite = what === 'all';
      });
    }
    expectSamePicture(
      `${label}, ${light}${what === 'all' ? '' : `, ${what}`}`,
      await draw(scene, camera, reference.root),
      await draw(scene, camera, crowd),
      empty,
      BOUND,
    );
  }
}
