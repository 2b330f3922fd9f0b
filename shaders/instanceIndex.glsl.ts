import {
  INSTANCES_PER_ROW,
  INSTANCES_PER_ROW_BITS,
  LIST_TEXELS,
  LIST_TEXELS_BITS,
} from '../lib/constants.js';

/** What a program asks of its instances. */
export interface AskedOfInstances {
  /** Skinning matrices place all that the program draws, and nobody else asks where instances stand: chunks of three.js shall not place vertices once more. */
  placed: boolean;
  /** Whether it reads their colours. */
  colored: boolean;
}

/** Stands before all of a shader, so that whatever the user has put into it finds the instance that is drawn too. */
export const instanceDeclarationsGLSL = ({ placed, colored }: AskedOfInstances): string => /* glsl */ `
#define CROWD_DRAWN gl_InstanceID
/* The entry of the list: a row of the palette, or an instance, and behind it as a fraction which of its pixels are drawn. */
float crowdEntry;
int crowdRow;
int instanceIndex();
${placed ? '#undef USE_INSTANCING' : '#define CROWD_UNPLACED\nmat4 crowdMatrix;\n#define instanceMatrix crowdMatrix'}
${colored ? 'vec3 crowdColor;\n#define instanceColor crowdColor' : '#undef USE_INSTANCING_COLOR'}
`;

/** What must be called before all else to be done in `main`. */
export const PLACE_INSTANCE = 'placeInstance();';

/** GLSL of an entry of a texture that lists instances. */
const entryGLSL = (list: string, at: string): string =>
  /* glsl */ `texelFetch( ${list}, ivec2( ${at} >> 2 & ${LIST_TEXELS - 1}, ${at} >> ${LIST_TEXELS_BITS + 2} ), 0 )[ ${at} & 3 ]`;

const instanceGLSL = /*@__PURE__*/ (() => /* glsl */ `
  int instance = instanceIndex();
  ivec2 at = ivec2( instance & ${INSTANCES_PER_ROW - 1}, instance >> ${INSTANCES_PER_ROW_BITS} );
`)();

const colorGLSL = /* glsl */ `crowdColor = texelFetch( CROWD_COLORS, at, 0 ).rgb;`;

const matrixGLSL = /* glsl */ `
  // The fourth row is always the same, which saves some of the arithmetic.
  at.x *= 4;
  for ( int i = 0; i < 4; i ++ )
    crowdMatrix[ i ] = vec4( texelFetch( CROWD_MATRICES, at + ivec2( i, 0 ), 0 ).xyz, i < 3 ? 0.0 : 1.0 );
`;

/** Which instance is drawn, and where its matrix and colour are, which three.js knows as attributes of the drawn index. */
export const instanceIndexGLSL = ({ placed, colored }: AskedOfInstances): string => /* glsl */ `
int instanceIndex() {

  // Rows of a palette are mostly the instances of their numbers.
  return CROWD_LOOKS_UP ? int( ${entryGLSL('CROWD_INSTANCES', 'crowdRow')} ) : crowdRow;

}

void placeInstance() {

  int drawn = CROWD_DRAWN + CROWD_FIRST;
  crowdEntry = ${entryGLSL('CROWD_LIST', 'drawn')};
  crowdRow = int( crowdEntry );
  ${colored || !placed ? instanceGLSL : ''}
  ${colored ? colorGLSL : ''}
  ${placed ? '' : matrixGLSL}

}
`;

/** Lets code read the instance where it asks for the drawn index: code of the user, who knows of no difference. */
export const readInstance = (code: string): string => code.replace(/\bgl_InstanceID\b/g, 'instanceIndex()');
