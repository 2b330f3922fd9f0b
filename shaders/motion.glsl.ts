import { INSTANCES_PER_ROW, INSTANCES_PER_ROW_BITS } from '../lib/constants.js';
import { sizeOf } from '../lib/instances/UniformLayout.js';
import {
  MOTION_HAS_COLOR,
  MOTION_SWAPPED,
  type MotionChunks,
  type MotionProgram,
  type MotionSource,
  type MotionStage,
  motionProgram,
} from './MotionProgram.js';
import { variantOf } from './ShaderVariant.js';

/** A number that shaders are told of motions. */
const motionNumber = (at: number): string => `boneTexture.motion[ ${at >> 2} ].${'xyzw'[at & 3]}`;

const MOVED: Pick<MotionChunks, 'move' | 'shift' | 'turn'> = {
  move: '\nmoveVertex( crowdSkin );',
  shift: [' + motionShift[ 0 ]', ' + motionShift[ 1 ]'],
  turn: [' + motionTurn[ 0 ]', ' + motionTurn[ 1 ]'],
};

/** The programs of motions among shader variants, and which codes have each. */
function programsOf(codes: readonly number[]): Map<MotionProgram, number[]> {
  const programs = new Map<MotionProgram, number[]>();
  for (const code of codes) {
    const program = motionProgram(variantOf(code).motion);
    if (program !== undefined) programs.set(program, [...(programs.get(program) ?? []), code]);
  }
  return programs;
}

/**
 * Lets a vertex shader move vertices. That is done where the skinning matrix is known, which is before normals are, and
 * with the attributes themselves: shadow maps have no normals otherwise, and morph targets are not applied by then. What
 * it comes to is added later to whatever the shader has made of the vertex.
 */
export function compileMotions(codes: readonly number[]): MotionChunks | null {
  const programs = programsOf(codes);
  if (programs.size === 0) return null;
  const all = [...programs.keys()];
  /** Statements of all programs, each for the objects that have it. */
  const statements = (stage: MotionStage) =>
    all
      .map((program) => {
        const calls = program.steps
          .map(({ source }, i) =>
            source.stage === stage ? `${functionName(program, i)}( moved, turned );` : '',
          )
          .join(' ');
        const own = programs.get(program) ?? [];
        if (calls.trim() === '' || own.length === codes.length) return calls;
        return `if ( ${own.map((code) => `CROWD_VARIANT == ${code}`).join(' || ')} ) { ${calls} }`;
      })
      .join('\n  ');
  const sources = all.flatMap(({ steps }) => steps.map(({ source }) => source));
  const hides = codes.some((code) => variantOf(code).parts);
  const declarations = [
    ...new Set([
      ...(sources.some((source) => reads(source, 'color')) ? [colorGLSL()] : []),
      ...(sources.some((source) => reads(source, 'random'))
        ? [randomOfGLSL(motionNumber(MOTION_SWAPPED))]
        : []),
      ...sources.map(({ functions }) => functions),
      ...all.flatMap((program) =>
        program.steps.map((step, i) => functionGLSL(functionName(program, i), step)),
      ),
    ]),
    moveGLSL(statements('beforeSkinning'), statements('afterSkinning'), hides),
  ].join('\n');
  const vectors = Math.max(...all.map((program) => program.vectors));
  return { ...MOVED, declarations, vectors };
}

const functionName = ({ number }: MotionProgram, step: number): string => `motion_${number}_${step}`;

/** What a motion may read beside its uniforms, each only if its text has the name. */
const GIVEN: Readonly<Record<string, string>> = {
  color: 'vec4 color = motionColor();',
  random: 'float random = motionRandom();',
  instance: 'int instance = instanceIndex();',
  worldMatrix: 'mat4 worldMatrix = modelMatrix * instanceMatrix;',
};

/** Whether a motion's GLSL has a name in it. */
const reads = ({ glsl }: MotionSource, name: string): boolean => new RegExp(`\\b${name}\\b`).test(glsl);

/** The GLSL function of a motion, which changes a position and a normal. */
function functionGLSL(name: string, { source, places, timeAt }: MotionProgram['steps'][number]): string {
  const uniforms = places
    .filter((place) => reads(source, place.name))
    .map((place) => {
      const size = sizeOf(place.type) as number;
      const type = size === 1 ? 'float' : `vec${size}`;
      const components = 'xyzw'.slice(place.at & 3, (place.at & 3) + size);
      return `${type} ${place.name} = boneTexture.motion[ ${place.at >> 2} ].${components};`;
    });
  const given = Object.keys(GIVEN)
    .filter((one) => reads(source, one))
    .map((one) => GIVEN[one]);
  const time = reads(source, 'time') ? [`float time = ${motionNumber(timeAt)};`] : [];
  // Braces, so that the text may declare what it likes.
  return /* glsl */ `
void ${name}( inout vec3 position, inout vec3 normal ) {

  ${[...given, ...time, ...uniforms].join('\n  ')}
  {

${source.glsl}

  }

}
`;
}

/** The vertices of a hidden part are all at one point, and must stay there. */
const moveGLSL = (before: string, after: string, hides: boolean): string => /* glsl */ `
vec3 motionShift[ 2 ];
vec3 motionTurn[ 2 ];

void moveVertex( mat3x4 skin ) {

  vec3 moved = position;
  vec3 turned = normal;
  ${before}
  motionShift[ 0 ] = moved - position;
  motionTurn[ 0 ] = turned - normal;

  vec3 posed = posedPosition( moved, skin );
  vec3 facing = posedNormal( turned, skin );
  moved = posed;
  turned = facing;
  ${after}
  motionShift[ 1 ] = moved - posed;
  motionTurn[ 1 ] = turned - facing;
  ${hides ? 'if ( skin == mat3x4( 0.0 ) ) motionShift[ 1 ] = vec3( 0.0 );' : ''}

}
`;

/** Depth materials, and those without `vertexColors`, do not declare the attribute. */
const colorGLSL = (): string => /* glsl */ `
#if ! defined( USE_COLOR ) && ! defined( USE_COLOR_ALPHA )
  attribute vec4 color;
#endif

vec4 motionColor() {

  if ( ${motionNumber(MOTION_HAS_COLOR)} < 0.5 ) return vec4( 0.0 );
  #if defined( USE_COLOR ) && ! defined( USE_COLOR_ALPHA )
    return vec4( color, 1.0 );
  #else
    return color;
  #endif

}
`;

/** Jarzynski and Olano, "Hash Functions for GPU Rendering", 2020: `pcg`. Twin of `lib/motion/randomOf.ts`. */
const randomOfGLSL = (swapped: string): string => /* glsl */ `
float motionRandom() {

  int seed = instanceIndex();
  if ( ${swapped} > 0.5 ) seed = int( texelFetch( CROWD_SEEDS, ivec2( seed & ${INSTANCES_PER_ROW - 1}, seed >> ${INSTANCES_PER_ROW_BITS} ), 0 ).x );
  uint state = uint( seed ) * 747796405u + 2891336453u;
  uint word = ( ( state >> ( ( state >> 28u ) + 4u ) ) ^ state ) * 277803737u;
  return float( ( ( word >> 22u ) ^ word ) >> 8u ) * ${(1 / 2 ** 24).toExponential()};

}
`;

/** The same for nodes. */
export const randomGLSL = /*@__PURE__*/ (() => randomOfGLSL('areSwapped'))();
