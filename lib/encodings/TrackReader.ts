import type { Box3 } from 'three';
import { AFFINE_SIZE } from '../constants.js';
import type { JointBoxes } from '../poses/jointBoxes.js';
import type { PoseMix } from '../poses/PoseMix.js';
import { composeModel, type MixedLayer, mixMorphs, mixPose } from '../tracks/mixPose.js';
import type { PoseTracks } from '../tracks/PoseTracks.js';
import { playedActions } from '../tracks/playedActions.js';
import { reachBounds } from '../tracks/reachBounds.js';
import { type AffineArray, multiplyAffine } from '../utils/affine.js';
import type { PoseReader } from './PoseReader.js';

/** Poses a character from tracks, as the pose pass does on the GPU. */
export class TrackReader implements PoseReader {
  readonly readJoint = null;
  private readonly trs: Float64Array;
  private readonly model: Float64Array;
  private readonly influences: Float64Array;
  private readonly layers: MixedLayer[] = [{ actions: [], weight: 1, mask: null }];
  /** Clip, frame and weight of the actions that `model` is the pose of: callers ask for the joints of a pose one by one. */
  private posed: number[] = [Number.NaN];

  constructor(
    private readonly tracks: PoseTracks,
    private readonly jointBoxes: JointBoxes,
  ) {
    this.trs = new Float64Array(tracks.rest.length);
    this.model = new Float64Array(tracks.parents.length * AFFINE_SIZE);
    this.influences = new Float64Array(tracks.morphRest.length);
  }

  get morphTexel(): number {
    return this.tracks.jointNodes.length;
  }

  readPose(pose: PoseMix, joint: number, out: AffineArray, at: number): void {
    const { tracks, model } = this;
    if (this.isNew(pose)) {
      mixPose(tracks, this.layers, this.trs);
      composeModel(tracks, this.trs, model);
    }
    multiplyAffine(
      model,
      tracks.jointNodes[joint] * AFFINE_SIZE,
      tracks.inverses,
      joint * AFFINE_SIZE,
      out,
      at,
    );
  }

  readMorphs(pose: PoseMix, out: Float64Array): void {
    const { tracks, influences } = this;
    playedActions(pose, this.layers[0].actions);
    this.posed = [Number.NaN];
    mixMorphs(tracks, this.layers, influences);
    for (let i = 0; i < out.length; i++) out[i] = influences[i] - tracks.morphRest[i];
  }

  expandBounds(target: Box3, boxes = this.jointBoxes): void {
    target.union(reachBounds(this.tracks, boxes)());
  }

  private isNew(pose: PoseMix): boolean {
    const { posed } = this;
    const [{ actions }] = this.layers;
    playedActions(pose, actions);
    let same = posed.length === actions.length * 3;
    actions.forEach(({ clip, frame, weight }, i) => {
      same &&= posed[i * 3] === clip && posed[i * 3 + 1] === frame && posed[i * 3 + 2] === weight;
    });
    if (!same) this.posed = actions.flatMap(({ clip, frame, weight }) => [clip, frame, weight]);
    return !same;
  }
}
