import { type BufferGeometry, type KeyframeTrack, type Mesh, Vector3 } from 'three';
import type { ScenePart } from '../character/collectParts.js';
import { growJointBoxes, type JointBoxes } from '../poses/jointBoxes.js';
import type { PartFlip, Rig } from '../poses/Rig.js';
import { SCALE } from '../tracks/PoseTracks.js';
import { isSingular } from '../utils/affine.js';
import { drawnVertices } from '../utils/geometries.js';
import type { Steps } from '../utils/steps.js';
import { warnOnce } from '../utils/warnOnce.js';
import { bindClip, type Channel, CURVE, hasTangents, MORPHS, targetOf } from './channels.js';
import type { PlannedClip } from './planClips.js';
import { nodesAbove } from './skeleton.js';

// What baking has to know of a character's meshes, and of what clips do to them, before it reads any keys.

/** Vertices that are read in one step, of geometry without morph targets. */
const VERTICES = 512;

/** Grows the boxes of joints by the vertices of a part that follow them. */
export function* growPartBoxes(
  boxes: JointBoxes,
  { mesh, geometry, joints, mirrorJoints, rigid }: ScenePart,
): Steps<void> {
  const { count } = geometry.getAttribute('position');
  const step = Math.ceil(VERTICES / (1 + (geometry.morphAttributes.position?.length ?? 0)));
  let isLost = false;
  for (let from = 0; from < count; from += step) {
    const to = Math.min(count, from + step);
    if (growJointBoxes(boxes, geometry, joints, rigid, from, to)) isLost = true;
    if (mirrorJoints !== null) growJointBoxes(boxes, geometry, mirrorJoints, rigid, from, to);
    yield 0;
  }
  if (isLost) warnOfLost(mesh, geometry);
}

/** three.js draws the other triangles without a word, unless it is asked for bounds. */
function warnOfLost({ name, type }: Mesh, geometry: BufferGeometry): void {
  const position = geometry.getAttribute('position');
  const drawn = drawnVertices(geometry);
  const place = new Vector3();
  for (let vertex = 0; vertex < position.count; vertex++) {
    const { x, y, z } = place.fromBufferAttribute(position, vertex);
    if (drawn[vertex] === 0 || Number.isFinite(x + y + z)) continue;
    warnOnce(
      `Vertex ${vertex} of ${type} "${name}" is at ${x}, ${y}, ${z}, so that its triangles are not drawn; mend the positions.`,
    );
    return;
  }
}

/** How far a morph target of a part at full influence moves a vertex at most, in the units of its geometry. */
export function* morphReach({ geometry }: ScenePart): Steps<number> {
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
  const joined = [...parts.keys()].filter((i) => {
    const { morphOffset } = parts[i];
    return (
      morphOffset >= 0 &&
      parts.some((other, k) => other.morphOffset === morphOffset && meshes[k] !== meshes[i])
    );
  });
  for (const { clip } of planned) {
    const firsts = new Map<number, KeyframeTrack[]>();
    const moved = new Set<number>();
    for (const i of joined) {
      const { node, morphOffset } = parts[i];
      const own = clip.tracks.filter(({ name }) => {
        const target = targetOf(rig, name);
        return target.node === node && target.property === MORPHS;
      });
      if (own.length === 0) continue;
      moved.add(meshes[i]);
      const first = firsts.get(morphOffset);
      if (first === undefined) firsts.set(morphOffset, own);
      else if (first.length !== own.length || !own.every((one, k) => areAlike(rig, one, first[k])))
        return false;
    }
    if (joined.some((i) => firsts.has(parts[i].morphOffset) && !moved.has(meshes[i]))) return false;
    yield 0;
  }
  return true;
}

function areAlike(rig: Rig, a: KeyframeTrack, b: KeyframeTrack): boolean {
  const [{ first, size }, other] = [a, b].map(({ name }) => targetOf(rig, name));
  if (first !== other.first || size !== other.size || a.getInterpolation() !== b.getInterpolation())
    return false;
  return !hasTangents(a) && !hasTangents(b) && areSame(a.times, b.times) && areSame(a.values, b.values);
}

const areSame = (a: ArrayLike<number>, b: ArrayLike<number>): boolean =>
  a === b || (a.length === b.length && Array.prototype.every.call(a, (value, i) => value === b[i]));
