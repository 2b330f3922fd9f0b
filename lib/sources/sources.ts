import { MAX_SOURCES } from '../../shaders/ShaderVariant.js';
import type { PosedCrowd, PoseSource } from './PoseSource.js';
import { texelSource } from './texelSource.js';
import { trackSource } from './trackSource.js';

/** Every pose source, in the order of the numbers that shader variants carry. */
const sources: PoseSource[] = [
  /*@__PURE__*/ texelSource('matrix'),
  /*@__PURE__*/ texelSource('quaternion'),
  trackSource,
];

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
}: Pick<PosedCrowd, 'poseSource' | 'boneTexture'>): PoseSource {
  if (poseSource !== null) return poseSource;
  const { encoding } = boneTexture;
  for (const source of sources) if (source.name === encoding) return source;
  throw new Error(`SkinnedInstancedMesh: nothing poses a bone texture of encoding "${encoding}".`);
}

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
