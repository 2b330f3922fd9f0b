import type { BakeOptions } from './BakeOptions.js';
import { checkFps } from './planClips.js';

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

/** The options that are numbers or names, each as given or its default. */
export type BakeOptionValues = Required<Pick<BakeOptions, keyof typeof DEFAULTS>>;

/**
 * Fills in what the options leave out.
 *
 * @throws If one of them is nothing that baking knows.
 */
export function bakeOptionValues(options: BakeOptions): BakeOptionValues {
  const values: BakeOptionValues = { ...DEFAULTS, ...dropUndefined(options) };
  const { fps, encoding, precision, maxTextureSize, maxError, instances, joints } = values;
  checkFps(fps, 'fps');
  if (!['auto', 'matrix', 'quaternion', 'tracks'].includes(encoding)) {
    throw new Error(`${NAME}: encoding is "${encoding}"; use "auto", "matrix", "quaternion" or "tracks".`);
  }
  if (precision !== 'float' && precision !== 'half') {
    throw new Error(`${NAME}: precision is "${precision}"; use "float" or "half".`);
  }
  if (joints !== 'all' && joints !== 'used') {
    throw new Error(`${NAME}: joints is "${joints}"; use "all" or "used".`);
  }
  if (!(maxTextureSize >= 1))
    throw new Error(`${NAME}: maxTextureSize is ${maxTextureSize}; use a positive number.`);
  if (!(maxError > 0)) throw new Error(`${NAME}: maxError is ${maxError}; use a positive share of the size.`);
  return { fps, encoding, precision, maxTextureSize, maxError, instances, joints };
}

function dropUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
