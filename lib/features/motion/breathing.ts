import { Vector3, Vector4 } from 'three';
import type { Node } from 'three/webgpu';
import type { MotionNodes, MovedNodes } from '../../../shaders/motion.tsl.js';
import { checkAreOptions } from '../../utils/messages.js';
import { defineMotion, type Motion, type MotionSettings, type MotionVertex } from './defineMotion.js';
import { type Channel, channelOf, motionWave, waveGLSL, waveNode } from './wave.js';

/** Uniforms of {@link breathing}. */
export type BreathingUniforms = {
  /** How far the breast rises, in units of the geometry as it was modelled. @default 0.02 */
  depth: number;
  /** Breaths in a second. @default 0.25 */
  speed: number;
  /** The middle of what rises, as the character was modelled. @default 0, 0, 0 stands for 0.72 of the geometry's height */
  center: Vector3;
  /** How far from there it ends; 0 for a fifth of the geometry's height. @default 0 */
  radius: number;
};

/** What {@link breathing} takes. */
export interface BreathingOptions extends MotionSettings<BreathingUniforms> {
  /** Takes from vertex colours how much a vertex is moved, and not from where it is. */
  channel?: Channel;
  /** The farthest that it will ever move a vertex, in the same units, so that bounds stay as they are when uniforms change. */
  maxOffset?: number;
}

/**
 * Moves vertices along their normals as a breast rises and falls. Normals stay as they are.
 *
 * @param inside A GLSL expression: how much a vertex is moved, from 0 to 1.
 */
const breathingGLSL = (inside: string): string => /* glsl */ `
float inside = clamp( ${inside}, 0.0, 1.0 );
float breath = 0.5 - 0.5 * motionWave( time + random );
position += depth * breath * inside * inside * ( 3.0 - 2.0 * inside ) * inversesqrt( max( dot( normal, normal ), 1e-20 ) ) * normal;
`;

/** Uniforms that the shaders of breathing read. */
type BreathingNumbers = { depth: number };

/** Twin of `breathingGLSL`. */
function breathingTSL(
  { position, normal, time, random, uniforms: { depth } }: MotionNodes<BreathingNumbers>,
  howMuch: Node<'float'>,
): MovedNodes {
  const inside = howMuch.clamp(0, 1).toVar();
  const breath = waveNode(time.add(random)).mul(-0.5).add(0.5);
  const smooth = inside.mul(inside).mul(inside.mul(-2).add(3));
  const length = normal.dot(normal).max(1e-20).inverseSqrt();
  return position.add(normal.mul(depth.mul(breath).mul(smooth).mul(length)));
}

type Numbers = BreathingUniforms & { channel: Vector4; middle: Vector3; size: number; given: number };

const breathingKind = (
  inside: string,
  insideNode: (vertex: MotionNodes<Numbers>) => ReturnType<MotionNodes<Numbers>['color']['dot']>,
  insideOf: (vertex: MotionVertex<Numbers>) => number,
) =>
  defineMotion<Numbers>({
    name: 'breathing',
    stage: 'beforeSkinning',
    uniforms: {
      depth: 0.02,
      speed: 0.25,
      center: new Vector3(),
      radius: 0,
      channel: new Vector4(),
      middle: new Vector3(),
      size: 1,
      given: 0,
    },
    derived: ['channel', 'middle', 'size', 'given'],
    maxOffset: ({ depth }) => Math.abs(depth),
    rate: ({ speed }) => speed,
    period: 1,
    prepare(values, geometry) {
      const { center, radius, middle, given } = values;
      if (geometry.boundingBox === null) geometry.computeBoundingBox();
      if (geometry.boundingBox === null) return;
      const { min, max } = geometry.boundingBox;
      const height = max.y - min.y;
      values.size = radius > 0 ? radius : Math.max(0.2 * height, 1e-6);
      // It may also be given later.
      if (given > 0 || center.lengthSq() > 0) middle.copy(center);
      else middle.set((min.x + max.x) / 2, min.y + 0.72 * height, (min.z + max.z) / 2);
    },
    functions: waveGLSL,
    glsl: breathingGLSL(inside),
    tsl: (vertex) => breathingTSL(vertex as MotionNodes<BreathingNumbers>, insideNode(vertex)),
    cpu: (vertex) => moveInBreath(vertex, insideOf(vertex)),
  });

const breathingByPlace = /*@__PURE__*/ breathingKind(
  '1.0 - distance( position, middle ) / size',
  ({ position, uniforms: { middle, size } }) => position.distance(middle).div(size).oneMinus(),
  ({ position, uniforms: { middle, size } }) => 1 - position.distanceTo(middle) / size,
);

const breathingByColor = /*@__PURE__*/ breathingKind(
  'dot( color, channel )',
  ({ color, uniforms: { channel } }) => color.dot(channel),
  ({ color, uniforms: { channel } }) => color.dot(channel),
);

/**
 * Lets characters breathe: vertices about the breast move along their normals before they are skinned, each instance at a time
 * of its own.
 *
 * ```ts
 * new InstanceMotions(crowd, breathing({ depth: 0.015, center: new Vector3(0, 1.3, 0.1), radius: 0.3 }));
 * ```
 *
 * @throws If there is no such uniform or channel, or one is no number or vector that it can be.
 *
 * @category Move
 */
export function breathing(given: BreathingOptions = {}): Motion<BreathingUniforms> {
  checkAreOptions(given, 'breathing');
  const { channel, maxOffset, ...settings } = given;
  const options = maxOffset === undefined ? {} : { maxOffset };
  if (channel !== undefined) {
    return breathingByColor({ ...settings, channel: channelOf(channel, 'breathing') }, options);
  }
  return breathingByPlace({ ...settings, given: settings.center === undefined ? 0 : 1 }, options);
}

const _normal = /*@__PURE__*/ new Vector3();

/** Twin of `breathingGLSL` and `breathingTSL`. */
function moveInBreath(vertex: MotionVertex<Numbers>, howMuch: number): void {
  const { position, normal, time, random, uniforms } = vertex;
  const inside = Math.min(Math.max(howMuch, 0), 1);
  const breath = 0.5 - 0.5 * motionWave(time + random);
  _normal.copy(normal).normalize();
  position.addScaledVector(_normal, uniforms.depth * breath * inside * inside * (3 - 2 * inside));
}
