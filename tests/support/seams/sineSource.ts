import type { Box3 } from 'three';
import type { PoseSource } from '../../../lib/sources/PoseSource.js';

export const AMPLITUDE = 0.25;
export const WAVES = 4;

let posed = 0;

/** Moves every vertex along a sine, another one for each instance: poses without joints, clips or textures. */
export const sineSource: PoseSource = {
  name: 'sine',
  hasFrames: false,
  readsSlots: false,
  glsl: {
    textures: () => 1,
    declarations: () => [
      /* glsl */ `
float sineOf( float x, int instance ) {

  return ${AMPLITUDE} * sin( ${WAVES}.0 * x + float( instance ) );

}
`,
    ],
    skinningMatrix: (name) => /* glsl */ `
mat3x4 ${name}() {

  return mat3x4(
    1.0, 0.0, 0.0, 0.0,
    0.0, 1.0, 0.0, sineOf( position.x, instanceIndex() ),
    0.0, 0.0, 1.0, 0.0
  );

}
`,
  },

  setParameters() {},
  bindTextures({ boneTexture }, _slots, textures) {
    textures[0] = boneTexture;
  },
  pose(_crowd, instance) {
    posed = instance;
  },
  posedVertex(_crowd, _vertex, target) {
    target.y += AMPLITUDE * Math.sin(WAVES * target.x + posed);
    return target;
  },
  expandBounds({ geometry }, target: Box3) {
    geometry.computeBoundingBox();
    if (geometry.boundingBox !== null) target.union(geometry.boundingBox);
    target.min.y -= AMPLITUDE;
    target.max.y += AMPLITUDE;
  },
};
