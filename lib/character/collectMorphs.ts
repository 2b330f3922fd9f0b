import type { Mesh } from 'three';
import type { Rig } from '../animation/Rig.js';
import { checkFinite } from '../utils/messages.js';
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
  // Parts whose mesh is none of those before.
  const firsts: { part: ScenePart; targets: string }[] = [];
  let shared = false;
  parts.forEach((part, i) => {
    const { mesh, geometry } = part;
    const count = geometry.morphAttributes.position?.length ?? 0;
    if (count === 0) return;
    const names = namesOf(mesh, count);
    const influences = influencesOf(mesh, count);
    const targets = JSON.stringify([names, influences]);
    const alike = firsts.filter((other) => other.targets === targets);
    const sibling = alike.find((other) => arePrimitivesOfOneMesh(other.part.mesh, mesh));
    if (sibling !== undefined) {
      meshes[i] = parts.indexOf(sibling.part);
      part.morphOffset = sibling.part.morphOffset;
      return;
    }
    firsts.push({ part, targets });
    // Only where all targets have names other than their numbers.
    if (sharing && alike.length > 0 && names.every((name, target) => name !== `${target}`)) {
      shared = true;
      part.morphOffset = alike[0].part.morphOffset;
      return;
    }
    part.morphOffset = morphNames.length;
    morphNames.push(...names);
    morphRest.push(...influences);
  });
  if (sharing === undefined && morphNames.length > MOST_TARGETS) return collectMorphs(parts, true);
  return { morphNames, morphRest: Float64Array.from(morphRest), shared: shared ? meshes : null };
}

/**
 * Whether GLTFLoader made both meshes, which have the same targets, from primitives of one glTF mesh. It puts such meshes into a `Group`
 * of their own, without transforms, and names them after the glTF mesh (`Face`, `Face_1`, …). Unlike meshes made from nodes, they have
 * no original name in `userData`. All have the targets and influences of the glTF mesh, and clips move them together.
 */
function arePrimitivesOfOneMesh(a: Mesh, b: Mesh): boolean {
  const { parent } = a as { parent: (Mesh['parent'] & { isGroup?: boolean }) | null };
  return (
    parent?.isGroup === true &&
    parent === b.parent &&
    isPrimitive(a) &&
    isPrimitive(b) &&
    areNumberedAlike(a.name, b.name)
  );
}

function isPrimitive({ position, quaternion, scale, userData }: Mesh): boolean {
  const isStill = position.length() === 0 && Math.abs(quaternion.w) === 1;
  return userData.name === undefined && isStill && scale.toArray().every((value) => value === 1);
}

/** Whether names differ only by the number that GLTFLoader appends, e.g. `Face` and `Face_2`, or `Face_1` and `Face_2`. */
function areNumberedAlike(a: string, b: string): boolean {
  const [stemA, stemB] = [a, b].map((name) => name.replace(/_[1-9]\d*$/, ''));
  if (a === b) return false;
  // `mesh_1` and `mesh_2` are what GLTFLoader calls two meshes that have no name.
  return stemA === b || a === stemB || (stemA === stemB && stemA !== 'mesh');
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
    checkFinite(influence, `influence ${i} of mesh "${name}"`);
    return influence;
  });
}
