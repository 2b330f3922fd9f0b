import { Vector3, Vector4 } from 'three';
import type { MotionNodes, MovedNodes } from '../../../shaders/motion.tsl.js';
import { checkAreOptions, describe } from '../../utils/messages.js';
import { defineMotion, type Motion, type MotionSettings, type MotionVertex } from './defineMotion.js';
import { type Channel, channelOf, motionWave, waveGLSL, waveNode, waveSlopeNode } from './wave.js';

/** Uniforms of {@link flutter}. */
export type FlutterUniforms = {
  /** How far ripples move what is quite loose, in units of the geometry as it was modelled. @default 0.05 */
  strength: number;
  /** Where ripples run, as the character was modelled. Its length makes no difference. @default (0, -1, 0) */
  direction: Vector3;
  /** How far they are from each other, in the same units. @default 0.5 */
  wavelength: number;
  /** How fast they run, in the same units and second. @default 1 */
  speed: number;
};

/** What {@link flutter} takes. */
export interface FlutterOptions extends MotionSettings<FlutterUniforms> {
  /** The channel of vertex colours that tells how loose a vertex is: 0 for what hangs on something, 1 for a free end. @default 'r' */
  channel?: Channel;
  /**
   * The axis along which vertices are moved, as the character was modelled: for cloth that is modelled with two sides, which would
   * part if each moved along its own normals. @default the normals
   */
  axis?: Vector3;
  /** The farthest that it will ever move a vertex, in the same units, so that bounds stay as they are when uniforms change. */
  maxOffset?: number;
}

/**
 * Lets ripples run through cloth and hair, as strong as a channel of the vertex colours says. They run along `ripples`, and move
 * vertices along their normals, or along one axis. The normal turns against the slope of the ripples.
 */
const flutterGLSL = /* glsl */ `
float loose = strength * clamp( dot( color, channel ), 0.0, 1.0 );
vec3 side = byNormal * normal * inversesqrt( max( dot( normal, normal ), 1e-20 ) ) + axis;
float phase = dot( position, ripples ) - time + random;
float finer = 2.3 * dot( position, ripples ) - 1.75 * time + 5.0 * random;
float slope = 0.7 * motionWaveSlope( phase ) + 0.69 * motionWaveSlope( finer );
position += loose * ( 0.7 * motionWave( phase ) + 0.3 * motionWave( finer ) ) * side;
normal -= loose * slope * dot( side, normal ) * ripples;
`;

/** Uniforms that the shaders of fluttering read. */
type FlutterNumbers = {
  strength: number;
  /** Takes the channel out of a colour. */
  channel: Vector4;
  /** The axis along which vertices are moved, of length 1; or zero, and `byNormal` is 1. */
  axis: Vector3;
  byNormal: number;
  /** Where ripples run, divided by the distance between them. */
  ripples: Vector3;
};

/** Twin of `flutterGLSL`. */
function flutterTSL(vertex: MotionNodes<FlutterNumbers>): MovedNodes {
  const { position, normal, color, time, random } = vertex;
  const { strength, channel, axis, byNormal, ripples } = vertex.uniforms;
  const loose = color.dot(channel).clamp(0, 1).mul(strength).toVar();
  const length = normal.dot(normal).max(1e-20).inverseSqrt();
  const side = normal.mul(byNormal.mul(length)).add(axis).toVar();
  const along = position.dot(ripples).toVar();
  const phase = along.sub(time).add(random).toVar();
  const finer = along.mul(2.3).sub(time.mul(1.75)).add(random.mul(5)).toVar();
  const slope = waveSlopeNode(phase).mul(0.7).add(waveSlopeNode(finer).mul(0.69));
  const height = waveNode(phase).mul(0.7).add(waveNode(finer).mul(0.3));
  return {
    position: position.add(side.mul(loose.mul(height))),
    normal: normal.sub(ripples.mul(loose.mul(slope).mul(side.dot(normal)))),
  };
}

type Numbers = FlutterUniforms & FlutterNumbers;

const flutterKind = /*@__PURE__*/ defineMotion<Numbers>({
  name: 'flutter',
  stage: 'beforeSkinning',
  uniforms: {
    strength: 0.05,
    direction: /*@__PURE__*/ new Vector3(0, -1, 0),
    wavelength: 0.5,
    speed: 1,
    channel: /*@__PURE__*/ new Vector4(1),
    axis: /*@__PURE__*/ new Vector3(),
    byNormal: 1,
    ripples: /*@__PURE__*/ new Vector3(),
  },
  derived: ['channel', 'axis', 'byNormal', 'ripples'],
  maxOffset: ({ strength }) => Math.abs(strength),
  rate: ({ speed, wavelength }) => speed / wavelength,
  // Multiples of the time in the shaders are whole numbers of quarters.
  period: 4,
  prepare({ ripples, direction, wavelength }) {
    ripples.copy(direction).normalize().divideScalar(wavelength);
  },
  functions: waveGLSL,
  glsl: flutterGLSL,
  tsl: (vertex) => flutterTSL(vertex as MotionNodes<FlutterNumbers>),
  cpu: moveInRipples,
});

/**
 * Lets cloth, flags and hair flutter, by a channel of their vertex colours, before they are skinned: ripples run through them and
 * follow the pose. Materials need not have `vertexColors`.
 *
 * ```ts
 * cape.geometry.setAttribute('color', looseness); // red: 0 at the shoulders, 1 at the seam
 * new InstanceMotions(crowd, flutter({ strength: 0.04, axis: new Vector3(0, 0, 1) }));
 * ```
 *
 * @throws If there is no such uniform or channel, or one is no number or vector that it can be.
 *
 * @category Move
 */
export function flutter(given: FlutterOptions = {}): Motion<FlutterUniforms> {
  checkAreOptions(given, 'flutter');
  const { channel = 'r', axis, maxOffset, ...settings } = given;
  const numbers = { ...settings, channel: channelOf(channel, 'flutter') };
  if (axis !== undefined && !(axis?.isVector3 === true && axis.length() > 0 && axis.length() < Infinity)) {
    const shown = axis?.isVector3 === true ? axis.toArray().join(', ') : describe(axis);
    throw new Error(
      `flutter: axis is ${shown}; use a Vector3 that is not 0, or leave it out to move vertices along their normals.`,
    );
  }
  const along = axis === undefined ? {} : { axis: axis.clone().normalize(), byNormal: 0 };
  const motion = flutterKind({ ...numbers, ...along }, maxOffset === undefined ? {} : { maxOffset });
  const { wavelength } = motion.uniforms;
  if (wavelength.value > 0) return motion;
  throw new Error(`flutter: wavelength is ${wavelength.value}; use a number above 0.`);
}

const _side = /*@__PURE__*/ new Vector3();

/** Twin of `flutterGLSL` and `flutterTSL`. */
function moveInRipples({ position, normal, color, time, random, uniforms }: MotionVertex<Numbers>): void {
  const { strength, channel, axis, byNormal, ripples } = uniforms;
  const loose = strength * Math.min(Math.max(color.dot(channel), 0), 1);
  _side.copy(normal).normalize().multiplyScalar(byNormal).add(axis);
  const along = position.dot(ripples);
  const phase = along - time + random;
  const finer = 2.3 * along - 1.75 * time + 5 * random;
  position.addScaledVector(_side, loose * (0.7 * motionWave(phase) + 0.3 * motionWave(finer)));
}
