import { frameAtGLSL } from '../../../shaders/frameAt.glsl.js';
import { addMorphsGLSL } from '../../../shaders/morphTargets.glsl.js';
import { playedLayoutGLSL, playedTexelGLSL } from '../../../shaders/playedActions.glsl.js';
import {
  jointMatrixGLSL,
  poseLayerGLSL,
  poseStructGLSL,
  restMatrixGLSL,
  skinningMatrixGLSL,
} from '../../../shaders/skinningMatrix.glsl.js';
import type { GLSLSource } from './glslSources.js';

/** Textures of sources whose vertices find out by themselves what their instance plays. */
export const bindActions: GLSLSource['bindTextures'] = ({ boneTexture, playback }, textures) => {
  textures[0] = boneTexture;
  textures[1] = playback.actions.plain;
};

/** What such vertices find it out by. */
export const readActionsGLSL: readonly string[] = [
  frameAtGLSL,
  /*@__PURE__*/ playedLayoutGLSL(1),
  playedTexelGLSL,
  poseStructGLSL,
  poseLayerGLSL,
];

/** Skinning matrices that were baked frame by frame: each vertex reads and mixes them. */
export const frameGLSL: GLSLSource = {
  name: 'frames',
  glsl: {
    declarations(morphs) {
      const common = [...readActionsGLSL, jointMatrixGLSL];
      return morphs ? [...common, addMorphsGLSL] : common;
    },
    skinningMatrix: skinningMatrixGLSL,
  },
  bindTextures: bindActions,
};

/** The rest pose, of a bone texture without clips. */
export const restGLSL: GLSLSource = {
  name: 'rest',
  glsl: {
    declarations: () => [poseStructGLSL, jointMatrixGLSL],
    skinningMatrix: restMatrixGLSL,
  },
  bindTextures({ boneTexture }, textures) {
    textures[0] = boneTexture;
  },
};
