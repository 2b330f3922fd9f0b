import type { SkinnedInstancedMeshEventMap } from '../objects/crowdTypes.js';

/** Events of an instance, those of its crowd that are about it; none costs anything while nobody listens to it. */
export interface SkinnedInstanceEventMap extends SkinnedInstancedMeshEventMap {}
