import type { Object3D } from 'three';
import { checkOption, isBoolean, isPositive, isWithin, type OptionChecks } from '../utils/checkOptions.js';

/** A level of detail of a crowd, as `LOD.levels` has them. The numbers may be changed at any time; wrong ones are errors. */
export interface Level {
  /** What is drawn: the crowd for level 0, else what `addLevel` returned; null where nothing is drawn. */
  readonly object: Object3D | null;
  /** World units from the camera to the instance, divided by the camera's zoom, from which on the level is drawn. */
  distance: number;
  /**
   * Where levels go by size: share of the height of the picture that an instance takes, 0 to 1, below which the level is
   * drawn. Null where they go by distance.
   */
  screenShare: number | null;
  /**
   * By how much of the distance an instance must come nearer again before the level before is drawn: 0 to 1. Not used while levels
   * fade, see `levelFade`.
   */
  hysteresis: number;
  /**
   * Poses a second of instances at this level; 0 for one in every frame. Where several cameras see an instance, the highest of
   * their levels' rates holds, and the lower of that and the instance's own.
   */
  poseRate: number;
  /** Whether what is attached to joints is drawn at this level. Behind a level at which it is not, it is not either. */
  attachments: boolean;
}

/** What a level has to be, as tests and in words. */
export const LEVEL_CHECKS: OptionChecks = {
  distance: [(value) => isWithin(value), 'world units from 0'],
  screenShare: [(value) => value === null || isPositive(value), "a share of the picture's height above 0"],
  hysteresis: [(value) => isWithin(value, 1), 'a share of the distance, 0 to 1'],
  poseRate: [(value) => isWithin(value), 'a number of poses a second, or 0 for one in every frame'],
  attachments: [isBoolean, 'true or false'],
};

/** A copy of a level that can be set to what it may be, and to nothing else. */
export function guardedLevel(level: Level): Level {
  const values: Record<string, unknown> = { ...level };
  const guarded = { object: level.object };
  for (const name of Object.keys(LEVEL_CHECKS)) {
    Object.defineProperty(guarded, name, {
      enumerable: true,
      get: () => values[name],
      set(value: unknown) {
        const caller = `SkinnedInstancedMesh.levels: ${name}`;
        checkOption(value, LEVEL_CHECKS[name], caller);
        if ((value === null) !== (values[name] === null)) {
          throw new Error(
            `${caller} is ${value}, and the level goes by the other measure; remove it, and add another.`,
          );
        }
        values[name] = value;
      },
    });
  }
  return guarded as Level;
}
