import type { Mesh } from 'three';
import type { Rig } from '../poses/Rig.js';
import { checkFinite } from '../utils/checkFinite.js';
import type { ScenePart } from './collectParts.js';

/** Devices with WebGPU draw as many morph targets at least, and mostly no more. */
const MOST_TARGETS = 256;

/** What `collectMorphs` finds besides each part's `morphOffset`. */
export interface CollectedMorphs extends Pick<Rig, 'morphNames' | 'morphRest'> {
  /**
   * Where several meshes share targets, which clips must move alike then: for each part the first part of its mesh. Primitives of
   * one glTF mesh are one mesh here. Null where none do.
   */
  shared: readonly number[] | null;
}

/**
 * Numbers the morph targets of all parts, and sets each part's `morphOffset`. Parts that are primitives of one glTF mesh
 * share their targets: a face with three materials has one "smile" and not three.
 *
 * @param sharing Whether meshes with the same targets by name share them too: the head, teeth and eyes of an avatar, each of which has
 * all targets of the face. By default they do where there would be more than WebGPU can draw.
 */
export function collectMorphs(parts: readonly ScenePart[], sharing?: boolean): CollectedMorphs {
  const morphNames: string[] = [];
  const morphRest: number[] = [];
  const meshes = [...parts.keys()];
  const firsts: ScenePart[] = [];
  let shared = false;
  for (const [i, part] of parts.entries()) {
    const { mesh, geometry } = part;
    const count = geometry.morphAttributes.position?.length ?? 0;
    if (count === 0) continue;
    const sibling = firsts.find((other) => arePrimitivesOfOneMesh(other.mesh, mesh));
    if (sibling !== undefined) {
      part.morphOffset = sibling.morphOffset;
      meshes[i] = parts.indexOf(sibling);
      continue;
    }
    const like =
      sharing && hasNamedTargets(mesh, count)
        ? firsts.find((other) => haveSameTargets(other.mesh, mesh))
        : undefined;
    firsts.push(part);
    part.morphOffset = like?.morphOffset ?? morphNames.length;
    if (like !== undefined) {
      shared = true;
      continue;
    }
    morphNames.push(...namesOf(mesh, count));
    morphRest.push(...influencesOf(mesh, count));
  }
  if (sharing === undefined && morphNames.length > MOST_TARGETS) return collectMorphs(parts, true);
  return { morphNames, morphRest: Float64Array.from(morphRest), shared: shared ? meshes : null };
}

/**
 * Whether GLTFLoader made both meshes from primitives of one glTF mesh. It puts such meshes into a `Group` of their own,
 * without transforms, and names them after the glTF mesh (`Face`, `Face_1`, …). Unlike meshes made from nodes, they have no
 * original name in `userData`. All have the targets and influences of the glTF mesh, and clips move them together.
 */
function arePrimitivesOfOneMesh(a: Mesh, b: Mesh): boolean {
  const { parent } = a;
  if (parent === null || parent !== b.parent || (parent as { isGroup?: boolean }).isGroup !== true)
    return false;
  if (!isPrimitive(a) || !isPrimitive(b)) return false;
  return areNumberedAlike(a.name, b.name) && haveSameTargets(a, b);
}

/** Whether two meshes have as many targets, of the same names and influences in the same order. */
function haveSameTargets(a: Mesh, b: Mesh): boolean {
  const count = a.geometry.morphAttributes.position?.length ?? 0;
  if (count !== (b.geometry.morphAttributes.position?.length ?? 0)) return false;
  const text = (mesh: Mesh) => JSON.stringify([namesOf(mesh, count), influencesOf(mesh, count)]);
  return text(a) === text(b);
}

function isPrimitive({ position, quaternion, scale, userData }: Mesh): boolean {
  const [x, y, z] = position.toArray();
  return (
    userData.name === undefined &&
    x === 0 &&
    y === 0 &&
    z === 0 &&
    Math.abs(quaternion.w) === 1 &&
    scale.x === 1 &&
    scale.y === 1 &&
    scale.z === 1
  );
}

/** Whether names differ only by the number that GLTFLoader appends, e.g. `Face` and `Face_2`, or `Face_1` and `Face_2`. */
function areNumberedAlike(a: string, b: string): boolean {
  const stem = (name: string) => name.replace(/_[1-9]\d*$/, '');
  if (a === b) return false;
  if (stem(a) === b || a === stem(b)) return true;
  // `mesh_1` and `mesh_2` are what GLTFLoader calls two meshes that have no name.
  return stem(a) === stem(b) && stem(a) !== 'mesh';
}

function namesOf({ morphTargetDictionary = {} }: Mesh, count: number): string[] {
  const names = Array.from({ length: count }, (_, i) => `${i}`);
  for (const [name, index] of Object.entries(morphTargetDictionary)) {
    if (index < count) names[index] = name;
  }
  return names;
}

/** Whether all targets have names other than their numbers. */
const hasNamedTargets = (mesh: Mesh, count: number): boolean =>
  namesOf(mesh, count).every((name, i) => name !== `${i}`);

function influencesOf({ name, morphTargetInfluences = [] }: Mesh, count: number): number[] {
  return Array.from({ length: count }, (_, i) => {
    const influence = morphTargetInfluences[i] ?? 0;
    checkFinite(influence, `influence ${i} of mesh "${name}"`);
    return influence;
  });
}
