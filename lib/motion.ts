/**
 * Procedural motion of the vertices of crowds, for both renderers: wind, fluttering cloth, breath, and what you define.
 *
 * @module skinned-instanced-mesh/motion
 */

export type { MotionStage } from '../shaders/MotionProgram.js';
export type {
  Columns,
  MatrixNode,
  MotionNodes,
  MotionUniformNode,
  MovedNodes,
  TurnedNodes,
} from '../shaders/motion.tsl.js';
export { type BreathingOptions, type BreathingUniforms, breathing } from './motion/breathing.js';
export type { AnyMotion } from './motion/CrowdMotions.js';
export type { Channel } from './motion/channels.js';
export { defineMotion, type MotionMaker, type MotionSettings } from './motion/defineMotion.js';
export { type FlutterOptions, type FlutterUniforms, flutter } from './motion/flutter.js';
export { Motion } from './motion/Motion.js';
export type {
  MotionOptions,
  MotionUniform,
  MotionUniforms,
  MotionValue,
  MotionValues,
  MotionVertex,
} from './motion/MotionDefinition.js';
export { type WindOptions, type WindUniforms, wind } from './motion/wind.js';
