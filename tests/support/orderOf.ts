import type { CrowdMesh } from './library.js';
import { DrawOrder, featureOf } from './library.js';

/** In what order the instances of a crowd are drawn; made where there is none yet. */
export const orderOf = (crowd: CrowdMesh): DrawOrder => featureOf(crowd, DrawOrder) ?? new DrawOrder(crowd);
