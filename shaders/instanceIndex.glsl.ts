import {
  INSTANCES_PER_ROW,
  INSTANCES_PER_ROW_BITS,
  LIST_TEXELS,
  LIST_TEXELS_BITS,
} from '../lib/constants.js';

/**
 * Stands before all of a shader, so that whatever the user has put into it finds the instance that is drawn too.
 *
 * @param placed Whether skinning matrices place all that the program draws, and nobody else asks where instances stand: then
 * chunks of three.js shall not place vertices once more.
 */
export const instanceDeclarationsGLSL = (placed: boolean): string => /* glsl */ `
#define CROWD_DRAWN gl_InstanceID
/* The entry of the list: a row of the palette, or an instance, and behind it as a fraction which of its pixels are drawn. */
float crowdEntry;
int crowdRow;
int instanceIndex();

#if ${placed ? 'defined( USE_DISPLACEMENTMAP )' : 1}
  #define CROWD_UNPLACED
  mat4 crowdMatrix;
  #define instanceMatrix crowdMatrix
#else
  #undef USE_INSTANCING
#endif

#ifdef USE_INSTANCING_COLOR
  vec3 crowdColor;
  #define instanceColor crowdColor
#endif
`;

/** What must be called before all else to be done in `main`. */
export const PLACE_INSTANCE = 'placeInstance();';

/** GLSL of an entry of a texture that lists instances. */
const entryGLSL = (list: string, at: string): string =>
  `texelFetch( ${list}, ivec2( ${at} >> 2 & ${LIST_TEXELS - 1}, ${at} >> ${LIST_TEXELS_BITS + 2} ), 0 )[ ${at} & 3 ]`;

/** Which instance is drawn, and where its matrix and colour are, which three.js knows as attributes of the drawn index. */
export const instanceIndexGLSL = (): string => /* glsl */ `
int instanceIndex() {

  // Rows of a palette are mostly the instances of their numbers.
  return CROWD_LOOKS_UP ? int( ${entryGLSL('CROWD_INSTANCES', 'crowdRow')} ) : crowdRow;

}

void placeInstance() {

  int drawn = CROWD_DRAWN + CROWD_FIRST;
  crowdEntry = ${entryGLSL('CROWD_LIST', 'drawn')};
  crowdRow = int( crowdEntry );
  #if defined( USE_INSTANCING_COLOR ) || defined( CROWD_UNPLACED )

    int instance = instanceIndex();
    ivec2 at = ivec2( instance & ${INSTANCES_PER_ROW - 1}, instance >> ${INSTANCES_PER_ROW_BITS} );

  #endif
  #ifdef USE_INSTANCING_COLOR

    crowdColor = texelFetch( CROWD_COLORS, at, 0 ).rgb;

  #endif
  #ifdef CROWD_UNPLACED

    // The fourth row is always the same, which saves some of the arithmetic.
    at.x *= 4;
    for ( int i = 0; i < 4; i ++ )
      crowdMatrix[ i ] = vec4( texelFetch( CROWD_MATRICES, at + ivec2( i, 0 ), 0 ).xyz, i < 3 ? 0.0 : 1.0 );

  #endif

}
`;

/** Lets code read the instance where it asks for the drawn index: code of the user, who knows of no difference. */
export const readInstance = (code: string): string => code.replace(/\bgl_InstanceID\b/g, 'instanceIndex()');
