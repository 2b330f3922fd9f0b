import type { layerNodes } from '../../../shaders/layers.tsl.js';
import type { discardFaded, writeFade } from '../../../shaders/levelFade.tsl.js';
import type { CreatePoseEditNodes } from '../../../shaders/posePass.tsl.js';
import type { nodesOfParts } from './crowdNodes.js';
import type { motionBuild } from './motionNodes.js';

/** What node materials and the pose pass need for a feature. It comes with the feature's class: `lib/webgpu.ts` registers it. */
interface FeatureNodes {
  AnimationLayers: typeof layerNodes;
  CrowdLevels: { writeFade: typeof writeFade; discardFaded: typeof discardFaded };
  InstanceMotions: typeof motionBuild;
  InstanceParts: typeof nodesOfParts;
  JointEdits: CreatePoseEditNodes;
}

const registered: Partial<FeatureNodes> = {};

/** Lets WebGPURenderer draw crowds with features. */
export function registerNodes(nodes: Partial<FeatureNodes>): void {
  Object.assign(registered, nodes);
}

/** @throws If the page has the feature from the main entry, and not from the one for node materials. */
export function nodesOf<K extends keyof FeatureNodes>(name: K): FeatureNodes[K] {
  const nodes = registered[name];
  if (nodes !== undefined) return nodes as FeatureNodes[K];
  throw new Error(
    `WebGPURenderer draws ${name} of the entry 'skinned-instanced-mesh/webgpu': import ${name} from there.`,
  );
}
