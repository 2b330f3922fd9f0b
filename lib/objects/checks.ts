import type { Material, Matrix4 } from 'three';
import type { Influences } from '../../shaders/ShaderVariant.js';
import type { Palette } from '../crowd/Palette.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import { describe } from '../utils/describe.js';
import { warnOnce } from '../utils/warnOnce.js';
import type { DrawOptions } from './crowdTypes.js';

const NAME = 'SkinnedInstancedMesh';

/** @throws If it is not what the bake made. */
export function checkIsBoneTexture(boneTexture: BoneTexture): void {
  if (boneTexture?.isBoneTexture) return;
  throw new Error(
    `${NAME}: boneTexture is ${describe(boneTexture)}; pass what BoneTexture.bake(root, clips) returns.`,
  );
}

/** @throws If it is no number of instances. */
export function checkCount(count: number): void {
  if (Number.isInteger(count) && count >= 0) return;
  throw new Error(`${NAME}: count is ${count}; use a whole number of instances.`);
}

/** @throws If so many instances as there are would not fit. */
export function checkCapacity(capacity: number, count: number, caller: string): void {
  if (Number.isInteger(capacity) && capacity >= count) return;
  throw new Error(`${caller}: capacity is ${capacity}; use a whole number from count, which is ${count}.`);
}

/** Options with the defaults in place of those that are missing. */
export function checkOptions(options: DrawOptions): Required<DrawOptions> {
  const influences = checkInfluences(options.influences ?? 4, 'influences');
  const shadowInfluences = checkInfluences(options.shadowInfluences ?? influences, 'shadowInfluences');
  return { influences, shadowInfluences, interpolate: options.interpolate ?? true };
}

/** @throws If it is no kind of palette. */
export function checkPalette(palette: Palette = 'exact'): Palette {
  if (palette === 'exact' || palette === 'compact') return palette;
  throw new Error(`${NAME}: palette is ${JSON.stringify(palette)}; use 'exact' or 'compact'.`);
}

/** @throws If it is neither a material, nor an array of some, nor null, which draws nothing. */
export function checkMaterial(material: Material | Material[] | null, caller: string): void {
  if (material === null) return;
  const all = [material].flat();
  const wrong = all.findIndex((one) => !one?.isMaterial);
  if (wrong < 0) return;
  const place = Array.isArray(material) ? ` at [${wrong}]` : '';
  throw new Error(
    `${caller}: ${describe(all[wrong])}${place} is no material; pass a Material, or one for each group.`,
  );
}

/** @throws If shaders have no variant for so many joints a vertex. */
function checkInfluences(value: number, option: string): Influences {
  if (value === 1 || value === 2 || value === 4) return value;
  throw new Error(`${NAME}: ${option} is ${value}; use 1, 2 or 4.`);
}

/** @throws If a matrix would be drawn as garbage. */
export function checkMatrix(matrix: Matrix4, caller: string): void {
  if (!matrix?.elements) throw new Error(`${caller}: ${describe(matrix)} is no Matrix4.`);
  if (isDrawable(matrix.elements, caller)) return;
  throw new Error(`${caller}: the matrix is ${matrix.elements.join(', ')}; use finite numbers.`);
}

/** Whether the numbers of a matrix are finite. Warns if it mirrors. */
export function isDrawable(m: readonly number[], caller: string): boolean {
  const determinant =
    m[0] * (m[5] * m[10] - m[6] * m[9]) -
    m[4] * (m[1] * m[10] - m[2] * m[9]) +
    m[8] * (m[1] * m[6] - m[2] * m[5]);
  if (determinant < 0) {
    warnOnce(
      `${caller}: a matrix mirrors, and its instance will be drawn inside out; put mirrored instances in a crowd of their own whose scale.x is -1.`,
    );
  }
  return Number.isFinite(determinant + m[3] + m[7] + m[11] + m[12] + m[13] + m[14] + m[15]);
}

/** @throws If one of the joints is another one in the bone texture that shall take the place of the present one. */
export function checkSameJoints(
  joints: Iterable<number>,
  { jointNames: before }: BoneTexture,
  { jointNames: after }: BoneTexture,
  caller: string,
): void {
  for (const joint of joints) {
    if (after[joint] === before[joint]) continue;
    throw new Error(
      `${caller}: the bone texture was baked for another skeleton: its joint ${joint} is "${after[joint]}", ` +
        `and the geometry's is "${before[joint]}"; bake one from this character.`,
    );
  }
}

/** Another bone texture may have other morph targets, as its clips decide whether meshes share them. */
export function warnOfOtherMorphs(
  { morphNames: { length: before } }: BoneTexture,
  { morphNames: { length: after } }: BoneTexture,
  caller: string,
): void {
  if (after === 0 || after === before) return;
  warnOnce(
    `${caller}: clips of the bone texture move ${after} morph targets, but the geometry has ${before}, which they do not move; ` +
      'make the crowd by `from` with this bone texture.',
  );
}
