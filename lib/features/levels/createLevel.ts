import {
  Box3,
  type BufferAttribute,
  type BufferGeometry,
  Float32BufferAttribute,
  Matrix4,
  type Object3D,
  Uint16BufferAttribute,
} from 'three';
import type { BoneTexture } from '../../animation/BoneTexture.js';
import type { Rig, ScenePart } from '../../animation/Rig.js';
import {
  type Character,
  type CharacterOptions,
  refuseUnsupported,
} from '../../character/assembleCharacter.js';
import { transformGeometry } from '../../character/bindToJoint.js';
import { usedJoints } from '../../character/collectParts.js';
import { collectRig, shadingJoints } from '../../character/collectRig.js';
import { jointsOf, partPaths } from '../../character/crowdGeometry.js';
import { type MaterialMerger, mergeParts } from '../../character/mergeParts.js';
import { copyNodes } from '../../character/rigNodes.js';
import type { CrowdMesh } from '../../crowd/CrowdMesh.js';
import { affineOf, affineToMatrix4 } from '../../utils/affine.js';
import { cornersOf, farthest, sharingCopy } from '../../utils/geometries.js';
import { listNames } from '../../utils/messages.js';

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
 *
 * @category See
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
  const numbers = matchParts(collected.parts, paths, renamed);
  const { flips } = boneTexture.data;
  if (flips.length > 0) {
    // Parts that clips mirror are there twice, and the level's must be so too.
    const own = numbers.flatMap((number, part) => {
      return flips.filter((flip) => flip.part === number).map((flip) => ({ ...flip, part }));
    });
    collected = collectRig(root, { flips: own, shareMorphs });
  }

  const { rig } = collected;
  const preferred = numbers.map((number) => jointsOf(owner.geometry, number));
  const parts = matchJoints(rig, collected.parts, boneTexture, preferred);
  const shading = shadingJoints(parts, numbers, boneTexture.data);
  const merged = mergeParts(parts, shading, rig.morphNames, mergeMaterials, owner.material);
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
  for (const key of ['position', 'normal', 'color'] as const) {
    const own = morphAttributes[key];
    if (own === undefined) continue;
    const size = own[0]?.itemSize ?? 3;
    const { count } = geometry.getAttribute('position');
    geometry.morphAttributes[key] = places.map(
      (place) => own[place] ?? new Float32BufferAttribute(new Float32Array(count * size), size),
    );
  }
}

/** The name of each morph target of a crowd; those of its geometry, since a dictionary has each name but once. */
function targetNames(owner: CrowdMesh): string[] {
  const { geometry, morphTargetDictionary = {}, morphTargetInfluences = [] } = owner;
  const { position = [] } = geometry.morphAttributes;
  const names = morphTargetInfluences.map((_, target) => position[target]?.name ?? '');
  for (const [name, target] of Object.entries(morphTargetDictionary))
    if (target in names) names[target] = name;
  return names;
}

/** How far joints of a mesh may disagree about where its vertices are in the bind pose, as a share of the mesh's size. */
const TOLERANCE = 1e-3;
/** Less than this is rounding, and vertices stay as they are. */
const ROUNDING = 1e-6;

/** A joint of the bone texture, and how a mesh's vertices must be moved before that joint's skinning matrix moves them. */
interface Match {
  joint: number;
  correction: Matrix4;
}

const _identity = /*@__PURE__*/ new Matrix4();

/**
 * The parts of another model of a character, so that their vertices follow the joints of a bone texture, which are found by
 * name. Where the model is bound in another place or size, its vertices are moved to where the bone texture has them.
 *
 * @param preferred For each part, joints that it should have where the bone texture has several of one name.
 * @throws If there is no joint of a name, or bones of a mesh stand another way in its bind pose.
 */
function matchJoints(
  rig: Rig,
  parts: readonly ScenePart[],
  boneTexture: BoneTexture,
  preferred: readonly ReadonlySet<number>[],
): ScenePart[] {
  const { jointNames, data } = boneTexture;
  const copies = copyNodes(rig);
  return parts.map((part, i) => {
    const box = boxOf(part.geometry);
    const matchJoint = (slot: number): Match => {
      const inverse = affineToMatrix4(rig.jointInverses, slot * 12, new Matrix4());
      const detached = rig.jointMeshes[slot]?.bindInverse != null;
      let node = rig.jointNodes[slot];
      let name = rig.jointNames[slot];

      while (true) {
        let best: Match | null = null;
        let least = Infinity;
        for (const [joint, other] of jointNames.entries()) {
          const bind = data.jointBinds[joint];
          if (other !== name || (bind === null) !== detached) continue;
          const correction = bind === null ? new Matrix4() : affineToMatrix4(bind, 0, new Matrix4());
          if (bind !== null) correction.multiply(inverse);
          const off = distance(correction, _identity, box) + (preferred[i].has(joint) ? 0 : ROUNDING);
          if (off >= least) continue;
          least = off;
          best = { joint, correction };
        }
        if (best !== null) return best;
        // What has no joint of its own follows the one above that it hangs on, as long as no clip moves what is between.
        const parent = rig.parents[node];
        if (!part.rigid || parent < 0) break;
        inverse.premultiply(copies[node].matrix);
        node = parent;
        name = rig.nodes[node].name;
      }
      throw new Error(
        part.rigid
          ? `Mesh "${part.mesh.name}" hangs on none of the crowd's joints; parent it to a bone of the same name as the crowd's.`
          : `The crowd's bone texture has no joint "${rig.jointNames[slot]}", which mesh "${part.mesh.name}" follows; ` +
              `it has ${listNames([...new Set(jointNames)], rig.jointNames[slot])}.`,
      );
    };
    const used = usedJoints(part);
    const matches = new Map(Array.from(used, (slot) => [slot, matchJoint(slot)]));
    const [first] = used;
    const correction = matches.get(first)?.correction ?? _identity;
    for (const slot of used) {
      const off = distance((matches.get(slot) as Match).correction, correction, box);
      if (off <= TOLERANCE && (part.rigid || correction.determinant() > 0)) continue;
      throw new Error(
        `Bone "${rig.jointNames[slot]}" of mesh "${part.mesh.name}" stands another way in the bind pose than the crowd's; ` +
          'export both from one skeleton in one pose.',
      );
    }
    const jointOf = (slot: number) => matches.get(slot)?.joint ?? 0;
    const matched = {
      ...part,
      joints: part.joints.map(jointOf),
      mirrorJoints: part.mirrorJoints?.map(jointOf) ?? null,
    };
    if (distance(correction, _identity, box) <= ROUNDING) return matched;
    const geometry = part.geometry.clone();
    transformGeometry(geometry, correction);
    // Where the mesh stands, seen from vertices that were moved.
    const model = affineToMatrix4(part.model, 0, new Matrix4()).multiply(correction.clone().invert());
    return { ...matched, geometry, model: Float64Array.from(affineOf(model)) };
  });
}

/** How far two matrices take the corners of a box apart, at most, as a share of the box's diagonal. */
function distance(a: Matrix4, b: Matrix4, box: readonly number[]): number {
  const corners = cornersOf(box, b);
  return farthest(cornersOf(box, a), corners) / (corners[0].distanceTo(corners[7]) || 1);
}

function boxOf({ attributes: { position } }: BufferGeometry): number[] {
  const { min, max } = new Box3().setFromBufferAttribute(position as BufferAttribute);
  return [...min, ...max];
}

/** How names of levels of detail end in many files: `Body_LOD1`, `Body.lod2`, `BodyLOD1`; with the number of a primitive after it. */
const LOD_SUFFIX = /[\s_.-]?lod[\s_.-]?\d+(?=(_\d+)?$)/i;

/**
 * Finds the parts of a character that the meshes of a level of detail stand for: those of the same names, or of the names
 * without `_LOD1` and the like. Of several parts with one name the first mesh of that name is the first, and so on.
 *
 * @param meshes The level's.
 * @param paths For each part of the character the names it is known by, its mesh's first.
 * @param renamed Name or number of the part for meshes that are called otherwise.
 * @returns For each mesh the number of its part.
 * @throws If a mesh is none of the parts.
 */
function matchParts(
  meshes: readonly ScenePart[],
  paths: readonly (readonly string[])[],
  renamed: Readonly<Record<string, string | number>>,
): number[] {
  const found = new Map<string, number>();
  const known = paths.map(([first]) => first);
  return meshes.map(({ mesh: { name } }) => {
    const asked = Object.hasOwn(renamed, name) ? renamed[name] : undefined;
    if (typeof asked === 'number' && asked in paths) return asked;
    const wanted = asked ?? name;
    for (const candidate of [String(wanted), name.replace(LOD_SUFFIX, '')]) {
      const parts = [...known.keys()].filter((part) => known[part] === candidate);
      if (parts.length === 0) continue;
      const nth = found.get(candidate) ?? 0;
      found.set(candidate, nth + 1);
      return parts[Math.min(nth, parts.length - 1)];
    }
    if (paths.length === 1 && asked === undefined) return 0;
    throw new Error(
      `Mesh "${name}" is none of the character's parts${asked === undefined ? '' : `, nor is "${asked}"`}, which are ` +
        `${listNames(known, name)}; say which it stands for, e.g. parts: { '${name}': '${known[0]}' }.`,
    );
  });
}
