import {
  compactPaletteGLSL,
  exactPaletteGLSL,
  paletteMatrixGLSL,
  paletteMorphsGLSL,
  paletteTexelGLSL,
} from '../../shaders/palette.glsl.js';
import { PARAM_MORPH_TEXEL, PARAM_ROWS, PARAM_STRIDE } from '../constants.js';
import type { Palette } from '../crowd/Palette.js';
import type { PoseTracks } from '../tracks/PoseTracks.js';
import type { PoseSource } from './PoseSource.js';
import { trackPoses } from './trackPoses.js';
import { PALETTE_TEXTURES } from './WebGLPosePass.js';
import { paletteOf, posesOf } from './WebGLPoses.js';

const DECODERS: Record<Palette, string> = { exact: exactPaletteGLSL, compact: compactPaletteGLSL };

/** The clips' own tracks: a pass poses each instance once, as `AnimationMixer` does, and vertices read what it has written. */
export const trackSource = (palette: Palette): PoseSource => ({
  name: 'tracks',
  hasFrames: false,
  readsSlots: false,
  glsl: {
    textures: () => 0,
    integers: PALETTE_TEXTURES[palette],
    declarations(_slots, morphs) {
      const common = [paletteTexelGLSL, DECODERS[palette]];
      return morphs ? [...common, paletteMorphsGLSL] : common;
    },
    skinningMatrix: (name, variant) => paletteMatrixGLSL(name, palette, variant),
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
    const posed = paletteOf(crowd);
    for (let i = 0; i < posed.length; i++) textures[i] = posed[i];
  },

  posedCount: (renderer, crowd) => posesOf(crowd).posedCount(renderer),

  update(renderer, crowd, wanted) {
    const poses = posesOf(crowd);
    poses.update(renderer, crowd, wanted);
    crowd.bindMatrix.elements[PARAM_ROWS] = Math.log2(poses.perRow);
  },
});
