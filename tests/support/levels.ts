import type { BufferGeometry, Object3D } from 'three';
import type { JointAttachment } from '../../lib/features/attachments/JointAttachment.js';
import type {
  AttachmentLevelOptions,
  CreateLevelOptions,
  LevelMesh,
  LevelOptions,
  LevelSource,
  LevelStart,
  Simplified,
  Simplifier,
  SkinnedInstancedMesh,
} from './library.js';
import { CrowdLevels, createLevel, simplifyGeometry } from './library.js';

/** The levels of a crowd, made at first use. */
export const levelsOf = (crowd: SkinnedInstancedMesh): CrowdLevels =>
  (crowd.features.find((one) => one instanceof CrowdLevels) as CrowdLevels | undefined) ??
  new CrowdLevels(crowd);

type Source = Object3D | BufferGeometry | LevelSource;
type Options = LevelOptions & CreateLevelOptions;

/** Adds a level to a crowd, also of the meshes under an object. */
export function addLevel(
  crowd: SkinnedInstancedMesh,
  source: Source,
  start: LevelStart,
  hysteresis?: number,
  options?: Options,
): LevelMesh;
export function addLevel(
  crowd: SkinnedInstancedMesh,
  source: null,
  start: LevelStart,
  hysteresis?: number,
  options?: Options,
): null;
export function addLevel(
  crowd: SkinnedInstancedMesh,
  source: Source | null,
  start: LevelStart,
  hysteresis = 0,
  options: Options = {},
): LevelMesh | null {
  const isRoot = (source as Object3D | null)?.isObject3D === true;
  const drawn = isRoot ? createLevel(crowd, source as Object3D, options) : (source as LevelSource | null);
  return levelsOf(crowd).add(drawn, start, { hysteresis, ...options });
}

/** Draws another geometry in the place of an attachment from a level of its crowd on. */
export function addAttachmentLevel(
  attachment: JointAttachment,
  geometry: BufferGeometry | null,
  from: number,
  options?: AttachmentLevelOptions,
): LevelMesh {
  let { owner } = attachment;
  while ((owner as JointAttachment).isJointAttachment) owner = (owner as JointAttachment).owner;
  const levels = levelsOf(owner as SkinnedInstancedMesh);
  return levels.addToAttachment(attachment, geometry as BufferGeometry, from, options);
}

/** Adds levels of fewer triangles of the crowd's own geometry. */
export function addSimplifiedLevels(
  crowd: SkinnedInstancedMesh,
  simplifier: Simplifier,
  list: readonly (LevelOptions & { ratio: number; distance?: number; screenShare?: number })[],
): (Pick<Simplified, 'error' | 'triangles'> & { level: LevelMesh })[] {
  return list.map(({ ratio, distance = 0, screenShare, ...options }) => {
    const { geometry, error, triangles } = simplifyGeometry(crowd.geometry, ratio, simplifier);
    const start = screenShare === undefined ? distance : { screenShare };
    return { level: levelsOf(crowd).add(geometry, start, options), error, triangles };
  });
}
