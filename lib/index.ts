/**
 * The main entry, for `WebGLRenderer`.
 *
 * @module skinned-instanced-mesh
 */

import { impostorGLSL } from '../shaders/impostor.glsl.js';
import { surfaceGLSL } from '../shaders/instanceUniforms.glsl.js';
import { jointEditsGLSL } from '../shaders/jointEdits.glsl.js';
import { layersGLSL } from '../shaders/layers.glsl.js';
import { levelFadeGLSL } from '../shaders/levelFade.glsl.js';
import { setMotionCompiler } from '../shaders/MotionProgram.js';
import { compileMotions } from '../shaders/motion.glsl.js';
import { partsGLSL } from '../shaders/parts.glsl.js';
import { frames as baseFrames } from './animation/frames.js';
import { registerBackend } from './backends/Backend.js';
import { addTable, mapsCode } from './backends/surfaceMaps.js';
import { frameGLSL, restGLSL } from './backends/webgl/frameGLSL.js';
import { registerGLSLSource } from './backends/webgl/glslSources.js';
import { glslTiles } from './backends/webgl/glslTiles.js';
import { registerFadeGLSL, registerSurfaceGLSL } from './backends/webgl/patchMaterial.js';
import { webGLBackend } from './backends/webgl/WebGLBackend.js';
import { registerLayersGLSL, registerPoseEditGLSL } from './backends/webgl/WebGLPosePass.js';
import type { Encoding } from './baking/BakeOptions.js';
import { mergeMaterials as merge } from './character/mergeMaterials.js';
import { SkinnedInstancedMesh as Base } from './crowd/SkinnedInstancedMesh.js';
import { Billboard as BaseBillboard } from './features/attachments/Billboard.js';
import { Impostor as BaseImpostor, tableOf } from './features/impostors/Impostor.js';
import { registerTiles } from './features/impostors/TilePrinter.js';
import { JointEdits as BaseEdits } from './features/jointEdits/JointEdits.js';
import { AnimationLayers as BaseLayers } from './features/layers/AnimationLayers.js';
import { CrowdLevels as BaseLevels } from './features/levels/CrowdLevels.js';
import { InstanceMotions as BaseMotions } from './features/motion/InstanceMotions.js';
import { InstanceParts as BaseParts } from './features/parts/InstanceParts.js';
import { InstanceUniforms as BaseUniforms } from './features/uniforms/InstanceUniforms.js';
import type { InstanceUniformTypes } from './instances/UniformLayout.js';

function withGLSL(): typeof Base {
  registerBackend(webGLBackend);
  return Base;
}

/** A crowd that `WebGLRenderer` can draw. A value of this module, so that bundlers drop all of it for whoever does not use it. */
export const SkinnedInstancedMesh = /*@__PURE__*/ withGLSL();
export type SkinnedInstancedMesh = Base;

function withMotionGLSL<T>(value: T): T {
  setMotionCompiler(compileMotions);
  return value;
}

export const InstanceMotions = /*@__PURE__*/ withMotionGLSL(BaseMotions);
export type InstanceMotions = BaseMotions;

export const Billboard = /*@__PURE__*/ withMotionGLSL(BaseBillboard);
export type Billboard = BaseBillboard;

function withPartsGLSL(): typeof BaseParts {
  registerSurfaceGLSL(partsGLSL);
  return BaseParts;
}

export const InstanceParts = /*@__PURE__*/ withPartsGLSL();
export type InstanceParts = BaseParts;

const surface = /*@__PURE__*/ surfaceGLSL({ mapsOf: mapsCode, uniforms: addTable });

function withSurfaceGLSL<T>(value: T): T {
  registerSurfaceGLSL(surface);
  return value;
}

export const InstanceUniforms = /*@__PURE__*/ withSurfaceGLSL(BaseUniforms);
export type InstanceUniforms<T extends InstanceUniformTypes = InstanceUniformTypes> = BaseUniforms<T>;

function withFrameGLSL(): Encoding {
  registerGLSLSource(frameGLSL);
  registerGLSLSource(restGLSL);
  return baseFrames;
}

export const frames: Encoding = /*@__PURE__*/ withFrameGLSL();

function withEditGLSL(): typeof BaseEdits {
  registerPoseEditGLSL(jointEditsGLSL);
  return BaseEdits;
}

export const JointEdits = /*@__PURE__*/ withEditGLSL();
export type JointEdits = BaseEdits;

function withLayersGLSL(): typeof BaseLayers {
  registerLayersGLSL(layersGLSL);
  return BaseLayers;
}

export const AnimationLayers = /*@__PURE__*/ withLayersGLSL();
export type AnimationLayers = BaseLayers;

function withFadeGLSL(): typeof BaseLevels {
  registerFadeGLSL(levelFadeGLSL);
  return BaseLevels;
}

export const CrowdLevels = /*@__PURE__*/ withFadeGLSL();
export type CrowdLevels = BaseLevels;

function withImpostorGLSL(): typeof BaseImpostor {
  registerGLSLSource({
    name: 'impostor',
    glsl: impostorGLSL,
    bindTextures(crowd, textures) {
      textures[0] = tableOf(crowd);
      textures[1] = crowd.playback.actions.plain;
    },
  });
  registerTiles(glslTiles);
  return BaseImpostor;
}

export const Impostor = /*@__PURE__*/ withImpostorGLSL();
export type Impostor = BaseImpostor;

export const mergeMaterials = /*@__PURE__*/ withSurfaceGLSL(merge);

export * from './exports.js';
export { CrowdKinds } from './features/kinds/CrowdKinds.js';
