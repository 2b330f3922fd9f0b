import type { KeyframeTrack } from 'three';
import { growJointBoxes, type JointBoxes } from '../animation/jointBoxes.js';
import { SCALE } from '../animation/PoseTracks.js';
import type { PartFlip, Rig } from '../animation/Rig.js';
import type { ScenePart } from '../character/collectParts.js';
import { isSingular } from '../utils/affine.js';
import type { Steps } from '../utils/steps.js';
import { bindClip, type Channel, CURVE, hasTangents, MORPHS, targetOf } from './channels.js';
import type { PlannedClip } from './planClips.js';
import { nodesAbove } from './skeleton.js';

// What baking has to know of a character's meshes, and of what clips do to them, before it reads any keys.

/** Vertices that are read in one step, of geometry without morph targets. */
const VERTICES = 512;

/** Grows the boxes of joints by the vertices of a part that follow them. */
export function* growPartBoxes(
  boxes: JointBoxes,
  { geometry, joints, mirrorJoints, rigid }: ScenePart,
): Steps<void> {
  const { count } = geometry.getAttribute('position');
  const step = Math.ceil(VERTICES / (1 + (geometry.morphAttributes.position?.length ?? 0)));
  for (let from = 0; from < count; from += step) {
    const to = Math.min(count, from + step);
    growJointBoxes(boxes, geometry, joints, rigid, from, to);
    if (mirrorJoints !== null) growJointBoxes(boxes, geometry, mirrorJoints, rigid, from, to);
    yield 0;
  }
}

/** How far a morph target of a part at full influence moves a vertex at most, in the units of its geometry. */
export function* morphExtent({ geometry }: ScenePart): Steps<number> {
  const base = geometry.getAttribute('position');
  const relative = geometry.morphTargetsRelative;
  let most = 0;
  for (const target of geometry.morphAttributes.position ?? []) {
    for (let vertex = 0; vertex < target.count; vertex++) {
      const x = target.getX(vertex) - (relative ? 0 : base.getX(vertex));
      const y = target.getY(vertex) - (relative ? 0 : base.getY(vertex));
      const z = target.getZ(vertex) - (relative ? 0 : base.getZ(vertex));
      most = Math.max(most, Math.hypot(x, y, z));
      if (vertex % VERTICES === 0) yield 0;
    }
  }
  return most;
}

/** A part that clips mirror, or flatten. */
export type ChangedPart = Pick<PartFlip, 'part' | 'mirrored'>;

/** Bits for what a clip does to a node's scale: another sign than at rest, and zero. */
const SIGN_CHANGES = 1;
const IS_ZERO = 2;

/**
 * Finds the parts that clips mirror by a negative scale of the mesh or of a node above it: three.js turns the triangles of
 * such a mesh around. Also finds the skinned parts that are flattened, at rest or by a clip: three.js draws nothing of those.
 */
export function* findChangedParts(rig: Rig, clips: readonly PlannedClip[]): Steps<ChangedPart[]> {
  const { parts, parents } = rig;
  const above = nodesAbove(
    parents,
    parts.map(({ node }) => node),
  );
  const scales = new Uint8Array(parents.length);
  for (const planned of clips) {
    const { clip } = planned;
    // Most tracks move bones, which have no meshes below them.
    const tracks = clip.tracks.filter(({ name }) => {
      const { node, property } = targetOf(rig, name);
      return property === SCALE && above[node] === 1;
    });
    for (const channel of bindClip(rig, clip, tracks).channels)
      scales[channel.node] |= scaleOf(channel, planned);
    yield 0;
  }
  return parts.flatMap(({ node: mesh, rigid, model }, part): ChangedPart[] => {
    let found = isSingular(model, 0) ? IS_ZERO : 0;
    for (let node = mesh; node !== -1; node = parents[node]) found |= scales[node];
    const mirrored = (found & SIGN_CHANGES) !== 0;
    return mirrored || (!rigid && found !== 0) ? [{ part, mirrored }] : [];
  });
}

/** Whether a channel of scale has another sign than at rest, or is zero, in any frame. */
function scaleOf(channel: Channel, { count, timeOf }: PlannedClip): number {
  const { additive, rest, tracks } = channel;
  const isPositive = (value: number) => value > 0;
  // Straight lines and steps between positive keys are positive.
  const isSafe = tracks.every(({ curve, track }) => curve !== CURVE && track.values.every(isPositive));
  if (isSafe && !additive && rest.every(isPositive)) return 0;
  const scale = new Float64Array(3);
  let found = 0;
  for (let frame = 0; frame < count; frame++) {
    channel.evaluate(timeOf(frame), scale, 0);
    scale.forEach((value, axis) => {
      if (value === 0) found |= IS_ZERO;
      else if (value < 0 !== rest[axis] < 0) found |= SIGN_CHANGES;
    });
  }
  return found;
}

/**
 * Whether all clips move the meshes that share morph targets in one way at all times. Primitives of one glTF mesh share them in any
 * case: it is enough that a clip moves one of them.
 *
 * @param meshes See `CollectedMorphs.shared`.
 */
export function* moveAlike(
  rig: Rig,
  meshes: readonly number[],
  planned: readonly PlannedClip[],
): Steps<boolean> {
  const { parts } = rig;
  const indices = [...parts.keys()].filter((i) => parts[i].morphOffset >= 0);
  for (const { clip } of planned) {
    // For each mesh, and for all meshes that share targets with it, the tracks that move them.
    const ofMesh = new Map<number, string>();
    for (const i of indices) {
      const own = clip.tracks.filter(({ name }) => {
        const { node, property } = targetOf(rig, name);
        return node === parts[i].node && property === MORPHS;
      });
      const text = own.map((track) => textOf(rig, track)).join();
      const before = ofMesh.get(meshes[i]) || text;
      if (text !== '' && text !== before) return false;
      ofMesh.set(meshes[i], before);
    }
    const texts = new Map<number, string>();
    for (const i of indices) {
      const { morphOffset } = parts[i];
      const text = ofMesh.get(meshes[i]) as string;
      if ((texts.get(morphOffset) ?? text) !== text) return false;
      texts.set(morphOffset, text);
    }
    yield 0;
  }
  return true;
}

/** The same for tracks that move the same targets alike. */
function textOf(rig: Rig, track: KeyframeTrack): string {
  const { first, size } = targetOf(rig, track.name);
  return hasTangents(track)
    ? track.name
    : [first, size, track.getInterpolation(), track.times, track.values].join();
}
