import type { Node } from 'three/webgpu';

/** Twin of `motionWave` in `wave.glsl.ts`. */
export function motionWave(x: Node<'float'>): Node<'float'> {
  const t = x.fract().mul(2).sub(1).abs().toVar();
  return t.mul(t).mul(t.mul(-4).add(6)).sub(1);
}

/** Twin of `motionWaveSlope`. */
export function motionWaveSlope(x: Node<'float'>): Node<'float'> {
  const t = x.fract().mul(2).sub(1).toVar();
  return t.mul(24).mul(t.abs().oneMinus());
}
