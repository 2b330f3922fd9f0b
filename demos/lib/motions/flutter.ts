import { defineMotion, type Motion, type MotionSettings } from 'skinned-instanced-mesh';
import { Vector3, Vector4 } from 'three';
import { type Channel, channelOf, motionWave, waveGLSL, waveNode, waveSlopeNode } from './wave.js';

export type FlutterUniforms = {
  /** How far ripples move what is quite loose, in units of the geometry as it was modelled. */
  strength: number;
  /** Where ripples run, as the character was modelled. Its length makes no difference. */
  direction: Vector3;
  /** How far they are from each other, in the same units; above 0. */
  wavelength: number;
  /** How fast they run, in the same units and second. */
  speed: number;
};

export interface FlutterOptions extends MotionSettings<FlutterUniforms> {
  /** The channel of vertex colours that tells how loose a vertex is: 0 for what hangs on something, 1 for a free end. Red by default. */
  channel?: Channel;
  /**
   * The axis along which vertices are moved, as the character was modelled: for cloth that is modelled with two sides, which would
   * part if each moved along its own normals.
   */
  axis?: Vector3;
  /** The farthest that it will ever move a vertex, so that bounds stay as they are when uniforms change. */
  maxOffset?: number;
}

const _side = new Vector3();

const kind = defineMotion({
  name: 'flutter',
  stage: 'beforeSkinning',
  uniforms: {
    strength: 0.05,
    direction: new Vector3(0, -1, 0),
    wavelength: 0.5,
    speed: 1,
    channel: new Vector4(),
    // Along which vertices are moved, of length 1; or zero, and `byNormal` is 1.
    axis: new Vector3(),
    byNormal: 1,
    // Where ripples run, divided by the distance between them.
    ripples: new Vector3(),
  },
  maxOffset: ({ strength }) => Math.abs(strength),
  rate: ({ speed, wavelength }) => speed / wavelength,
  // Multiples of the time below are whole numbers of quarters.
  period: 4,
  prepare({ ripples, direction, wavelength }) {
    ripples.copy(direction).normalize().divideScalar(wavelength);
  },
  functions: waveGLSL,
  // The normal turns against the slope of the ripples.
  glsl: /* glsl */ `
float loose = strength * clamp( dot( color, channel ), 0.0, 1.0 );
vec3 side = byNormal * normal * inversesqrt( max( dot( normal, normal ), 1e-20 ) ) + axis;
float phase = dot( position, ripples ) - time + random;
float finer = 2.3 * dot( position, ripples ) - 1.75 * time + 5.0 * random;
float slope = 0.7 * motionWaveSlope( phase ) + 0.69 * motionWaveSlope( finer );
position += loose * ( 0.7 * motionWave( phase ) + 0.3 * motionWave( finer ) ) * side;
normal -= loose * slope * dot( side, normal ) * ripples;
`,
  tsl({ position, normal, color, time, random, uniforms: { strength, channel, axis, byNormal, ripples } }) {
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
  },
  cpu({ position, normal, color, time, random, uniforms: { strength, channel, axis, byNormal, ripples } }) {
    const loose = strength * Math.min(Math.max(color.dot(channel), 0), 1);
    _side.copy(normal).normalize().multiplyScalar(byNormal).add(axis);
    const along = position.dot(ripples);
    const phase = along - time + random;
    const finer = 2.3 * along - 1.75 * time + 5 * random;
    position.addScaledVector(_side, loose * (0.7 * motionWave(phase) + 0.3 * motionWave(finer)));
  },
});

/**
 * Lets cloth, flags and hair flutter, by a channel of their vertex colours, before they are skinned: ripples run through them and
 * follow the pose. Materials need not have `vertexColors`.
 */
export function flutter(options: FlutterOptions = {}): Motion<FlutterUniforms> {
  const { channel = 'r', axis, maxOffset, ...settings } = options;
  const along = axis === undefined ? {} : { axis: axis.clone().normalize(), byNormal: 0 };
  return kind({ ...settings, ...along, channel: channelOf(channel) }, { maxOffset });
}
