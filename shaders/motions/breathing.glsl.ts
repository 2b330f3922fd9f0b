/**
 * Moves vertices along their normals as a breast rises and falls. Normals stay as they are.
 *
 * @param inside A GLSL expression: how much a vertex is moved, from 0 to 1.
 */
export const breathingGLSL = (inside: string): string => /* glsl */ `
float inside = clamp( ${inside}, 0.0, 1.0 );
float breath = 0.5 - 0.5 * motionWave( time + random );
position += depth * breath * inside * inside * ( 3.0 - 2.0 * inside ) * inversesqrt( max( dot( normal, normal ), 1e-20 ) ) * normal;
`;
