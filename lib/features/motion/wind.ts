import { type Box3, MathUtils, Vector3, Vector4 } from 'three';
import type { Node } from 'three/webgpu';
import type { MatrixNode, MotionNodes, MovedNodes } from '../../../shaders/motion.tsl.js';
import { checkAreOptions } from '../../utils/messages.js';
import {
  defineMotion,
  type Motion,
  type MotionOptions,
  type MotionSettings,
  type MotionVertex,
} from './defineMotion.js';
import { type Channel, channelOf, motionWave, waveGLSL, waveNode } from './wave.js';

/** Uniforms of {@link wind}. */
export type WindUniforms = {
  /** How far the strongest gust bends a tip, in units of the instance. @default 0.3 */
  strength: number;
  /** Where the wind goes, in the world. Its length makes no difference. @default (1, 0, 0) */
  direction: Vector3;
  /** How fast gusts travel, in units of the world and second; instances swing the faster too. @default 4 */
  speed: number;
  /** How far gusts are from each other. @default 12 */
  wavelength: number;
  /** How much of the strength comes in gusts, from 0 for a steady wind to 1 for a lull between any two. @default 0.7 */
  gusts: number;
  /** How much instances swing in a gust, from 0 to 1. @default 0.4 */
  turbulence: number;
  /** How high up an instance is bent as far as that, in its units; 0 for the height of the rest pose. @default 0 */
  height: number;
  /** From which height on it bends at all, in units of the instance. With `channel` it makes no difference. @default 0 */
  base: number;
};

/** What {@link wind} takes. */
export interface WindOptions extends MotionSettings<WindUniforms> {
  /** Takes from vertex colours how far a vertex is bent, and not from its height: 0 at the root, 1 at the tip. */
  channel?: Channel;
  /** The farthest that it will ever move a vertex, so that bounds stay as they are when uniforms change. */
  maxOffset?: number;
}

/** How far an instance swings across the wind, as a share of how far it swings with it. */
const ACROSS = 0.6;

/**
 * Bends a vertex with the wind. How far it is bent, from 0 at the root to 1 at the tip, is told by `bent`: by height or by vertex
 * colour. Gusts come with the wind, their fronts are curved, and behind them the instance swings, each at a time of its own. What is
 * bent comes down a little, so that it hardly grows longer.
 *
 * The normal turns as if everything at one height were moved alike, as much as is right for small angles.
 *
 * @param bent A GLSL expression.
 */
const windGLSL = (bent: string): string => /* glsl */ `
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

/** Uniforms that the wind's shaders read. */
type WindNumbers = {
  /** How far an instance leans half-way between lull and gust, and how much farther in a gust. */
  leanMean: number;
  leanAmplitude: number;
  /** What share of that it keeps as it swings, on average, and by how much that changes. */
  swingMean: number;
  swingAmplitude: number;
  /** One by how high up it is as strong as that. */
  perRise: number;
  /** Where the wind goes, of length 1, and the same divided by the distance between gusts. */
  heading: Vector3;
  waves: Vector3;
};

/** Twin of `windGLSL`. */
function windTSL(vertex: MotionNodes<WindNumbers>, howBent: Node<'float'>): MovedNodes {
  const { position, normal, time, random, modelMatrix, instanceMatrix, vec3 } = vertex;
  const { leanMean, leanAmplitude, swingMean, swingAmplitude, perRise, heading, waves } = vertex.uniforms;
  const bent = howBent.clamp(0, 1).toVar();
  const place = modelMatrix.mul(instanceMatrix.element(3)).xyz.toVar();
  const along = place.dot(waves);
  const across = place.x.mul(waves.z).sub(place.z.mul(waves.x));
  const front = waveNode(across.mul(0.6).add(time.mul(0.4375))).mul(0.3);
  const gust = waveNode(along.sub(time).add(front));
  const lean = leanAmplitude.mul(gust).add(leanMean).toVar();
  const sway = waveNode(time.mul(5).add(random));
  const swing = lean.mul(swingAmplitude.mul(sway).add(swingMean));
  const shake = waveNode(time.mul(3).add(random.mul(7)));
  const aside = swingAmplitude.mul(ACROSS).mul(lean).mul(shake);
  const inCrowd = transposed(modelMatrix, heading, vec3);
  const inInstance = transposed(instanceMatrix, inCrowd, vec3).toVar();
  const push = inInstance.mul(inInstance.dot(inInstance).max(1e-20).inverseSqrt()).toVar();
  const bend = push
    .mul(swing)
    .add(vec3(push.z.negate(), 0, push.x).mul(aside))
    .toVar();
  const drop = bent.mul(bent).mul(bent).mul(bend.dot(bend)).mul(0.5).mul(perRise);
  return {
    position: position.add(bend.mul(bent.mul(bent))).sub(vec3(0, drop, 0)),
    normal: normal.sub(vec3(0, bent.mul(2).mul(perRise).mul(bend.dot(normal)), 0)),
  };
}

/** The transposed matrix times a direction. */
function transposed(
  matrix: MatrixNode,
  direction: Node<'vec3'>,
  vec3: MotionNodes<WindNumbers>['vec3'],
): Node<'vec3'> {
  const [x, y, z] = [0, 1, 2].map((i) => matrix.element(i).xyz.dot(direction));
  return vec3(x, y, z);
}

/** All uniforms that shaders read, some of which are made of others. */
type Numbers = WindUniforms & WindNumbers & { channel: Vector4 };

/** Multiples of the time of gusts in the shaders are whole numbers of sixteenths. */
const PERIOD = 16;

const windKind = (
  byHeight: boolean,
  bent: string,
  bentNode: (vertex: MotionNodes<Numbers>) => ReturnType<MotionNodes<Numbers>['color']['dot']>,
  bentOf: (vertex: MotionVertex<Numbers>) => number,
) => {
  const options: MotionOptions<Numbers> = {
    name: 'wind',
    uniforms: {
      strength: 0.3,
      direction: new Vector3(1, 0, 0),
      speed: 4,
      wavelength: 12,
      gusts: 0.7,
      turbulence: 0.4,
      height: 0,
      base: 0,
      heading: new Vector3(1, 0, 0),
      waves: new Vector3(),
      leanMean: 0,
      leanAmplitude: 0,
      swingMean: 1,
      swingAmplitude: 0,
      perRise: 1,
      channel: new Vector4(),
    },
    derived: [
      'heading',
      'waves',
      'leanMean',
      'leanAmplitude',
      'swingMean',
      'swingAmplitude',
      'perRise',
      'channel',
    ],
    maxOffset: ({ strength, turbulence, perRise }) => {
      const bend = Math.abs(strength) * Math.hypot(1, ACROSS * swingOf(turbulence));
      return bend + 0.5 * bend * bend * perRise;
    },
    rate: ({ speed, wavelength }) => speed / wavelength,
    period: PERIOD,
    prepare(values, _geometry, rest) {
      const { heading, waves, direction, wavelength, height, base, strength, gusts, turbulence } = values;
      heading.copy(direction).normalize();
      waves.copy(heading).multiplyScalar(wavelength === 0 ? 0 : 1 / wavelength);
      // Waves go from -1 to 1: in a lull it leans as far as gusts leave it, and swings back by the turbulence.
      values.leanAmplitude = 0.5 * strength * MathUtils.clamp(gusts, 0, 1);
      values.leanMean = strength - values.leanAmplitude;
      values.swingAmplitude = swingOf(turbulence);
      values.swingMean = 1 - values.swingAmplitude;
      values.perRise = 1 / (height > 0 ? height : riseOf(rest, byHeight ? base : Infinity));
    },
    functions: waveGLSL,
    glsl: windGLSL(bent),
    tsl: (vertex) => windTSL(vertex as MotionNodes<WindNumbers>, bentNode(vertex)),
    cpu: (vertex) => moveInWind(vertex, bentOf(vertex)),
  };
  return defineMotion(options);
};

/** By how much the share changes that an instance keeps of its lean. */
const swingOf = (turbulence: number): number => 0.5 * MathUtils.clamp(turbulence, 0, 1);

/**
 * How high what bends from `base` on is. What hangs wholly below is as high as all of it, what lies flat as it is wide: never next to
 * nothing, by which shaders would divide.
 */
function riseOf({ min, max }: Box3, base: number): number {
  const height = max.y - min.y;
  const width = Math.max(max.x - min.x, max.z - min.z);
  const size = height > 0.01 * width ? height : width;
  if (!(size > 0)) return 1;
  return max.y - base > 0.01 * size ? max.y - base : size;
}

const windByHeight = /*@__PURE__*/ windKind(
  true,
  '( position.y - base ) * perRise',
  ({ position, uniforms: { base, perRise } }) => position.y.sub(base).mul(perRise),
  ({ position, uniforms: { base, perRise } }) => (position.y - base) * perRise,
);

const windByColor = /*@__PURE__*/ windKind(
  false,
  'dot( color, channel )',
  ({ color, uniforms: { channel } }) => color.dot(channel),
  ({ color, uniforms: { channel } }) => color.dot(channel),
);

/**
 * Wind for trees, grass and whatever else stands: a field of gusts that travel over the world, the same for all crowds that it
 * is assigned to and that are updated alike. Vertices bend the farther the higher they are, by the square of it; or the more of a
 * channel of the vertex colours they have.
 *
 * ```ts
 * const breeze = wind({ strength: 0.4, direction: new Vector3(1, 0, 0.5) });
 * new InstanceMotions(grass, breeze);
 * ```
 *
 * @throws If there is no such uniform, or one is no number or vector that it can be.
 *
 * @category Move
 */
export function wind(given: WindOptions = {}): Motion<WindUniforms> {
  checkAreOptions(given, 'wind');
  const { channel, maxOffset, ...settings } = given;
  const options = maxOffset === undefined ? {} : { maxOffset };
  const motion: Motion<Numbers> =
    channel === undefined
      ? windByHeight(settings, options)
      : windByColor({ ...settings, channel: channelOf(channel, 'wind') }, options);
  const { direction, wavelength } = motion.uniforms;
  if (direction.value.lengthSq() === 0)
    throw new Error('wind: direction is 0, 0, 0; say where the wind goes.');
  if (!(wavelength.value > 0))
    throw new Error(`wind: wavelength is ${wavelength.value}; use a number above 0.`);
  return motion;
}

const _push = /*@__PURE__*/ new Vector3();
const _bend = /*@__PURE__*/ new Vector3();
const _place = /*@__PURE__*/ new Vector3();

/** Twin of `windGLSL` and `windTSL`. */
function moveInWind(vertex: MotionVertex<Numbers>, howBent: number): void {
  const { position, time, random, modelMatrix, instanceMatrix, worldMatrix } = vertex;
  const { leanMean, leanAmplitude, swingMean, swingAmplitude, perRise, heading, waves } = vertex.uniforms;
  const bent = Math.min(Math.max(howBent, 0), 1);
  const { x, z } = _place.setFromMatrixPosition(worldMatrix);
  const along = _place.dot(waves);
  const across = x * waves.z - z * waves.x;
  const gust = motionWave(along - time + 0.3 * motionWave(0.6 * across + 0.4375 * time));
  const lean = leanMean + leanAmplitude * gust;
  const swing = lean * (swingMean + swingAmplitude * motionWave(5 * time + random));
  const aside = ACROSS * swingAmplitude * lean * motionWave(3 * time + 7 * random);
  // The transposed matrices times the direction.
  _push.copy(heading);
  for (const { elements: m } of [modelMatrix, instanceMatrix]) {
    const { x: dx, y: dy, z: dz } = _push;
    _push.set(
      m[0] * dx + m[1] * dy + m[2] * dz,
      m[4] * dx + m[5] * dy + m[6] * dz,
      m[8] * dx + m[9] * dy + m[10] * dz,
    );
  }
  _push.normalize();
  _bend.set(-_push.z, 0, _push.x).multiplyScalar(aside).addScaledVector(_push, swing);
  position.addScaledVector(_bend, bent * bent);
  position.y -= 0.5 * bent * bent * bent * _bend.lengthSq() * perRise;
}
