import type { Mesh } from 'three';
import type { Rig, ScenePart } from '../animation/Rig.js';
import { checkFinite } from '../utils/messages.js';

/**
 * Numbers the morph targets of all parts, and sets each part's `morphOffset`. Parts with the same targets by name have them in common:
 * the head, teeth and eyes of an avatar each have all targets of the face, and a face with three materials is three meshes.
 *
 * @param sharing Whether they do: clips must move them alike then.
 */
export function collectMorphs(
  parts: readonly ScenePart[],
  sharing: boolean,
): Pick<Rig, 'morphNames' | 'morphRest'> & { shared: boolean } {
  const morphNames: string[] = [];
  const morphRest: number[] = [];
  const offsets = new Map<string, number>();
  let shared = false;
  for (const part of parts) {
    const { mesh, geometry } = part;
    const { name, morphTargetDictionary = {}, morphTargetInfluences = [] } = mesh;
    const names = Array.from(geometry.morphAttributes.position ?? [], (_, i) => `${i}`);
    if (names.length === 0) continue;
    for (const [target, i] of Object.entries(morphTargetDictionary)) if (i in names) names[i] = target;
    const influences = names.map((_, i) => morphTargetInfluences[i] ?? 0);
    influences.forEach((influence, i) => {
      checkFinite(influence, `influence ${i} of mesh "${name}"`);
    });
    const isNamed = names.every((target, i) => target !== `${i}`);
    const key = JSON.stringify([names, influences, isNamed || ownerOf(mesh)]);
    const known = sharing ? offsets.get(key) : undefined;
    part.morphOffset = known ?? morphNames.length;
    if (known !== undefined) shared = true;
    else {
      offsets.set(key, part.morphOffset);
      morphNames.push(...names);
      morphRest.push(...influences);
    }
  }
  return { morphNames, morphRest: Float64Array.from(morphRest), shared };
}

/**
 * What tells meshes apart whose targets have no names: GLTFLoader puts those made from primitives of one glTF mesh into one group, as
 * `Face`, `Face_1` and so on. Unlike meshes made from nodes, they have no name in `userData`.
 */
function ownerOf({ name, uuid, parent, userData }: Mesh): unknown {
  return userData.name === undefined && parent ? [parent.uuid, name.replace(/_\d+$/, '')] : uuid;
}
