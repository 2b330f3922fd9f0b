import type { Vector3, Vector4 } from 'three';
import type { MotionNodes, MovedNodes } from '../motion.tsl.js';
import { motionWave, motionWaveSlope } from './wave.tsl.js';

/** Uniforms that the shaders of fluttering read. */
export type FlutterNumbers = {
  strength: number;
  /** Takes the channel out of a colour. */
  channel: Vector4;
  /** The axis along which vertices are moved, of length 1; or zero, and `byNormal` is 1. */
  axis: Vector3;
  byNormal: number;
  /** Where ripples run, divided by the distance between them. */
  ripples: Vector3;
};

/** Twin of `flutterGLSL` in `flutter.glsl.ts`. */
export function flutterTSL(vertex: MotionNodes<FlutterNumbers>): MovedNodes {
  const { position, normal, color, time, random } = vertex;
  const { strength, channel, axis, byNormal, ripples } = vertex.uniforms;
  const loose = color.dot(channel).clamp(0, 1).mul(strength).toVar();
  const length = normal.dot(normal).max(1e-20).inverseSqrt();
  const side = normal.mul(byNormal.mul(length)).add(axis).toVar();
  const along = position.dot(ripples).toVar();
  const phase = along.sub(time).add(random).toVar();
  const finer = along.mul(2.3).sub(time.mul(1.75)).add(random.mul(5)).toVar();
  const slope = motionWaveSlope(phase).mul(0.7).add(motionWaveSlope(finer).mul(0.69));
  const height = motionWave(phase).mul(0.7).add(motionWave(finer).mul(0.3));
  return {
    position: position.add(side.mul(loose.mul(height))),
    normal: normal.sub(ripples.mul(loose.mul(slope).mul(side.dot(normal)))),
  };
}
