import { PARAM_MORPH_TEXEL, PARAM_ROWS, PARAM_STRIDE } from '../lib/constants.js';
import { drawParameterGLSL } from './drawParameter.js';
import type { ShaderVariant } from './ShaderVariant.js';

/** Where an instance's matrices begin in its palette: see `WebGLPosePass`. */
export const paletteGLSL = /*@__PURE__*/ (() => /* glsl */ `
ivec2 paletteTexel() {

  int shift = int( ${drawParameterGLSL(PARAM_ROWS)} );
  int row = gl_InstanceID >> shift;
  return ivec2( ( gl_InstanceID - ( row << shift ) ) * int( ${drawParameterGLSL(PARAM_STRIDE)} ), row );

}
`)();

/** Influences of morph targets, which the pass has written behind the joints. */
export const paletteMorphsGLSL = /*@__PURE__*/ (() => /* glsl */ `
#ifdef USE_MORPHTARGETS

  void addPosedMorphs( ivec2 palette ) {

    ivec2 first = palette + ivec2( int( ${drawParameterGLSL(PARAM_MORPH_TEXEL)} ), 0 );
    for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ )
      crowdMorphs[ i ] = texelFetch( boneTexture[ 0 ], first + ivec2( i >> 2, 0 ), 0 )[ i & 3 ];

  }

#else

  void addPosedMorphs( ivec2 palette ) {}

#endif
`)();

/**
 * The weighted sum of the vertex's joints, as rows, from the palette that the pose pass has written. What plays, and how
 * many clips, makes no difference here. A part that is hidden shrinks to nothing.
 */
export function paletteMatrixGLSL(name: string, { influences, parts, morphs }: ShaderVariant): string {
  return /* glsl */ `
mat3x4 ${name}() {

  mat3x4 skin = mat3x4( 0.0 );
  ${parts ? 'if ( instancePart().w <= 0.0 ) return skin;' : ''}
  ivec2 palette = paletteTexel();
  vec4 joints = skinIndex;
  vec4 weights = skinWeight;

  for ( int i = 0; i < ${influences}; i ++ ) {

    if ( weights.x <= 0.0 ) break;
    ivec2 at = palette + ivec2( int( joints.x ), 0 );
    skin += weights.x * mat3x4(
      texelFetch( boneTexture[ 0 ], at, 0 ),
      texelFetch( boneTexture[ 1 ], at, 0 ),
      texelFetch( boneTexture[ 2 ], at, 0 )
    );
    joints = joints.yzwx;
    weights = weights.yzwx;

  }

  ${morphs ? 'addPosedMorphs( palette );' : ''}
  return skin;

}
`;
}
