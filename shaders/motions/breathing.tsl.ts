import type { Node } from 'three/webgpu';
import type { MotionNodes, MovedNodes } from '../motion.tsl.js';
import { motionWave } from './wave.tsl.js';

/** Uniforms that the shaders of breathing read. */
export type BreathingNumbers = { depth: number };

/** Twin of `breathingGLSL` in `breathing.glsl.ts`. */
export function breathingTSL(
  { position, normal, time, random, uniforms: { depth } }: MotionNodes<BreathingNumbers>,
  howMuch: Node<'float'>,
): MovedNodes {
  const inside = howMuch.clamp(0, 1).toVar();
  const breath = motionWave(time.add(random)).mul(-0.5).add(0.5);
  const smooth = inside.mul(inside).mul(inside.mul(-2).add(3));
  const length = normal.dot(normal).max(1e-20).inverseSqrt();
  return position.add(normal.mul(depth.mul(breath).mul(smooth).mul(length)));
}
