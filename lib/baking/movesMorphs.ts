import { type Mesh, PropertyBinding } from 'three';
import type { Rig } from '../poses/Rig.js';
import { hasTangents } from './bindTracks.js';
import type { PlannedClip } from './planClips.js';

/** Whether any clip gives a morph target of a part that is drawn another influence than it has at rest. */
export function movesMorphs({ nodes, parts, morphRest }: Rig, planned: readonly PlannedClip[]): boolean {
  return planned.some(({ clip }) =>
    clip.tracks.some((track) => {
      const { name, values } = track;
      const { nodeName, propertyName, propertyIndex } = PropertyBinding.parseTrackName(name);
      if (propertyName !== 'morphTargetInfluences') return false;
      const mesh = PropertyBinding.findNode(nodes[0], nodeName) as Mesh;
      const part = parts.find((candidate) => candidate.mesh === mesh);
      if (part === undefined || part.morphOffset < 0) return false;
      const size = mesh.morphTargetInfluences?.length ?? 0;
      const first = mesh.morphTargetDictionary?.[propertyIndex as string] ?? Number(propertyIndex ?? 0);
      const restOf = (i: number) =>
        morphRest[part.morphOffset + first + (propertyIndex === undefined ? i % size : 0)];
      // also of values between which a spline has its tangents
      return hasTangents(track) || Array.from(values).some((value, i) => value !== restOf(i));
    }),
  );
}
