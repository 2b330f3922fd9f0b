import {
  INSTANCES_PER_ROW,
  INSTANCES_PER_ROW_BITS,
  LIST_TEXELS,
  LIST_TEXELS_BITS,
} from '../lib/constants.js';

/** Which instance is drawn, where no object that a program draws has a view. */
const drawnIndexGLSL = /* glsl */ `
int instanceIndex() {

  return gl_InstanceID;

}
`;

/** Stands before all of a shader, so that whatever the user has put into it finds the instance that is drawn too. */
export const placeDeclarationsGLSL = /* glsl */ `
#define CROWD_DRAWN gl_InstanceID
int crowdInstance;
/* The entry of the list: the instance, and behind it as a fraction which of its pixels are drawn. */
float crowdEntry = 0.0;
mat4 crowdMatrix;
#define instanceMatrix crowdMatrix

#ifdef USE_INSTANCING_COLOR
  vec3 crowdColor;
  #define instanceColor crowdColor
#endif
`;

/** What must be called before all else to be done in `main`. */
export const PLACE_INSTANCE = 'placeInstance();';

const viewedIndexGLSL = (): string => /* glsl */ `
#define CROWD_VIEWED
#undef instanceMatrix
#undef instanceColor

void placeInstance() {

  crowdInstance = CROWD_DRAWN;
  crowdMatrix = instanceMatrix;
  #ifdef USE_INSTANCING_COLOR
    crowdColor = instanceColor;
  #endif
  if ( CROWD_LISTED ) {

    int drawn = CROWD_DRAWN + CROWD_FIRST;
    int group = drawn >> 2;
    ivec2 listed = ivec2( group & ${LIST_TEXELS - 1}, group >> ${LIST_TEXELS_BITS} );
    crowdEntry = texelFetch( CROWD_VIEW, listed, 0 )[ drawn & 3 ];
    crowdInstance = int( crowdEntry );
    ivec2 at = ivec2( crowdInstance & ${INSTANCES_PER_ROW - 1}, crowdInstance >> ${INSTANCES_PER_ROW_BITS} );
    #ifdef USE_INSTANCING_COLOR
      crowdColor = texelFetch( CROWD_COLORS, at, 0 ).rgb;
    #endif
    at.x *= 4;
    for ( int i = 0; i < 4; i ++ ) crowdMatrix[ i ] = texelFetch( CROWD_MATRICES, at + ivec2( i, 0 ), 0 );

  }

  // The fourth row is always the same, which saves some of the arithmetic.
  for ( int i = 0; i < 4; i ++ ) crowdMatrix[ i ].w = i < 3 ? 0.0 : 1.0;

}

#define instanceMatrix crowdMatrix
#define instanceColor crowdColor

int instanceIndex() {

  return crowdInstance;

}
`;

/** Lets code read the instance where it asks for the drawn index: code of the user, who knows of no difference. */
export const readInstance = (code: string): string => code.replace(/\bgl_InstanceID\b/g, 'crowdInstance');

/** The same in a whole shader that was made for crowds, into which the user has put code since. */
export function readInstanceSince(shader: string): string {
  const parts = shader.split(placeDeclarationsGLSL);
  return parts.length === 1 ? shader : parts.map(readInstance).join(placeDeclarationsGLSL);
}

/**
 * Which instance is drawn: the only place that reads `gl_InstanceID`. Also where its matrix and colour are, which three.js
 * knows as attributes of the drawn index.
 *
 * @param viewed Whether an object that the program draws may have a view, see `View`.
 */
export const instanceIndexGLSL = (viewed: boolean): string => (viewed ? viewedIndexGLSL() : drawnIndexGLSL);
