import type { Step } from './CrowdProgram.js';
import { DRAWING } from './drawing.js';
import { FEATURES } from './features.js';
import { INSTANCES } from './instances.js';
import { KIND_STEPS } from './kinds.js';
import { LEVELS } from './levels.js';
import { LIVES } from './lives.js';
import { OBJECTS } from './objects.js';
import { PLAYING } from './playing.js';
import { SHAPE } from './shape.js';

/** Calls that a crowd takes. What instances play, and levels of detail, are changed most often. */
export const LEGAL: readonly Step[] = [
  ...PLAYING,
  ...PLAYING,
  ...INSTANCES,
  ...SHAPE,
  ...LEVELS,
  ...LEVELS,
  ...DRAWING,
  ...LIVES,
  ...OBJECTS,
  ...FEATURES,
  ...KIND_STEPS,
];
