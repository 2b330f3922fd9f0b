/** How far an instance swings across the wind, as a share of how far it swings with it. */
export const ACROSS = 0.6;

/**
 * Bends a vertex with the wind. How far it is bent, from 0 at the root to 1 at the tip, is told by `bent`: by height or by vertex
 * colour. Gusts come with the wind, their fronts are curved, and behind them the instance swings, each at a time of its own. What is
 * bent comes down a little, so that it hardly grows longer.
 *
 * The normal turns as if everything at one height were moved alike, as much as is right for small angles.
 *
 * @param bent A GLSL expression.
 */
export const windGLSL = (bent: string): string => /* glsl */ `
float bent = clamp( ${bent}, 0.0, 1.0 );
vec3 place = ( modelMatrix * instanceMatrix[ 3 ] ).xyz;
float along = dot( place, waves );
float across = place.x * waves.z - place.z * waves.x;
float gust = motionWave( along - time + 0.3 * motionWave( 0.6 * across + 0.4375 * time ) );
float lean = leanMean + leanAmplitude * gust;
float swing = lean * ( swingMean + swingAmplitude * motionWave( 5.0 * time + random ) );
float aside = ${ACROSS} * swingAmplitude * lean * motionWave( 3.0 * time + 7.0 * random );
vec3 push = ( vec4( ( vec4( heading, 0.0 ) * modelMatrix ).xyz, 0.0 ) * instanceMatrix ).xyz;
push *= inversesqrt( max( dot( push, push ), 1e-20 ) );
vec3 bend = swing * push + aside * vec3( - push.z, 0.0, push.x );
position += bent * bent * bend;
position.y -= 0.5 * bent * bent * bent * dot( bend, bend ) * perRise;
normal.y -= 2.0 * bent * perRise * dot( bend, normal );
`;
