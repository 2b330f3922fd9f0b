import type { KeyframeTrack } from 'three';
import { AdditiveAnimationBlendMode, InterpolateDiscrete, InterpolateLinear } from 'three';
import type { PartFlip } from '../poses/PartFlip.js';
import { type Rig, TRS_SIZE } from '../poses/Rig.js';
import { isSingular } from '../utils/affine.js';
import type { Steps } from '../utils/steps.js';
import { interpolantOf, OFFSETS } from './bindTracks.js';
import { nodesAbove } from './PoseSampler.js';
import type { PlannedClip } from './planClips.js';
import { type TrackTargets, trackTargetsOf } from './trackTargets.js';

/** Bits for what a clip does to a node's scale: another sign than at rest, and zero. */
const SIGN_CHANGES = 1;
const IS_ZERO = 2;

/** A part that clips mirror, or flatten. */
export type ChangedPart = Pick<PartFlip, 'part' | 'mirrored'>;

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

  const targets = trackTargetsOf(rig);
  const scales = new Uint8Array(parents.length);
  for (const timed of clips) {
    for (const track of timed.clip.tracks) {
      // Most tracks move bones, which have no meshes below them.
      const { node, property } = targets.find(track.name);
      if (property === 'scale' && node !== -1 && above[node] === 1) {
        scales[node] |= scaleOf(rig, track, timed, targets);
      }
    }
    yield 0;
  }

  return parts.flatMap(({ node: mesh, rigid, model }, part): ChangedPart[] => {
    let found = isSingular(model, 0) ? IS_ZERO : 0;
    for (let node = mesh; node !== -1; node = parents[node]) found |= scales[node];
    const mirrored = (found & SIGN_CHANGES) !== 0;
    return mirrored || (!rigid && found !== 0) ? [{ part, mirrored }] : [];
  });
}

/** Whether a track of scale gives it another sign than at rest, or makes it zero, in any frame. */
function scaleOf(
  { rest }: Rig,
  track: KeyframeTrack,
  { clip, count, timeOf }: PlannedClip,
  targets: TrackTargets,
): number {
  const { node, component } = targets.find(track.name);
  const at = node * TRS_SIZE + OFFSETS.scale.offset;
  const axes =
    component === undefined ? [0, 1, 2] : ['x', 'y', 'z'].flatMap((c, i) => (c === component ? i : []));
  const additive = clip.blendMode === AdditiveAnimationBlendMode;
  if (!additive && axes.every((axis) => rest[at + axis] > 0) && isPositive(track)) return 0;

  const value = new Float64Array(track.getValueSize());
  const interpolant = interpolantOf(track, value);
  let found = 0;
  for (let frame = 0; frame < count; frame++) {
    interpolant.evaluate(timeOf(frame));
    axes.forEach((axis, i) => {
      const base = rest[at + axis];
      const scale = additive ? base + value[i] : value[i];
      if (scale === 0) found |= IS_ZERO;
      else if (scale < 0 !== base < 0) found |= SIGN_CHANGES;
    });
  }
  return found;
}

/** Whether a track is positive at all times: at its keys, and between them, where it is a straight line or a step. */
function isPositive(track: KeyframeTrack): boolean {
  const interpolation = track.getInterpolation();
  if (interpolation !== InterpolateLinear && interpolation !== InterpolateDiscrete) return false;
  for (const value of track.values) if (!(value > 0)) return false;
  return true;
}
