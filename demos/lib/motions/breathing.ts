import { defineMotion, type Motion, type MotionSettings } from 'skinned-instanced-mesh';
import { Vector3, Vector4 } from 'three';
import { type Channel, channelOf, motionWave, waveGLSL, waveNode } from './wave.js';

export type BreathingUniforms = {
  /** How far the breast rises, in units of the geometry as it was modelled. */
  depth: number;
  /** Breaths in a second. */
  speed: number;
  /** The middle of what rises, as the character was modelled; 0, 0, 0 stands for 0.72 of the geometry's height. */
  center: Vector3;
  /** How far from there it ends; 0 for a fifth of the geometry's height. */
  radius: number;
};

const _normal = new Vector3();

const kind = defineMotion({
  name: 'breathing',
  stage: 'beforeSkinning',
  uniforms: {
    depth: 0.02,
    speed: 0.25,
    center: new Vector3(),
    radius: 0,
    // What moves a vertex: how near it is to the middle, or its colour.
    byPlace: 1,
    channel: new Vector4(0, 0, 0, 0),
    middle: new Vector3(),
    size: 1,
  },
  maxOffset: ({ depth }) => Math.abs(depth),
  rate: ({ speed }) => speed,
  period: 1,
  prepare(values, geometry) {
    const { center, radius, middle } = values;
    if (geometry.boundingBox === null) geometry.computeBoundingBox();
    if (geometry.boundingBox === null) return;
    const { min, max } = geometry.boundingBox;
    const height = max.y - min.y;
    values.size = radius > 0 ? radius : Math.max(0.2 * height, 1e-6);
    if (center.lengthSq() > 0) middle.copy(center);
    else middle.set((min.x + max.x) / 2, min.y + 0.72 * height, (min.z + max.z) / 2);
  },
  functions: waveGLSL,
  glsl: /* glsl */ `
float inside = clamp( byPlace * ( 1.0 - distance( position, middle ) / size ) + dot( color, channel ), 0.0, 1.0 );
float breath = 0.5 - 0.5 * motionWave( time + random );
position += depth * breath * inside * inside * ( 3.0 - 2.0 * inside ) * inversesqrt( max( dot( normal, normal ), 1e-20 ) ) * normal;
`,
  tsl({ position, normal, color, time, random, uniforms: { depth, byPlace, channel, middle, size } }) {
    const near = position.distance(middle).div(size).oneMinus();
    const inside = near.mul(byPlace).add(color.dot(channel)).clamp(0, 1).toVar();
    const breath = waveNode(time.add(random)).mul(-0.5).add(0.5);
    const smooth = inside.mul(inside).mul(inside.mul(-2).add(3));
    const length = normal.dot(normal).max(1e-20).inverseSqrt();
    return position.add(normal.mul(depth.mul(breath).mul(smooth).mul(length)));
  },
  cpu({ position, normal, color, time, random, uniforms: { depth, byPlace, channel, middle, size } }) {
    const near = 1 - position.distanceTo(middle) / size;
    const inside = Math.min(Math.max(byPlace * near + color.dot(channel), 0), 1);
    const breath = 0.5 - 0.5 * motionWave(time + random);
    _normal.copy(normal).normalize();
    position.addScaledVector(_normal, depth * breath * inside * inside * (3 - 2 * inside));
  },
});

/**
 * Lets characters breathe: vertices about the breast move along their normals before they are skinned, each instance at a time
 * of its own. Normals stay as they are.
 *
 * @param options Uniforms; or the `channel` of vertex colours that tells how much a vertex is moved.
 */
export const breathing = ({
  channel,
  ...settings
}: MotionSettings<BreathingUniforms> & { channel?: Channel } = {}): Motion<BreathingUniforms> =>
  kind({ ...settings, byPlace: channel === undefined ? 1 : 0, channel: channelOf(channel) });
