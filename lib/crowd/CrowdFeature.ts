import type { Box3, Mesh } from 'three';
import type { InstanceData } from '../instances/InstanceData.js';
import type { InstanceTexture } from '../instances/InstanceTexture.js';
import type { UniformLayout } from '../instances/UniformLayout.js';
import type { BoneTexture } from '../texture/BoneTexture.js';

/**
 * What a crowd can do beside playing: an object that the user makes with the crowd, `new JointEdits(crowd)`, and whose
 * constructor calls `crowd.use(this)`. The crowd carries it along with its instances; what it does to shaders, lists and
 * poses it puts where the crowd asks for that by an interface, never by the name of a feature.
 */
export interface CrowdFeature {
  /** Makes room for more instances, or gives room back; those that stay keep what they have. */
  resize?(capacity: number): void;
  /** Exchanges two instances. */
  swap?(i: number, j: number): void;
  /** Gives an instance what instances have to begin with, in place of what it has. */
  reset?(index: number): void;
  /** Frees what was allocated. */
  dispose?(): void;
  /** Takes over what the other's is, of a crowd that has as many instances. */
  copy?(source: CrowdFeature): void;
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
 */
export function featureOf<T extends CrowdFeature>(
  { features }: FeaturedCrowd,
  kind: abstract new (...args: never[]) => T,
): T | null {
  for (const feature of features) if (feature instanceof kind) return feature;
  return null;
}

/** What instances have in one mesh alone: a crowd's own, or one that is attached to it. */
export interface MeshFeature extends InstanceData {
  /** Makes the same for a copy of the mesh, which calls `copy` with this one right afterwards. */
  cloneForMesh(mesh: object): MeshFeature;
  /** Gives an instance what another one has. */
  copyAt?(from: number, to: number): void;
  /** Called once the mesh has another geometry, which numbers its parts or is a single one. */
  geometryReplaced?(numbered: boolean): void;
}

/** Parts of instances as shaders and rays read them. */
export interface MeshParts {
  readonly count: number;
  readonly texture: InstanceTexture;
  /** Whether parts of instances were given colours. */
  readonly isColored: boolean;
  isShown(index: number, part: number): boolean;
}

/** Numbers of instances that surfaces and shaders of the user read. */
export interface MeshUniforms {
  /** Null while there are none. */
  readonly numbers: { readonly layout: UniformLayout; readonly texture: InstanceTexture } | null;
}

/** Gives instances influences of morph targets of their own. */
export interface MeshMorphs {
  /** Call before `InstancedMesh.setMorphAt`. @throws If the object's influences do not fit. */
  prepare(object: Mesh): void;
  setInfluenceAt(index: number, name: string, influence: number | null): unknown;
}

/** On which layers single instances are, where the crowd's do not say it. */
export interface LayersOfInstances {
  /** Whether some instance has layers of its own. */
  readonly isUsed: boolean;
  /** Bits of all layers that some instance is on by itself. */
  readonly union: number;
  /** Whether an instance is on one of some layers. */
  test(index: number, mask: number, crowdMask: number): boolean;
}
