import { AFFINE_SIZE } from '../constants.js';
import { MOTION_SIZE } from '../poses/RootMotion.js';
import { composeModel, mixMorphs, mixPose } from '../tracks/mixPose.js';
import type { PoseTracks } from '../tracks/PoseTracks.js';
import { multiplyAffine } from '../utils/affine.js';
import type { Steps } from '../utils/steps.js';
import type { RigBake } from './bakeRig.js';
import type { PoseSampler } from './PoseSampler.js';

/**
 * The error of a clip's tracks between their frames: how far they put the corners of the joints' boxes from where the clip
 * itself puts them, in scene units.
 *
 * @param tracks Of this clip alone.
 * @param sampler Has the clip chosen.
 * @param rootMotion The way that was taken out of the tracks, or null.
 */
export function* trackError(
  tracks: PoseTracks,
  sampler: PoseSampler,
  { rig, boxes, morphReach, extractor }: RigBake,
  rootMotion: Float32Array | null,
): Steps<number> {
  const [{ frames, fps }] = tracks.clips;
  const joints = rig.jointNames.length;
  const trs = new Float64Array(tracks.rest.length);
  const model = new Float64Array(tracks.parents.length * AFFINE_SIZE);
  const actual = new Float64Array(AFFINE_SIZE);
  const expected = new Float64Array(joints * AFFINE_SIZE);
  const actions = [{ clip: 0, frame: 0, weight: 1 }];
  const layers = [{ actions, weight: 1, mask: null }];
  const motion = new Float32Array(MOTION_SIZE);
  const influences = new Float64Array(tracks.morphRest.length);
  let worst = 0;
  for (let half = 0; half < (frames - 1) * 2; half++) {
    if (half % 8 === 7) yield 0;
    // Half-way between frames, where a straight line is furthest from a curve, and shortly before the next, where jumps show.
    actions[0].frame = (half >> 1) + (half & 1 ? 0.98 : 0.5);
    sampler.sample(actions[0].frame / fps, expected);
    if (rootMotion !== null) {
      const at = (half >> 1) * MOTION_SIZE;
      const alpha = actions[0].frame - (half >> 1);
      for (let i = 0; i < MOTION_SIZE; i++) {
        motion[i] = rootMotion[at + i] * (1 - alpha) + rootMotion[at + MOTION_SIZE + i] * alpha;
      }
      extractor?.moveBack(motion, 0, expected);
    }
    mixMorphs(tracks, layers, influences);
    sampler.influences.forEach((influence, i) => {
      if (i < influences.length) worst = Math.max(worst, Math.abs(influence - influences[i]) * morphReach);
    });
    mixPose(tracks, layers, trs);
    composeModel(tracks, trs, model);
    for (let joint = 0; joint < joints; joint++) {
      if (boxes[joint * 6] > boxes[joint * 6 + 3]) continue;
      multiplyAffine(
        model,
        tracks.jointNodes[joint] * AFFINE_SIZE,
        rig.jointInverses,
        joint * AFFINE_SIZE,
        actual,
        0,
      );
      worst = Math.max(worst, cornersApart(actual, expected, joint, boxes));
    }
  }
  return worst;
}

function cornersApart(a: Float64Array, b: Float64Array, joint: number, boxes: Float32Array): number {
  const m = joint * AFFINE_SIZE;
  let worst = 0;
  for (let corner = 0; corner < 8; corner++) {
    const x = boxes[joint * 6 + (corner & 1) * 3];
    const y = boxes[joint * 6 + 1 + ((corner >> 1) & 1) * 3];
    const z = boxes[joint * 6 + 2 + (corner >> 2) * 3];
    let square = 0;
    for (let row = 0; row < 12; row += 4) {
      const apart =
        (a[row] - b[m + row]) * x +
        (a[row + 1] - b[m + row + 1]) * y +
        (a[row + 2] - b[m + row + 2]) * z +
        a[row + 3] -
        b[m + row + 3];
      square += apart * apart;
    }
    worst = Math.max(worst, square);
  }
  return Math.sqrt(worst);
}
