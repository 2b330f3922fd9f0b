import type { Vector3 } from 'three';
import type { Node } from 'three/webgpu';
import type { MatrixNode, MotionNodes, MovedNodes } from '../motion.tsl.js';
import { motionWave } from './wave.tsl.js';
import { ACROSS } from './wind.glsl.js';

/** Uniforms that the wind's shaders read. */
export type WindNumbers = {
  /** How far an instance leans half-way between lull and gust, and how much farther in a gust. */
  leanMean: number;
  leanAmplitude: number;
  /** What share of that it keeps as it swings, on average, and by how much that changes. */
  swingMean: number;
  swingAmplitude: number;
  /** One by how high up it is as strong as that. */
  perRise: number;
  /** Where the wind goes, of length 1, and the same divided by the distance between gusts. */
  heading: Vector3;
  waves: Vector3;
};

/** Twin of `windGLSL` in `wind.glsl.ts`. */
export function windTSL(vertex: MotionNodes<WindNumbers>, howBent: Node<'float'>): MovedNodes {
  const { position, normal, time, random, modelMatrix, instanceMatrix, vec3 } = vertex;
  const { leanMean, leanAmplitude, swingMean, swingAmplitude, perRise, heading, waves } = vertex.uniforms;
  const bent = howBent.clamp(0, 1).toVar();
  const place = modelMatrix.mul(instanceMatrix.element(3)).xyz.toVar();
  const along = place.dot(waves);
  const across = place.x.mul(waves.z).sub(place.z.mul(waves.x));
  const front = motionWave(across.mul(0.6).add(time.mul(0.4375))).mul(0.3);
  const gust = motionWave(along.sub(time).add(front));
  const lean = leanAmplitude.mul(gust).add(leanMean).toVar();
  const sway = motionWave(time.mul(5).add(random));
  const swing = lean.mul(swingAmplitude.mul(sway).add(swingMean));
  const shake = motionWave(time.mul(3).add(random.mul(7)));
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
}

/** The transposed matrix times a direction. */
function transposed(
  matrix: MatrixNode,
  direction: Node<'vec3'>,
  vec3: MotionNodes<WindNumbers>['vec3'],
): Node<'vec3'> {
  const [x, y, z] = [0, 1, 2].map((i) => matrix.element(i).xyz.dot(direction));
  return vec3(x, y, z);
}
