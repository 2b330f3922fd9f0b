import { FADE_CODES, FADE_NEAR, FADE_STEPS } from '../lib/constants.js';
import { callFirst } from './placeVertex.glsl.js';

/** Which pixels of the instance are drawn, see `FADE_STEPS`. */
const FADE_VARYING = 'flat varying int crowdFade;';

/**
 * Lets a fragment shader leave out the pixels of an instance that another level of detail draws. It does so at the very end, since
 * what a pixel that was discarded knows of its neighbours, such as how large a texture is there, is not to be relied on. `main` is
 * renamed by a macro, so that the text of the shader stays, in which code of the user may look for it.
 *
 * Which pixels these are is said by a matrix of 8 × 8 thresholds (Bayer, "An optimum method for two-level rendition of
 * continuous-tone pictures", 1973), in whole numbers: both levels must come to the same result.
 */
const fadeFragmentGLSL = (fragmentShader: string): string => /* glsl */ `
#define main drawSurface
${fragmentShader}
#undef main
${FADE_VARYING}

int fadeThreshold() {

  ivec2 at = ivec2( gl_FragCoord.xy );
  int both = at.x ^ at.y;
  return ( both & 1 ) << 5 | ( at.y & 1 ) << 4 | ( both & 2 ) << 2 | ( at.y & 2 ) << 1 | ( both & 4 ) >> 1 | ( at.y & 4 ) >> 2;

}

void main( void ) {

  drawSurface();
  bool below = fadeThreshold() < ( crowdFade & ${FADE_STEPS - 1} );
  if ( crowdFade != 0 && below == ( crowdFade >= ${FADE_NEAR} ) ) discard;

}
`;

/** Comes with `CrowdLevels`. */
export const levelDissolveGLSL = {
  vertex: (shader: string) =>
    `${FADE_VARYING}\n${callFirst(shader, `crowdFade = int( fract( crowdEntry ) * ${FADE_CODES}.0 );`)}`,
  fragment: fadeFragmentGLSL,
};
