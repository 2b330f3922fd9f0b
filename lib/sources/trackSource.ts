import { paletteGLSL, paletteMatrixGLSL, paletteMorphsGLSL } from '../../shaders/palette.glsl.js';
import { PARAM_MORPH_TEXEL, PARAM_ROWS, PARAM_STRIDE } from '../constants.js';
import type { PoseTracks } from '../tracks/PoseTracks.js';
import type { PoseSource } from './PoseSource.js';
import { trackPoses } from './trackPoses.js';
import { paletteOf, posesOf } from './WebGLPoses.js';

/** The clips' own tracks: a pass poses each instance once, as `AnimationMixer` does, and vertices read what it has written. */
export const trackSource = (): PoseSource => ({
  name: 'tracks',
  hasFrames: false,
  readsSlots: false,
  glsl: {
    textures: () => 0,
    integers: 3,
    declarations: (_slots, morphs) => (morphs ? [paletteGLSL, paletteMorphsGLSL] : [paletteGLSL]),
    skinningMatrix: paletteMatrixGLSL,
  },
  ...trackPoses,

  setParameters({ boneTexture }, parameters) {
    const { jointNodes, morphRest } = boneTexture.data.tracks as PoseTracks;
    parameters[PARAM_STRIDE] = jointNodes.length + morphRest.length / 4;
    parameters[PARAM_MORPH_TEXEL] = boneTexture.morphTexel;
  },

  bindTextures({ boneTexture }, _slots, textures) {
    textures[0] = boneTexture;
  },

  bindIntegers(crowd, textures) {
    const palette = paletteOf(crowd);
    for (let i = 0; i < palette.length; i++) textures[i] = palette[i];
  },

  update(renderer, crowd) {
    const poses = posesOf(crowd);
    poses.update(renderer, crowd);
    crowd.bindMatrix.elements[PARAM_ROWS] = Math.log2(poses.perRow);
  },
});
