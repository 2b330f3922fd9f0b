import { matrixGLSL } from '../../shaders/encodings/matrix.glsl.js';
import { quaternionGLSL } from '../../shaders/encodings/quaternion.glsl.js';
import { frameAtGLSL } from '../../shaders/frameAt.glsl.js';
import { addMorphsGLSL } from '../../shaders/morphTargets.glsl.js';
import {
  newestSlotGLSL,
  poseLayerGLSL,
  poseStructGLSL,
  restMatrixGLSL,
  skinningMatrixGLSL,
} from '../../shaders/skinningMatrix.glsl.js';
import { PARAM_MORPH_TEXEL, PARAM_ROWS, PARAM_STRIDE } from '../constants.js';
import type { MatrixEncodingName } from '../encodings/Encoding.js';
import { bakedPoses } from './bakedPoses.js';
import type { PoseSource } from './PoseSource.js';

/** Twins of `lib/encodings/matrix.ts` and `quaternion.ts`. */
const DECODERS: Record<MatrixEncodingName, string> = { matrix: matrixGLSL, quaternion: quaternionGLSL };

/** Skinning matrices that were baked frame by frame: each vertex reads and mixes them. */
export const texelSource = (encoding: MatrixEncodingName): PoseSource => ({
  name: encoding,
  hasFrames: true,
  readsSlots: true,
  glsl: {
    textures: (slots) => (slots === 'attributes' ? 2 : 3),
    declarations(slots, morphs) {
      const common = [newestSlotGLSL(slots), frameAtGLSL, poseStructGLSL, poseLayerGLSL, DECODERS[encoding]];
      return morphs ? [...common, addMorphsGLSL] : common;
    },
    skinningMatrix: (name, variant) => skinningMatrixGLSL(name, encoding, variant),
  },
  ...bakedPoses,

  setParameters({ boneTexture }, parameters) {
    const { layout, morphTexel } = boneTexture;
    parameters[PARAM_ROWS] = layout.height;
    parameters[PARAM_STRIDE] = layout.stride;
    parameters[PARAM_MORPH_TEXEL] = morphTexel;
  },

  bindTextures({ boneTexture, playback }, slots, textures) {
    textures[0] = boneTexture;
    textures[1] = playback.fades.plain;
    if (slots === 'texture') textures[2] = playback.state.plain;
  },
});

/** Name of the source that poses crowds by a bone texture of an encoding in which there is the rest pose alone. */
export const restSourceName = (encoding: MatrixEncodingName): string => `rest ${encoding}`;

/** The rest pose, of a bone texture without clips: vertices need not find out what their instance plays. */
export const restSource = (encoding: MatrixEncodingName): PoseSource => ({
  ...texelSource(encoding),
  name: restSourceName(encoding),
  hasFrames: false,
  readsSlots: false,
  glsl: {
    textures: () => 1,
    declarations: () => [poseStructGLSL, DECODERS[encoding]],
    skinningMatrix: (name, variant) => restMatrixGLSL(name, encoding, variant),
  },
});
