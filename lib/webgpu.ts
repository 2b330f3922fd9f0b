/**
 * The same for `WebGPURenderer`, with node materials.
 *
 * @module skinned-instanced-mesh/webgpu
 */
import { jointEditNodes } from '../shaders/jointEdits.tsl.js';
import { discardFaded, writeFade } from '../shaders/levelDissolve.tsl.js';
import { bodyNodes, layerNodes } from '../shaders/posePass.tsl.js';
import { nodesOfParts } from './backends/webgpu/crowdNodes.js';
import { registerNodes } from './backends/webgpu/featureNodes.js';
import { frameNodes, restNodes } from './backends/webgpu/frameNodes.js';
import { moveVertex } from './backends/webgpu/motionNodes.js';
import { registerNodeSource } from './backends/webgpu/nodeSources.js';
import { impostorNodes, nodeTiles } from './backends/webgpu/nodeTiles.js';
import { webGPUBackend } from './backends/webgpu/WebGPUBackend.js';
import type { Encoding } from './baking/BakeOptions.js';
import { frames as baseFrames } from './baking/frames.js';
import { registerBackend, withPieces } from './core/Backend.js';
import { SkinnedInstancedMesh as Base } from './crowd/SkinnedInstancedMesh.js';
import { Billboard as BaseBillboard } from './features/attachments/Billboard.js';
import { Impostor as BaseImpostor } from './features/impostors/Impostor.js';
import { registerTiles } from './features/impostors/TilePrinter.js';
import { JointEdits as BaseEdits } from './features/jointEdits/JointEdits.js';
import { CrowdKinds as BaseKinds } from './features/kinds/CrowdKinds.js';
import { AnimationLayers as BaseLayers } from './features/layers/AnimationLayers.js';
import { CrowdLevels as BaseLevels } from './features/levels/CrowdLevels.js';
import { InstanceMotions as BaseMotions } from './features/motion/InstanceMotions.js';
import { InstanceParts as BaseParts } from './surface/InstanceParts.js';

/**
 * The class of the main entry, the very same, which `WebGPURenderer` can draw once it was taken from here. A page that has both
 * renderers imports it from both entries.
 *
 * A value of this module rather than a re-export: whoever uses it makes the node materials known, and bundlers may drop
 * all of it for whoever does not.
 */
export const SkinnedInstancedMesh = /*@__PURE__*/ withPieces(Base, registerBackend, webGPUBackend);
export type SkinnedInstancedMesh = Base;

export const InstanceMotions = /*@__PURE__*/ withPieces(BaseMotions, registerNodes, {
  InstanceMotions: moveVertex,
});
export type InstanceMotions = BaseMotions;

export const Billboard = /*@__PURE__*/ withPieces(BaseBillboard, registerNodes, {
  InstanceMotions: moveVertex,
});
export type Billboard = BaseBillboard;

export const InstanceParts = /*@__PURE__*/ withPieces(BaseParts, registerNodes, {
  InstanceParts: nodesOfParts,
});
export type InstanceParts = BaseParts;

export const frames: Encoding = /*@__PURE__*/ withPieces(
  baseFrames,
  registerNodeSource,
  frameNodes,
  restNodes,
);

export const JointEdits = /*@__PURE__*/ withPieces(BaseEdits, registerNodes, { JointEdits: jointEditNodes });
export type JointEdits = BaseEdits;

export const AnimationLayers = /*@__PURE__*/ withPieces(BaseLayers, registerNodes, {
  AnimationLayers: layerNodes,
});
export type AnimationLayers = BaseLayers;

function withImpostorNodes(): typeof BaseImpostor {
  registerNodeSource(impostorNodes);
  registerTiles(nodeTiles);
  return BaseImpostor;
}

export const Impostor = /*@__PURE__*/ withImpostorNodes();
export type Impostor = BaseImpostor;

export const CrowdLevels = /*@__PURE__*/ withPieces(BaseLevels, registerNodes, {
  CrowdLevels: { writeFade, discardFaded },
});
export type CrowdLevels = BaseLevels;

export const CrowdKinds = /*@__PURE__*/ withPieces(BaseKinds, registerNodes, { CrowdKinds: bodyNodes });
export type CrowdKinds = BaseKinds;

export type { UniformNodeType } from '../shaders/tsl.js';
export {
  instanceUniform,
  skinnedInstanceNormal,
  skinnedInstancePosition,
} from './backends/webgpu/WebGPUBackend.js';
export * from './exports.js';
export {
  GPUInstances,
  type GPUInstancesOptions,
  type GPUIntersection,
  type GPUMatrices,
  type WantedClip,
} from './gpu/GPUInstances.js';
export { NeighbourGrid, type NeighbourGridOptions } from './gpu/NeighbourGrid.js';
export { pickGPUInstance, selectGPUInstances } from './gpu/pickGPUInstances.js';
export { accelerate, arrive, type GaitStep, gaitOf, limit, seek, separate } from './gpu/steering.js';
export { InstanceUniforms } from './surface/InstanceUniforms.js';
