import {
  defineMotion,
  type MatrixNode,
  type Motion,
  type MotionNodes,
  type MotionSettings,
} from 'skinned-instanced-mesh';
import { type Box3, MathUtils, Vector3, Vector4 } from 'three';
import type { Node } from 'three/webgpu';
import { type Channel, channelOf, motionWave, waveGLSL, waveNode } from './wave.js';

export type WindUniforms = {
  /** How far the strongest gust bends a tip, in units of the instance. */
  strength: number;
  /** Where the wind goes, in the world. Its length makes no difference, but it has one. */
  direction: Vector3;
  /** How fast gusts travel, in units of the world and second; instances swing the faster too. */
  speed: number;
  /** How far gusts are from each other; above 0. */
  wavelength: number;
  /** How much of the strength comes in gusts, from 0 for a steady wind to 1 for a lull between any two. */
  gusts: number;
  /** How much instances swing in a gust, from 0 to 1. */
  turbulence: number;
  /** How high up an instance is bent as far as that, in its units; 0 for the height of the rest pose. */
  height: number;
  /** From which height on it bends at all, in units of the instance. With `channel` it makes no difference. */
  base: number;
};

export interface WindOptions extends MotionSettings<WindUniforms> {
  /** Takes from vertex colours how far a vertex is bent, and not from its height: 0 at the root, 1 at the tip. */
  channel?: Channel;
  /** The farthest that it will ever move a vertex, so that bounds stay as they are when uniforms change. */
  maxOffset?: number;
}

/** How far an instance swings across the wind, as a share of how far it swings with it. */
const ACROSS = 0.6;

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

/** The transposed matrix times a direction. */
function transposed(
  matrix: MatrixNode,
  direction: Node<'vec3'>,
  vec3: MotionNodes<WindUniforms>['vec3'],
): Node<'vec3'> {
  const [x, y, z] = [0, 1, 2].map((i) => matrix.element(i).xyz.dot(direction));
  return vec3(x, y, z);
}

const _push = new Vector3();
const _bend = new Vector3();
const _place = new Vector3();

/**
 * How far a vertex is bent, from 0 at the root to 1 at the tip, is told by its height or colour. Gusts come with the wind, their
 * fronts are curved, and behind them the instance swings, each at a time of its own. What is bent comes down a little, so that it
 * hardly grows longer. The normal turns as if everything at one height were moved alike, as much as is right for small angles.
 */
const kind = defineMotion({
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
    // What tells how far a vertex is bent: its height, or its colour.
    byHeight: 1,
    channel: new Vector4(0, 0, 0, 0),
    // Where the wind goes, of length 1, and the same divided by the distance between gusts.
    heading: new Vector3(1, 0, 0),
    waves: new Vector3(),
    // How far an instance leans half-way between lull and gust, and how much farther in a gust.
    leanMean: 0,
    leanAmplitude: 0,
    // What share of that it keeps as it swings, on average, and by how much that changes.
    swingMean: 1,
    swingAmplitude: 0,
    // One by how high up it is as strong as that.
    perRise: 1,
  },
  maxOffset: ({ strength, turbulence, perRise }) => {
    const bend = Math.abs(strength) * Math.hypot(1, ACROSS * swingOf(turbulence));
    return bend + 0.5 * bend * bend * perRise;
  },
  rate: ({ speed, wavelength }) => speed / wavelength,
  // Multiples of the time of gusts below are whole numbers of sixteenths.
  period: 16,
  prepare(values, _geometry, rest) {
    const { heading, waves, direction, wavelength, height, base, byHeight, strength, gusts, turbulence } =
      values;
    heading.copy(direction).normalize();
    waves.copy(heading).multiplyScalar(wavelength === 0 ? 0 : 1 / wavelength);
    // Waves go from -1 to 1: in a lull it leans as far as gusts leave it, and swings back by the turbulence.
    values.leanAmplitude = 0.5 * strength * MathUtils.clamp(gusts, 0, 1);
    values.leanMean = strength - values.leanAmplitude;
    values.swingAmplitude = swingOf(turbulence);
    values.swingMean = 1 - values.swingAmplitude;
    values.perRise = 1 / (height > 0 ? height : riseOf(rest, byHeight === 1 ? base : Infinity));
  },
  functions: waveGLSL,
  glsl: /* glsl */ `
float bent = clamp( byHeight * ( position.y - base ) * perRise + dot( color, channel ), 0.0, 1.0 );
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
`,
  tsl({ position, normal, color, time, random, modelMatrix, instanceMatrix, uniforms, vec3 }) {
    const { byHeight, base, channel, perRise, heading, waves } = uniforms;
    const { leanMean, leanAmplitude, swingMean, swingAmplitude } = uniforms;
    const high = position.y.sub(base).mul(perRise).mul(byHeight);
    const bent = high.add(color.dot(channel)).clamp(0, 1).toVar();
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
  },
  cpu({ position, color, time, random, modelMatrix, instanceMatrix, worldMatrix, uniforms }) {
    const { byHeight, base, channel, perRise, heading, waves } = uniforms;
    const { leanMean, leanAmplitude, swingMean, swingAmplitude } = uniforms;
    const bent = MathUtils.clamp(byHeight * (position.y - base) * perRise + color.dot(channel), 0, 1);
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
  },
});

/**
 * Wind for trees, grass and whatever else stands: a field of gusts that travel over the world, the same for all crowds that it
 * is assigned to and that are updated alike. Vertices bend the farther the higher they are, by the square of it; or the more of a
 * channel of the vertex colours they have.
 */
export const wind = ({ channel, maxOffset, ...settings }: WindOptions = {}): Motion<WindUniforms> =>
  kind({ ...settings, byHeight: channel === undefined ? 1 : 0, channel: channelOf(channel) }, { maxOffset });
