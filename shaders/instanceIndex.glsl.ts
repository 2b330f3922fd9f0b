import { INSTANCES_PER_ROW, INSTANCES_PER_ROW_BITS } from '../lib/constants.js';

/**
 * Which instance is drawn: the only place that reads `gl_InstanceID`. Also where its matrix and colour are, which three.js
 * knows as attributes of the drawn index.
 *
 * @param viewed GLSL that says whether the object drawn has a view, see `View`; null where none has.
 */
export function instanceIndexGLSL(viewed: string | null): string {
  if (viewed === null) {
    return /* glsl */ `
int instanceIndex() {

  return gl_InstanceID;

}
`;
  }
  return /* glsl */ `
int instanceIndex() {

  if ( ! ( ${viewed} ) ) return gl_InstanceID;
  int group = gl_InstanceID >> 2;
  ivec2 at = ivec2( group & ${INSTANCES_PER_ROW - 1}, group >> ${INSTANCES_PER_ROW_BITS} );
  return int( texelFetch( CROWD_VIEW, at, 0 )[ gl_InstanceID & 3 ] );

}

ivec2 placeTexel() {

  int index = instanceIndex();
  return ivec2( ( index & ${INSTANCES_PER_ROW - 1} ) * 4, index >> ${INSTANCES_PER_ROW_BITS} );

}

mat4 placeMatrix() {

  if ( ! ( ${viewed} ) ) return instanceMatrix;
  ivec2 at = placeTexel();
  vec4 x = texelFetch( CROWD_MATRICES, at, 0 );
  vec4 y = texelFetch( CROWD_MATRICES, at + ivec2( 1, 0 ), 0 );
  vec4 z = texelFetch( CROWD_MATRICES, at + ivec2( 2, 0 ), 0 );
  return mat4(
    x.x, y.x, z.x, 0.0,
    x.y, y.y, z.y, 0.0,
    x.z, y.z, z.z, 0.0,
    x.w, y.w, z.w, 1.0
  );

}

#define instanceMatrix placeMatrix()

#ifdef USE_INSTANCING_COLOR

  vec3 placeColor() {

    if ( ! ( ${viewed} ) ) return instanceColor;
    return texelFetch( CROWD_MATRICES, placeTexel() + ivec2( 3, 0 ), 0 ).rgb;

  }

  #define instanceColor placeColor()

#endif
`;
}
