import type { BufferAttribute, BufferGeometry, Material, Object3D } from 'three';
import { Float32BufferAttribute, Uint16BufferAttribute } from 'three';
import type { Influences } from '../../shaders/ShaderVariant.js';
import { findUnsupported } from '../baking/collectParts.js';
import { collectRig } from '../baking/collectRig.js';
import { SKIN_PART, skinOf } from '../character/crowdSkin.js';
import { matchJoints } from '../character/matchJoints.js';
import { matchParts } from '../character/matchParts.js';
import { type MergeMaterialsOptions, mergingOf, sharesIn } from '../character/mergeMaterials.js';
import { mergeParts } from '../character/mergeParts.js';
import type { PartFlip } from '../poses/PartFlip.js';
import { describe } from '../utils/describe.js';
import { sharingCopy } from '../utils/sharingCopy.js';
import type { CrowdMesh } from './CrowdMesh.js';

/** How a level of detail is made and drawn. */
export interface LevelOptions {
  /** One material, or one for each group of the geometry. By default those under the root, or the crowd's for a geometry. */
  material?: Material | Material[];
  /** Joints that a vertex follows at most. @default those of the crowd */
  influences?: Influences;
  /** The same in shadow maps. @default the crowd's, or `influences` if that is given */
  shadowInfluences?: Influences;
  /**
   * Poses a second of instances at this level, which are spread evenly over frames; 0 for one in every frame. One that comes
   * nearer is posed at once. Of this and `setPoseRateAt`, the lower rate holds; where several cameras see an instance, the
   * highest of their levels'. `crowd.levels[0].poseRate` is that of the crowd itself. @default 0
   */
  poseRate?: number;
  /** Whether what is attached to joints is drawn at this level, and at those behind it. @default true */
  attachments?: boolean;
  /** Whether instances at this level cast shadows. @default as the crowd */
  castShadow?: boolean;
  /** Whether they receive shadows. @default as the crowd */
  receiveShadow?: boolean;
  /**
   * Which parts of the character the meshes under the root stand for, by name: `{ Torso_far: 'Body' }`. Not needed where names
   * are the same, or end in `_LOD1` and the like.
   * @default {}
   */
  parts?: Readonly<Record<string, string | number>>;
  /**
   * Whether and how materials under the root become one, see `FromOptions.mergeMaterials`. Those that are the crowd's, and were merged
   * there, become what they became there, with the same textures; `maxSize` gives the level textures of its own.
   * @default false
   */
  mergeMaterials?: boolean | MergeMaterialsOptions;
  /** Leave out points, lines, sprites and instanced meshes under the root in place of an error. @default false */
  skipUnsupported?: boolean;
}

/** What a level draws. */
export interface LevelContent {
  geometry: BufferGeometry;
  material: Material | Material[];
  /** Materials and textures that were made for it. */
  owned: { dispose(): void }[];
}

/**
 * The geometry and material of a level of detail, for the joints, parts and morph targets of a crowd.
 *
 * @throws If there is nothing that could be drawn, or it does not fit the crowd.
 */
export function createLevel(
  owner: CrowdMesh,
  source: Object3D | BufferGeometry,
  options: LevelOptions,
  caller: string,
): LevelContent {
  if ((source as Object3D | null)?.isObject3D === true) {
    return fromRoot(owner, source as Object3D, options, caller);
  }
  const geometry = source as BufferGeometry;
  if (geometry?.isBufferGeometry !== true) {
    throw new Error(
      `${caller}: ${describe(source)} is no object or geometry; pass what holds the meshes of the level, or null for nothing.`,
    );
  }
  const material = options.material ?? owner.material;
  if (Array.isArray(material) && geometry.groups.length === 0) {
    throw new Error(
      `${caller}: the geometry "${geometry.name}" has no groups for the crowd's ${material.length} materials; add groups, or pass one material.`,
    );
  }
  return { geometry, material, owned: [] };
}

function fromRoot(
  owner: CrowdMesh,
  root: Object3D,
  { parts: renamed = {}, mergeMaterials = false, skipUnsupported, material }: LevelOptions,
  caller: string,
): LevelContent {
  const [unsupported] = skipUnsupported === true ? [] : findUnsupported(root);
  if (unsupported !== undefined) {
    throw new Error(
      `${caller}: "${unsupported.name}" (${unsupported.type}) cannot be drawn as part of a character; remove or hide it, or pass skipUnsupported: true.`,
    );
  }
  const { boneTexture } = owner;
  if (boneTexture.binding !== null) {
    throw new Error(
      `${caller}: a vertex texture poses the vertices it was baked of and no others; make levels of the crowd's own geometry, by addSimplifiedLevels or SkinnedInstancedMesh.simplify.`,
    );
  }
  const { paths } = owner.wardrobe;
  const targets = targetNames(owner);
  // As the crowd has them: each of its targets moves all meshes that have it, or one of them.
  const shareMorphs = new Set(targets).size === targets.length;
  let collected = collect(root, shareMorphs, caller);
  const numbers = matchParts(
    collected.parts.map(({ mesh }) => mesh.name),
    paths,
    renamed,
    caller,
  );
  const { flips } = boneTexture.data;
  if (flips.length > 0) {
    // Parts that clips mirror are there twice, and the level's must be so too.
    const own = numbers.flatMap((number, part) => {
      return flips.filter((flip) => flip.part === number).map((flip) => ({ ...flip, part }));
    });
    collected = collect(root, shareMorphs, caller, own);
  }

  const { rig } = collected;
  const joints = jointsOfParts(owner.geometry, paths.length);
  const preferred = numbers.map((number) => joints[number]);
  const parts = matchJoints(rig, collected.parts, boneTexture, preferred, caller);
  const merged = mergeParts(
    parts,
    rig.morphNames,
    material === undefined ? mergingOf(mergeMaterials) : null,
    // A level that says how large its layers are gets textures of its own.
    Object(mergeMaterials).maxSize === undefined ? sharesIn(owner.material) : undefined,
  );
  const geometry = sharingCopy(merged.geometry);
  geometry.setAttribute('partIndex', numberParts(geometry, numbers));
  matchMorphs(geometry, rig.morphNames, targets);
  return { geometry, material: material ?? merged.material, owned: merged.owned };
}

/** Errors of `collectRig` are for whoever bakes. */
function collect(root: Object3D, shareMorphs: boolean, caller: string, flips: readonly PartFlip[] = []) {
  try {
    return collectRig(root, { flips, shareMorphs });
  } catch (error) {
    if (error instanceof Error) error.message = error.message.replace(/^BoneTexture\.bake/, caller);
    throw error;
  }
}

/** Numbers of the crowd's parts in place of those of the level's. */
function numberParts(geometry: BufferGeometry, numbers: readonly number[]): Uint16BufferAttribute {
  const { count } = geometry.getAttribute('position');
  const parts = geometry.getAttribute('partIndex') as BufferAttribute | undefined;
  const indices = new Uint16BufferAttribute(new Uint16Array(count * 2), 2);
  for (let vertex = 0; vertex < count; vertex++) {
    indices.setXY(vertex, numbers[parts?.getX(vertex) ?? 0], parts?.getY(vertex) ?? 0);
  }
  return indices;
}

/** For each part of a crowd geometry the joints that its vertices follow. */
function jointsOfParts(geometry: BufferGeometry, count: number): Set<number>[] {
  const found = Array.from({ length: count }, () => new Set<number>());
  const { joints, weights, stride } = skinOf(geometry);
  for (let at = 0, vertex = 0; at < joints.length; at += stride, vertex++) {
    const part = found[joints[at + SKIN_PART]];
    for (let i = 0; i < 4 && weights[vertex * 4 + i] > 0; i++) part?.add(joints[at + i]);
  }
  return found;
}

/**
 * Brings morph targets into the order of the crowd's, whose influences are the level's too. Those that the level has not do
 * not move it; if it has none of them it is drawn without. Of several of one name, the first is the crowd's first, and so on.
 */
function matchMorphs(geometry: BufferGeometry, names: readonly string[], targets: readonly string[]): void {
  const { morphAttributes } = geometry;
  geometry.morphAttributes = {};
  if (!names.some((name) => targets.includes(name))) return;
  const places = targets.map((name, target) => {
    const before = targets.slice(0, target).filter((other) => other === name).length;
    return names.map((own, i) => (own === name ? i : -1)).filter((i) => i >= 0)[before] ?? -1;
  });
  for (const key of ['position', 'normal'] as const) {
    const own = morphAttributes[key];
    if (own === undefined) continue;
    const { count } = geometry.getAttribute('position');
    geometry.morphAttributes[key] = places.map(
      (place) => own[place] ?? new Float32BufferAttribute(new Float32Array(count * 3), 3),
    );
  }
}

/** The name of each morph target of a crowd; those of its geometry, since a dictionary has each name but once. */
function targetNames({
  geometry,
  morphTargetDictionary = {},
  morphTargetInfluences = [],
}: CrowdMesh): string[] {
  const { position = [] } = geometry.morphAttributes;
  const names = morphTargetInfluences.map((_, target) => position[target]?.name ?? '');
  for (const [name, target] of Object.entries(morphTargetDictionary))
    if (target in names) names[target] = name;
  return names;
}
