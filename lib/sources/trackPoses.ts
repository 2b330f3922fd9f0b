import { AFFINE_SIZE } from '../constants.js';
import type { InstancePlayback } from '../playback/InstancePlayback.js';
import { createPoseMix } from '../poses/PoseMix.js';
import { composeModel, type MixedLayer, mixMorphs, mixPose } from '../tracks/mixPose.js';
import type { PoseTracks } from '../tracks/PoseTracks.js';
import { playedActions } from '../tracks/playedActions.js';
import { reachBounds } from '../tracks/reachBounds.js';
import { multiplyAffine } from '../utils/affine.js';
import type { PosedCrowd, PoseSource } from './PoseSource.js';

/** Which pose was made last: callers ask for the joints and vertices of an instance one by one. */
interface Posed {
  tracks: PoseTracks | null;
  playback: InstancePlayback | null;
  instance: number;
  clock: number;
  version: number;
  edits: number;
}

const _mix = /*@__PURE__*/ createPoseMix();
const _layers: MixedLayer[] = [];
const _posed: Posed = { tracks: null, playback: null, instance: -1, clock: 0, version: 0, edits: 0 };
let _trs = /*@__PURE__*/ new Float64Array(0);
let _model = /*@__PURE__*/ new Float64Array(0);
let _morphs = /*@__PURE__*/ new Float64Array(0);

/** How instances of a crowd with tracks are posed on the CPU: the twin of the pose pass. */
export const trackPoses: Pick<PoseSource, 'pose' | 'jointMatrix' | 'readMorphs' | 'expandBounds'> = {
  pose(crowd, instance) {
    const { playback, edits } = crowd;
    const tracks = tracksOf(crowd);
    edits.place(instance);
    const { clock, version } = playback;
    if (
      _posed.tracks === tracks &&
      _posed.playback === playback &&
      _posed.instance === instance &&
      _posed.clock === clock &&
      _posed.version === version &&
      _posed.edits === edits.version
    ) {
      return;
    }
    Object.assign(_posed, { tracks, playback, instance, clock, version, edits: edits.version });

    playedActions(playback.pose(instance, true, _mix), _layers);
    if (_trs.length !== tracks.rest.length) {
      _trs = new Float64Array(tracks.rest.length);
      _model = new Float64Array(tracks.parents.length * AFFINE_SIZE);
    }
    mixPose(tracks, _layers, _trs);
    edits.applyLocals(instance, _trs);
    composeModel(tracks, _trs, _model, edits.modelEdits(instance));
  },

  jointMatrix(crowd, joint, out, at) {
    const { jointNodes, inverses } = tracksOf(crowd);
    multiplyAffine(_model, jointNodes[joint] * AFFINE_SIZE, inverses, joint * AFFINE_SIZE, out, at);
  },

  readMorphs(crowd, out) {
    const tracks = tracksOf(crowd);
    const { morphRest } = tracks;
    if (_morphs.length !== morphRest.length) _morphs = new Float64Array(morphRest.length);
    mixMorphs(tracks, _layers, _morphs);
    for (let i = 0; i < out.length; i++) out[i] = _morphs[i] - morphRest[i];
  },

  expandBounds({ boneTexture, edits, playback }, target, boxes = boneTexture.jointBoxes) {
    const { tracks } = boneTexture.data;
    target.union(reachBounds(tracks as PoseTracks, boxes, playback.layers.count)(undefined, edits.reach));
  },
};

const tracksOf = ({ boneTexture }: PosedCrowd): PoseTracks => boneTexture.data.tracks as PoseTracks;
