/**
 * Instances of crowds as objects of three.js, for both renderers. Importing it lets `crowd.createInstance()` make them.
 *
 * @module skinned-instanced-mesh/objects
 */

import type { InstanceAction } from './instanceObjects/InstanceAction.js';
import { SkinnedInstance } from './instanceObjects/SkinnedInstance.js';
import { registerInstances } from './objects/CrowdInstance.js';
import type { SkinnedInstancedMesh } from './objects/SkinnedInstancedMesh.js';

declare module './objects/CrowdInstance.js' {
  interface CrowdInstance extends SkinnedInstance {}
  interface CrowdAction extends InstanceAction<SkinnedInstance> {}
}

registerInstances({ create: (crowd: SkinnedInstancedMesh) => new SkinnedInstance(crowd) });

export type { ActionProperties } from './instanceObjects/ActionProperties.js';
export type { AnimatedInstance } from './instanceObjects/AnimatedInstance.js';
export type { BonedInstance } from './instanceObjects/BonedInstance.js';
export type { DressedInstance } from './instanceObjects/DressedInstance.js';
export type { InstanceAction } from './instanceObjects/InstanceAction.js';
export type { InstanceBone } from './instanceObjects/InstanceBone.js';
export type { ActionOptions, ActionOwner, InstanceMixer } from './instanceObjects/InstanceMixer.js';
export type { ActionOfEvent, SkinnedInstanceEventMap } from './instanceObjects/instanceEvents.js';
export type { PlacedInstance } from './instanceObjects/PlacedInstance.js';
export { SkinnedInstance };
