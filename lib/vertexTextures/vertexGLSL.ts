import { vertexMatrixGLSL, vertexTextureGLSL } from '../../shaders/vertexTexture.glsl.js';
import { bindActions, readActionsGLSL } from '../backends/webgl/frameGLSL.js';
import { type GLSLSource, registerGLSLSource } from '../backends/webgl/glslSources.js';
import type { Precision } from '../encodings/BoneTextureData.js';
import { vertexSourceName, verticesOf } from './vertexSource.js';

/** Vertices that were baked frame by frame, under WebGLRenderer: each reads and mixes its own. */
const vertexGLSL = (precision: Precision): GLSLSource => ({
  name: vertexSourceName(precision),
  glsl: {
    textures: 2,
    integers: 1,
    definesPosed: true,
    declarations: () => [...readActionsGLSL, ...vertexTextureGLSL(precision)],
    skinningMatrix: (name, variant) => vertexMatrixGLSL(name, precision, variant),
  },
  bindTextures: bindActions,
  bindIntegers(crowd, textures) {
    textures[0] = verticesOf(crowd).vertexTexels;
  },
});

let registered = false;

/** Lets WebGLRenderer pose crowds by vertex textures. */
export function registerVertexGLSL(): void {
  if (registered) return;
  registered = true;
  registerGLSLSource(vertexGLSL('half'));
  registerGLSLSource(vertexGLSL('float'));
}
