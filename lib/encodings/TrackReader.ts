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
  private readonly layers: MixedLayer[] = [];
  /** Numbers and masks of what `model` is the pose of: callers ask for the joints of a pose one by one. */
  private posed: unknown[] = [];

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
    mixMorphs(tracks, playedActions(pose, this.layers), influences);
    for (let i = 0; i < out.length; i++) out[i] = influences[i] - tracks.morphRest[i];
  }

  expandBounds(target: Box3, boxes = this.jointBoxes, layers = 1): void {
    target.union(reachBounds(this.tracks, boxes, layers)());
  }

  /** Whether `model` is of another pose; brings `layers` up to date. */
  private isNew(pose: PoseMix): boolean {
    const { posed } = this;
    let length = 0;
    let same = true;
    const compare = (value: unknown): void => {
      same &&= posed[length] === value;
      posed[length++] = value;
    };
    for (const { actions, weight, mask } of playedActions(pose, this.layers)) {
      compare(mask);
      compare(weight);
      compare(actions.length);
      for (const action of actions) {
        compare(action.clip);
        compare(action.frame);
        compare(action.weight);
      }
    }
    same &&= posed.length === length;
    posed.length = length;
    return !same;
  }
}
