/**
 * The main entry, for `WebGLRenderer`.
 *
 * @module skinned-instanced-mesh
 */

import { bodiesGLSL } from '../shaders/bodies.glsl.js';
import { impostorGLSL } from '../shaders/impostor.glsl.js';
import { surfaceGLSL } from '../shaders/instanceUniforms.glsl.js';
import { jointEditsGLSL } from '../shaders/jointEdits.glsl.js';
import { layersGLSL } from '../shaders/layers.glsl.js';
import { setMotionCompiler } from '../shaders/MotionProgram.js';
import { compileMotions } from '../shaders/motion.glsl.js';
import { partsGLSL } from '../shaders/parts.glsl.js';
import { frameGLSL, restGLSL } from './backends/webgl/frameGLSL.js';
import { registerGLSLSource } from './backends/webgl/glslSources.js';
import { glslTiles } from './backends/webgl/glslTiles.js';
import { levelDraws } from './backends/webgl/levelDraws.js';
import { registerLevelGLSL, registerSurfaceGLSL } from './backends/webgl/patchMaterial.js';
import { webGLBackend } from './backends/webgl/WebGLBackend.js';
import { registerPassGLSL } from './backends/webgl/WebGLPosePass.js';
import type { Encoding } from './baking/BakeOptions.js';
import { frames as baseFrames } from './baking/frames.js';
import { mergeMaterials as merge } from './character/mergeMaterials.js';
import { registerBackend, withPieces } from './core/Backend.js';
import { SkinnedInstancedMesh as Base } from './crowd/SkinnedInstancedMesh.js';
import { Billboard as BaseBillboard } from './features/attachments/Billboard.js';
import { Impostor as BaseImpostor, tableOf } from './features/impostors/Impostor.js';
import { registerTiles } from './features/impostors/TilePrinter.js';
import { JointEdits as BaseEdits } from './features/jointEdits/JointEdits.js';
import { CrowdKinds as BaseKinds } from './features/kinds/CrowdKinds.js';
import { AnimationLayers as BaseLayers } from './features/layers/AnimationLayers.js';
import { CrowdLevels as BaseLevels } from './features/levels/CrowdLevels.js';
import { InstanceMotions as BaseMotions } from './features/motion/InstanceMotions.js';
import type { InstanceUniformTypes } from './instances/UniformLayout.js';
import { InstanceParts as BaseParts } from './surface/InstanceParts.js';
import { InstanceUniforms as BaseUniforms } from './surface/InstanceUniforms.js';
import { addTable, mapsCode } from './utils/surfaceMaps.js';

/** A crowd that `WebGLRenderer` can draw. A value of this module, so that bundlers drop all of it for whoever does not use it. */
export const SkinnedInstancedMesh = /*@__PURE__*/ withPieces(Base, registerBackend, webGLBackend);
export type SkinnedInstancedMesh = Base;

export const InstanceMotions = /*@__PURE__*/ withPieces(BaseMotions, setMotionCompiler, compileMotions);
export type InstanceMotions = BaseMotions;

export const Billboard = /*@__PURE__*/ withPieces(BaseBillboard, setMotionCompiler, compileMotions);
export type Billboard = BaseBillboard;

export const InstanceParts = /*@__PURE__*/ withPieces(BaseParts, registerSurfaceGLSL, partsGLSL);
export type InstanceParts = BaseParts;

const surface = /*@__PURE__*/ surfaceGLSL({ mapsOf: mapsCode, uniforms: addTable });

export const InstanceUniforms = /*@__PURE__*/ withPieces(BaseUniforms, registerSurfaceGLSL, surface);
export type InstanceUniforms<T extends InstanceUniformTypes = InstanceUniformTypes> = BaseUniforms<T>;

export const frames: Encoding = /*@__PURE__*/ withPieces(baseFrames, registerGLSLSource, frameGLSL, restGLSL);

export const JointEdits = /*@__PURE__*/ withPieces(BaseEdits, registerPassGLSL, {
  JointEdits: jointEditsGLSL,
});
export type JointEdits = BaseEdits;

export const AnimationLayers = /*@__PURE__*/ withPieces(BaseLayers, registerPassGLSL, {
  AnimationLayers: layersGLSL,
});
export type AnimationLayers = BaseLayers;

export const CrowdLevels = /*@__PURE__*/ withPieces(BaseLevels, registerLevelGLSL, levelDraws);
export type CrowdLevels = BaseLevels;

function withImpostorGLSL(): typeof BaseImpostor {
  registerGLSLSource({
    name: 'impostor',
    glsl: impostorGLSL,
    bindTextures(crowd, textures) {
      textures.baked = tableOf(crowd);
      textures.played = crowd.playback.texels.texture.plain;
    },
  });
  registerTiles(glslTiles);
  return BaseImpostor;
}

export const Impostor = /*@__PURE__*/ withImpostorGLSL();
export type Impostor = BaseImpostor;

export const mergeMaterials = /*@__PURE__*/ withPieces(merge, registerSurfaceGLSL, surface);

export * from './exports.js';
export const CrowdKinds = /*@__PURE__*/ withPieces(BaseKinds, registerPassGLSL, { CrowdKinds: bodiesGLSL });
export type CrowdKinds = BaseKinds;
