import type { BufferAttribute, BufferGeometry, Object3D } from 'three';
import { Float32BufferAttribute, Uint16BufferAttribute } from 'three';
import type { CrowdMesh } from '../objects/CrowdMesh.js';
import { sharingCopy } from '../utils/geometries.js';
import { type Character, type CharacterOptions, refuseUnsupported } from './assembleCharacter.js';
import { collectRig } from './collectRig.js';
import { SKIN_PART, skinOf } from './crowdGeometry.js';
import { matchJoints, matchParts } from './matchJoints.js';
import type { MaterialMerger } from './mergeMaterials.js';
import { mergeParts } from './mergeParts.js';
import { partPaths } from './partPaths.js';

/** How the meshes under an object become a level of detail. */
export interface CreateLevelOptions extends Pick<CharacterOptions, 'skipUnsupported'> {
  /**
   * Which parts of the character the meshes under the root stand for, by name: `{ Torso_far: 'Body' }`. Not needed where names
   * are the same, or end in `_LOD1` and the like.
   * @default {}
   */
  parts?: Readonly<Record<string, string | number>>;
  /**
   * `mergeMaterials()` for materials that become one. Those that are the crowd's, and were merged there, become what they became there,
   * with the same textures; `maxSize` gives the level textures of its own.
   */
  mergeMaterials?: MaterialMerger;
}

/** What a level of detail is drawn with, as `CrowdLevels.add` takes it. {@link disposeCharacter} frees what was made for it. */
export type LevelOfObject = Pick<Character, 'geometry' | 'material' | 'made'>;

/**
 * The meshes under an object as a level of detail, for the joints, parts and morph targets of a crowd.
 *
 * ```ts
 * new CrowdLevels(crowd).add(createLevel(crowd, far.scene), 30);
 * ```
 *
 * @param root Holds the meshes of the level, e.g. `gltf.scene` of another file, or one node of it. Its joints are found by name, in
 * whatever order, and its meshes are the parts of the same names; a part that it has no mesh for is not drawn.
 * @throws If there is nothing that could be drawn, or a joint or part is none of the crowd's.
 */
export function createLevel(
  owner: CrowdMesh,
  root: Object3D,
  { parts: renamed = {}, mergeMaterials, skipUnsupported }: CreateLevelOptions = {},
): LevelOfObject {
  refuseUnsupported(root, { skipUnsupported });
  const { boneTexture } = owner;
  if (boneTexture.binding !== null) {
    throw new Error(
      `A vertex texture poses the vertices it was baked of and no others; make levels of the crowd's own geometry, by simplifyGeometry.`,
    );
  }
  const paths = partPaths(owner.geometry, owner.characterParts);
  const targets = targetNames(owner);
  // As the crowd has them: each of its targets moves all meshes that have it, or one of them.
  const shareMorphs = new Set(targets).size === targets.length;
  let collected = collectRig(root, { shareMorphs });
  const numbers = matchParts(
    collected.parts.map(({ mesh }) => mesh.name),
    paths,
    renamed,
  );
  const { flips } = boneTexture.data;
  if (flips.length > 0) {
    // Parts that clips mirror are there twice, and the level's must be so too.
    const own = numbers.flatMap((number, part) => {
      return flips.filter((flip) => flip.part === number).map((flip) => ({ ...flip, part }));
    });
    collected = collectRig(root, { flips: own, shareMorphs });
  }

  const { rig } = collected;
  const joints = jointsOfParts(owner.geometry, paths.length);
  const preferred = numbers.map((number) => joints[number]);
  const parts = matchJoints(rig, collected.parts, boneTexture, preferred);
  const merged = mergeParts(parts, rig.morphNames, mergeMaterials, owner.material);
  const geometry = sharingCopy(merged.geometry);
  geometry.setAttribute('partIndex', numberParts(geometry, numbers));
  matchMorphs(geometry, rig.morphNames, targets);
  return { geometry, material: merged.material, made: [...merged.owned, geometry] };
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
