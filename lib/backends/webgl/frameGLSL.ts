import { frameAtGLSL } from '../../../shaders/fadesAndFrames.glsl.js';
import { addMorphsGLSL, morphInfluenceGLSL } from '../../../shaders/morphTargets.glsl.js';
import { playedTexelGLSL } from '../../../shaders/playedActions.glsl.js';
import {
  addPosedGLSL,
  poseLayerGLSL,
  poseStructGLSL,
  restMatrixGLSL,
  skinningMatrixGLSL,
} from '../../../shaders/skinningMatrix.glsl.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import type { DrawTextures } from '../../core/CrowdSkeleton.js';
import { actionsRowBits } from '../../playback/instanceLayout.js';
import type { GLSLSource } from './glslSources.js';

/** Textures of sources whose vertices find out by themselves what their instance plays. */
export const bindActions = ({ boneTexture, playback }: DrawnCrowd, textures: DrawTextures): void => {
  textures.baked = boneTexture;
  textures.played = playback.texels.texture.plain;
};

/** What such vertices find it out by. */
export const readActionsGLSL: readonly string[] = [
  frameAtGLSL,
  /*@__PURE__*/ playedTexelGLSL(/*@__PURE__*/ actionsRowBits(1)),
  poseStructGLSL,
  poseLayerGLSL,
];

/** Skinning matrices that were baked frame by frame: each vertex reads and mixes them. */
export const frameGLSL: GLSLSource = {
  name: 'frames',
  glsl: {
    declarations(morphs) {
      const common = [...readActionsGLSL, addPosedGLSL];
      return morphs ? [...common, morphInfluenceGLSL, addMorphsGLSL] : common;
    },
    skinningMatrix: skinningMatrixGLSL,
  },
  bindTextures: bindActions,
};

/** The rest pose, of a bone texture without clips. */
export const restGLSL: GLSLSource = {
  name: 'rest',
  glsl: {
    declarations: () => [poseStructGLSL, addPosedGLSL],
    skinningMatrix: restMatrixGLSL,
  },
  bindTextures({ boneTexture }, textures) {
    textures.baked = boneTexture;
  },
};
