import { type Box3, MathUtils, Vector3, Vector4 } from 'three';
import type { MotionNodes } from '../../shaders/motion.tsl.js';
import { waveGLSL } from '../../shaders/motions/wave.glsl.js';
import { ACROSS, windGLSL } from '../../shaders/motions/wind.glsl.js';
import { type WindNumbers, windTSL } from '../../shaders/motions/wind.tsl.js';
import { checkAreOptions } from '../utils/checkOptions.js';
import { type Channel, channelOf } from './channels.js';
import { defineMotion, type MotionSettings } from './defineMotion.js';
import type { Motion } from './Motion.js';
import type { MotionOptions, MotionVertex } from './MotionDefinition.js';
import { motionWave } from './wave.js';

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
  reach?: number;
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
    reach: ({ strength, turbulence, perRise }) => {
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
 * grass.motion = breeze;
 * ```
 *
 * @throws If there is no such uniform, or one is no number or vector that it can be.
 */
export function wind(given: WindOptions = {}): Motion<WindUniforms> {
  checkAreOptions(given, 'wind');
  const { channel, reach, ...settings } = given;
  const options = reach === undefined ? {} : { reach };
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
