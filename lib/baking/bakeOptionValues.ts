import {
  checkOptions,
  isArray,
  isBoolean,
  isCount,
  isPositive,
  isString,
  joinChecks,
  type OptionChecks,
  SLICE_CHECKS,
} from '../utils/checkOptions.js';
import type { BakeOptions } from './BakeOptions.js';

const NAME = 'BoneTexture.bake';

const DEFAULTS = {
  fps: 30,
  encoding: 'auto',
  precision: 'float',
  maxTextureSize: 4096,
  maxError: 1e-4,
  instances: 0,
  joints: 'all',
} as const satisfies BakeOptions;

const ENCODINGS: readonly unknown[] = ['auto', 'matrix', 'quaternion', 'tracks'];

/** What options have to be that are the same wherever something is baked. */
export const COMMON_CHECKS: OptionChecks = /*@__PURE__*/ joinChecks(
  {
    fps: [isPositive, 'a positive number of frames per second'],
    clips: [isArray, 'an array of names, AnimationClips or { clip, name, fps }'],
    precision: [(value) => value === 'float' || value === 'half', '"float" or "half"'],
    maxTextureSize: [(value) => value === Infinity || isCount(value), 'a whole number from 1 on'],
  },
  SLICE_CHECKS,
);

const CHECKS: OptionChecks = /*@__PURE__*/ joinChecks(COMMON_CHECKS, {
  encoding: [(value) => ENCODINGS.includes(value), '"auto", "matrix", "quaternion" or "tracks"'],
  joints: [(value) => value === 'all' || value === 'used', '"all" or "used"'],
  maxError: [(value) => value === Infinity || isPositive(value), 'a positive share of the size'],
  instances: [(value) => value === 0 || isCount(value), 'a whole number from 0 on'],
  rootMotion: [
    (value) => isBoolean(value) || (typeof value === 'object' && value !== null && !Array.isArray(value)),
    'true, false or { joint, yaw, vertical, clips }',
  ],
  sockets: [(value) => Array.isArray(value) && value.every(isString), 'an array of names of nodes'],
  morphTargets: [isBoolean, 'true or false'],
});

const ROOT_MOTION_CHECKS: OptionChecks = {
  joint: [isString, 'the name of a joint or node'],
  yaw: [isBoolean, 'true or false'],
  vertical: [isBoolean, 'true or false'],
  clips: [isArray, 'an array of clips or their names'],
};

/** The options that are numbers or names, each as given or its default. */
export type BakeOptionValues = Required<Pick<BakeOptions, keyof typeof DEFAULTS>>;

/**
 * Fills in what the options leave out.
 *
 * @throws If one of them is nothing that baking knows.
 */
export function bakeOptionValues(options: BakeOptions): BakeOptionValues {
  checkOptions(options, CHECKS, NAME);
  const { rootMotion = false } = options;
  if (typeof rootMotion === 'object') checkOptions(rootMotion, ROOT_MOTION_CHECKS, NAME, 'rootMotion.');
  const { fps, encoding, precision, maxTextureSize, maxError, instances, joints } = {
    ...DEFAULTS,
    ...dropUndefined(options),
  };
  return { fps, encoding, precision, maxTextureSize, maxError, instances, joints };
}

function dropUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
