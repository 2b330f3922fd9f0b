import { MAX_SOURCES } from '../../shaders/ShaderVariant.js';
import { ENCODING_NAMES } from '../encodings/index.js';
import type { PosedCrowd, PoseSource } from './PoseSource.js';
import { restSource, texelSource } from './texelSource.js';
import { trackSource } from './trackSource.js';

/** Every pose source, in the order of the numbers that shader variants carry: first one for each of `ENCODING_NAMES`. */
const sources: PoseSource[] = [
  /*@__PURE__*/ texelSource('matrix'),
  /*@__PURE__*/ texelSource('quaternion'),
  /*@__PURE__*/ trackSource('exact'),
  /*@__PURE__*/ trackSource('compact'),
  /*@__PURE__*/ restSource('matrix'),
  /*@__PURE__*/ restSource('quaternion'),
];

/** Number of the source that poses a crowd with compact palettes. */
const COMPACT = 3;
/** Number of the first of those for bone textures without clips. */
const REST = 4;

/**
 * Makes one more pose source known.
 *
 * @throws If there are too many.
 */
export function registerSource(source: PoseSource): void {
  if (sources.length >= MAX_SOURCES) {
    throw new Error(`registerSource: "${source.name}" is one too many; there may be ${MAX_SOURCES} sources.`);
  }
  sources.push(source);
}

/** What poses a crowd. */
export function sourceOf({
  poseSource,
  boneTexture,
  palette,
}: Pick<PosedCrowd, 'poseSource' | 'boneTexture' | 'palette'>): PoseSource {
  if (poseSource !== null) return poseSource;
  const { encoding, binding, frameCount } = boneTexture;
  if (binding !== null) return sourceNamed(binding.source);
  const number = ENCODING_NAMES.indexOf(encoding);
  if (encoding !== 'tracks') return sources[frameCount > 1 ? number : REST + number];
  return sources[palette === 'compact' ? COMPACT : number];
}

const sourceNamed = (wanted: string): PoseSource => sources.find(({ name }) => name === wanted) as PoseSource;

/**
 * The number of a source, for `ShaderVariant.source`.
 *
 * @throws If it is not registered.
 */
export function numberOfSource(source: PoseSource): number {
  const number = sources.indexOf(source);
  if (number >= 0) return number;
  throw new Error(
    `SkinnedInstancedMesh: the pose source "${source.name}" is not known; call registerSource first.`,
  );
}

/** The source of a number. */
export const sourceOfNumber = (number: number): PoseSource => sources[number];
