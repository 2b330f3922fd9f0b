import { Vector4 } from 'three';
import type { Node } from 'three/webgpu';

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

/** The same in TSL. */
export function waveNode(x: Node<'float'>): Node<'float'> {
  const t = x.fract().mul(2).sub(1).abs().toVar();
  return t.mul(t).mul(t.mul(-4).add(6)).sub(1);
}

export function waveSlopeNode(x: Node<'float'>): Node<'float'> {
  const t = x.fract().mul(2).sub(1).toVar();
  return t.mul(24).mul(t.abs().oneMinus());
}

/** The same on the CPU. */
export function motionWave(x: number): number {
  const t = Math.abs(2 * (x - Math.floor(x)) - 1);
  return t * t * (6 - 4 * t) - 1;
}

/** A channel of vertex colours. */
export type Channel = 'r' | 'g' | 'b' | 'a';

/** Takes a channel out of a colour, by a dot product; without one there is nothing. */
export const channelOf = (channel?: Channel): Vector4 =>
  new Vector4().fromArray([...'rgba'].map((one) => (one === channel ? 1 : 0)));
