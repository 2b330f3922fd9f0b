import type { Box3 } from 'three';
import type { BoneTexture } from '../animation/BoneTexture.js';
import type { InstanceData } from '../instances/InstanceData.js';

/**
 * What a crowd can do beside playing: an object that the user makes with the crowd, `new JointEdits(crowd)`, and whose
 * constructor calls `crowd.use(this)`. The crowd carries it along with its instances; what it does to shaders, lists and
 * poses it puts where the crowd asks for that by an interface, never by the name of a feature. What draws the instances once more,
 * as an outline would, is an `AttachedMesh`; what shaders read of each instance are `InstanceUniforms`.
 */
export interface CrowdFeature extends InstanceData {
  /**
   * Makes the same for a copy of the crowd, which calls `copy` with this one right afterwards. Features without it stay with
   * the crowd that they were made with.
   */
  cloneFor?(crowd: FeaturedCrowd): CrowdFeature | null;
  /**
   * Called once the crowd's mesh, with what is attached to it, has become a copy of another.
   *
   * @param source The other's feature of this kind; null if it has none.
   * @param recursive Whether children were copied.
   */
  meshesCopied?(source: CrowdFeature | null, recursive: boolean): void;
  /** Called in each update of the crowd, after what plays has moved on. */
  update?(delta: number): void;
  /** @throws If the crowd cannot show another bone texture. */
  checkBoneTexture?(boneTexture: BoneTexture): void;
  /** Called once the crowd shows another bone texture. */
  boneTextureReplaced?(): void;
  /** Grows the box around every pose of an instance. */
  extend?(box: Box3): void;
}

/** What features know of every crowd. */
export interface FeaturedCrowd {
  /** What was made with the crowd, in that order. */
  readonly features: readonly CrowdFeature[];
  /** @throws If the crowd has one of its kind. */
  use(feature: CrowdFeature): void;
}

/**
 * The feature of a class that a crowd uses; null if there is none.
 *
 * ```ts
 * featureOf(crowd, JointEdits)?.setRotationAt(0, 'Head', turned);
 * ```
 *
 * @category Crowd
 */
export function featureOf<T extends CrowdFeature>(
  { features }: FeaturedCrowd,
  kind: abstract new (...args: never[]) => T,
): T | null {
  for (const feature of features) if (feature instanceof kind) return feature;
  return null;
}

/** The one of a list that is of the same kind as another. */
export const sameKind = <T extends object>(list: readonly T[], other: object): T | undefined =>
  list.find((one) => one.constructor === other.constructor);

/**
 * Takes over features of another crowd or mesh; those that it has not are as at the beginning.
 *
 * @param add Makes the same as one of the other's.
 */
export function copyFeatures<T extends CrowdFeature & Partial<MeshFeature>>(
  own: readonly T[],
  source: readonly T[],
  capacity: number,
  add: (feature: T) => CrowdFeature | null | undefined,
): void {
  for (const feature of source) (sameKind(own, feature) ?? add(feature))?.copy?.(feature as never);
  for (const feature of own) {
    if (sameKind(source, feature)) continue;
    feature.geometryReplaced?.(true);
    for (let id = 0; feature.reset && id < capacity; id++) feature.reset(id);
  }
}

/** What instances have in one mesh alone: a crowd's own, or one that is attached to it. */
export interface MeshFeature extends InstanceData {
  /** Makes the same for a copy of the mesh, which calls `copy` with this one right afterwards. */
  cloneForMesh(mesh: object): MeshFeature;
  /** Called once the mesh has another geometry, which numbers its parts or is a single one. */
  geometryReplaced?(numbered: boolean): void;
}

/**
 * Called by a feature of the instances of one mesh.
 *
 * @throws If the mesh has one of its kind already.
 */
export function addMeshFeature({ appearance }: { appearance: InstanceData[] }, feature: MeshFeature): void {
  if (sameKind(appearance, feature))
    throw new Error(`The mesh has ${feature.constructor.name} already; use that one.`);
  appearance.push(feature);
}

export function dropMeshFeature({ appearance }: { appearance: InstanceData[] }, feature: MeshFeature): void {
  appearance.splice(appearance.indexOf(feature), 1);
}
