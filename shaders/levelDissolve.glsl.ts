import { FADE_CODES, FADE_NEAR, FADE_STEPS } from '../lib/constants.js';
import { callFirst } from './placeVertex.glsl.js';

/** Which pixels of the instance are drawn, see `FADE_STEPS`. */
const FADE_VARYING = 'flat varying int crowdFade;';

/**
 * Whether a pixel is another level's. That is said by a matrix of 8 × 8 thresholds (Bayer, "An optimum method for two-level rendition of
 * continuous-tone pictures", 1973), in whole numbers: both levels must come to the same result.
 */
export const fadedGLSL = /*@__PURE__*/ (() => /* glsl */ `
bool isFaded( ivec2 at, int fade ) {

  int both = at.x ^ at.y;
  int least = ( both & 1 ) << 5 | ( at.y & 1 ) << 4 | ( both & 2 ) << 2 | ( at.y & 2 ) << 1 | ( both & 4 ) >> 1 | ( at.y & 4 ) >> 2;
  return fade != 0 && least < ( fade & ${FADE_STEPS - 1} ) == fade >= ${FADE_NEAR};

}
`)();

/**
 * Lets a fragment shader leave out the pixels of an instance that another level of detail draws. It does so at the very end, since
 * what a pixel that was discarded knows of its neighbours, such as how large a texture is there, is not to be relied on. `main` is
 * renamed by a macro, so that the text of the shader stays, in which code of the user may look for it.
 */
const fadeFragmentGLSL = (fragmentShader: string): string => /* glsl */ `
#define main drawSurface
${fragmentShader}
#undef main
${FADE_VARYING}
${fadedGLSL}
void main( void ) {

  drawSurface();
  if ( isFaded( ivec2( gl_FragCoord.xy ), crowdFade ) ) discard;

}
`;

/** Comes with `CrowdLevels`. */
export const levelDissolveGLSL = {
  vertex: (shader: string) =>
    `${FADE_VARYING}\n${callFirst(shader, `crowdFade = int( fract( crowdEntry ) * ${FADE_CODES}.0 );`)}`,
  fragment: fadeFragmentGLSL,
};
