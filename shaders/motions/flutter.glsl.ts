/**
 * Lets ripples run through cloth and hair, as strong as a channel of the vertex colours says. They run along `ripples`, and move
 * vertices along their normals, or along one axis. The normal turns against the slope of the ripples.
 */
export const flutterGLSL = /* glsl */ `
float loose = strength * clamp( dot( color, channel ), 0.0, 1.0 );
vec3 side = byNormal * normal * inversesqrt( max( dot( normal, normal ), 1e-20 ) ) + axis;
float phase = dot( position, ripples ) - time + random;
float finer = 2.3 * dot( position, ripples ) - 1.75 * time + 5.0 * random;
float slope = 0.7 * motionWaveSlope( phase ) + 0.69 * motionWaveSlope( finer );
position += loose * ( 0.7 * motionWave( phase ) + 0.3 * motionWave( finer ) ) * side;
normal -= loose * slope * dot( side, normal ) * ripples;
`;
