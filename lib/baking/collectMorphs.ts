import type { Mesh } from 'three';
import type { Rig } from '../poses/Rig.js';
import { checkFinite } from '../utils/checkFinite.js';
import type { ScenePart } from './collectParts.js';

/**
 * Numbers the morph targets of all parts, and sets each part's `morphOffset`. Parts that are primitives of one glTF mesh
 * share their targets: a face with three materials has one "smile" and not three.
 */
export function collectMorphs(parts: readonly ScenePart[]): Pick<Rig, 'morphNames' | 'morphRest'> {
  const morphNames: string[] = [];
  const morphRest: number[] = [];
  const counted: ScenePart[] = [];
  for (const part of parts) {
    const { mesh, geometry } = part;
    const count = geometry.morphAttributes.position?.length ?? 0;
    if (count === 0) continue;
    const sibling = counted.find((other) => arePrimitivesOfOneMesh(other.mesh, mesh));
    if (sibling !== undefined) {
      part.morphOffset = sibling.morphOffset;
      continue;
    }
    part.morphOffset = morphNames.length;
    counted.push(part);
    morphNames.push(...namesOf(mesh, count));
    morphRest.push(...influencesOf(mesh, count));
  }
  return { morphNames, morphRest: Float64Array.from(morphRest) };
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
  if (!areNumberedAlike(a.name, b.name)) return false;
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

function influencesOf({ name, morphTargetInfluences = [] }: Mesh, count: number): number[] {
  return Array.from({ length: count }, (_, i) => {
    const influence = morphTargetInfluences[i] ?? 0;
    checkFinite(influence, `influence ${i} of mesh "${name}"`, 'BoneTexture.bake');
    return influence;
  });
}
