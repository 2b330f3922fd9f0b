import { Vector4 } from 'three';
import type { Node } from 'three/webgpu';
import { describe } from '../../utils/messages.js';

/**
 * A smooth wave with a period of 1, from 1 at whole numbers to -1 half-way between them, and how steep it is. As good as a sine
 * here, and the same numbers on every GPU, which sines are not: see "GPU Gems 3", chapter 16.
 */
export const waveGLSL = /* glsl */ `
float motionWave( float x ) {

  float t = abs( 2.0 * fract( x ) - 1.0 );
  return t * t * ( 6.0 - 4.0 * t ) - 1.0;

}

float motionWaveSlope( float x ) {

  float t = 2.0 * fract( x ) - 1.0;
  return 24.0 * t * ( 1.0 - abs( t ) );

}
`;

/** Twin of `motionWave` in `waveGLSL`. */
export function waveNode(x: Node<'float'>): Node<'float'> {
  const t = x.fract().mul(2).sub(1).abs().toVar();
  return t.mul(t).mul(t.mul(-4).add(6)).sub(1);
}

/** Twin of `motionWaveSlope` in it. */
export function waveSlopeNode(x: Node<'float'>): Node<'float'> {
  const t = x.fract().mul(2).sub(1).toVar();
  return t.mul(24).mul(t.abs().oneMinus());
}

const fract = (x: number): number => x - Math.floor(x);

/** Twin of `motionWave` on the CPU. */
export function motionWave(x: number): number {
  const t = Math.abs(2 * fract(x) - 1);
  return t * t * (6 - 4 * t) - 1;
}

/** A channel of vertex colours. */
export type Channel = 'r' | 'g' | 'b' | 'a';

/**
 * A vector that takes the channel out of a colour.
 *
 * @throws If there is no such channel.
 */
export function channelOf(channel: Channel, caller: string): Vector4 {
  const index = 'rgba'.indexOf(channel);
  if (typeof channel === 'string' && channel.length === 1 && index >= 0) {
    // three.js's vectors of four begin with a last component of 1.
    return new Vector4(0, 0, 0, 0).setComponent(index, 1);
  }
  throw new Error(`${caller}: channel is ${describe(channel)}; use 'r', 'g', 'b' or 'a'.`);
}
