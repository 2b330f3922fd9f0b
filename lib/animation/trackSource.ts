import { AFFINE_SIZE, PARAM_CLOCK, PARAM_EPOCH, PARAM_MORPH_TEXEL, PARAM_STRIDE } from '../constants.js';
import { type AffineArray, multiplyAffine } from '../utils/affine.js';
import { runAll } from '../utils/slices.js';
import { clipBounds } from './clipBounds.js';
import { expandByClips } from './jointBoxes.js';
import {
  composeModel,
  createPoseMix,
  type EditModel,
  type MixedLayer,
  mixMorphs,
  mixNode,
  type PoseMix,
  playedActions,
} from './mixPose.js';
import type { PosedCrowd, PoseEditor, PoseReader, PoseSource } from './PoseSource.js';
import type { PoseTracks } from './PoseTracks.js';

/** Poses a character from tracks: the twin of the pose pass, but for single joints, each with what is above it, when it is asked for. */
export class TrackReader implements PoseReader {
  private readonly trs: Float64Array;
  private readonly model: Float64Array;
  private readonly influences: Float64Array;
  private readonly layers: MixedLayer[] = [];
  /** For each node the number of the pose that its matrix is of. */
  private readonly poses: Uint32Array;
  private number = 0;
  private edits: PoseEditor | null = null;
  private instance = 0;

  constructor(private readonly tracks: PoseTracks) {
    this.trs = new Float64Array(tracks.rest.length);
    this.model = new Float64Array(tracks.parents.length * AFFINE_SIZE);
    this.influences = new Float64Array(tracks.morphRest.length);
    this.poses = new Uint32Array(tracks.parents.length);
  }

  /** @param edits What changes joints of the instance. */
  pose(pose: PoseMix, edits: PoseEditor | null = null, instance = 0): void {
    _posed.reader = null;
    playedActions(pose, this.tracks, this.layers);
    this.number++;
    this.edits = edits;
    this.instance = instance;
  }

  jointMatrix(joint: number, out: AffineArray, at: number): void {
    const { tracks, model, poses, number } = this;
    const { jointNodes, inverses } = tracks;
    const node = jointNodes[joint];
    if (poses[node] !== number) {
      const edit = this.edits?.modelEdits(this.instance);
      if (edit === undefined) this.composeChain(node);
      else this.composeAll(edit);
    }
    multiplyAffine(model, node * AFFINE_SIZE, inverses, joint * AFFINE_SIZE, out, at);
  }

  private composeChain(node: number): void {
    const parent = this.tracks.parents[node];
    if (parent >= 0 && this.poses[parent] !== this.number) this.composeChain(parent);
    this.compose(node);
  }

  /** Edits of matrices relative to the root are applied on the way down, to all nodes in their order. */
  private composeAll(edit: EditModel): void {
    for (let node = 0; node < this.poses.length; node++) {
      this.compose(node);
      edit(node, this.model, node * AFFINE_SIZE);
    }
  }

  private compose(node: number): void {
    const { tracks, trs, model, layers, edits, instance } = this;
    mixNode(tracks, layers, node, trs);
    edits?.applyLocal(instance, node, trs);
    composeModel(tracks, trs, node, model);
    this.poses[node] = this.number;
  }

  readMorphs(out: Float64Array): void {
    const { tracks, influences } = this;
    mixMorphs(tracks, this.layers, influences);
    for (let i = 0; i < out.length; i++) out[i] = influences[i] - tracks.morphRest[i];
  }
}

const _mix = /*@__PURE__*/ createPoseMix();
const _posed: {
  reader: PoseReader | null;
  playback: object | null;
  instance: number;
  elapsed: number;
  version: number;
  edits: number;
} = { reader: null, playback: null, instance: -1, elapsed: 0, version: 0, edits: 0 };

const tracksOf = ({ boneTexture }: PosedCrowd): PoseTracks => boneTexture.data.tracks as PoseTracks;

/** The clips' own tracks: a pass poses each instance once, as `AnimationMixer` does, and vertices read what it has written. */
export const trackSource: PoseSource = {
  name: 'tracks',
  hasFrames: false,
  hasJoints: true,

  createReader: ({ tracks }) => new TrackReader(tracks as PoseTracks),

  setParameters(crowd, parameters) {
    const { columns } = crowd.crowd;
    parameters[PARAM_STRIDE] = columns + tracksOf(crowd).morphRest.length / 4;
    parameters[PARAM_MORPH_TEXEL] = columns;
    // The pass alone asks for it. Parameters that stay as they are need not be sent.
    parameters[PARAM_CLOCK] = parameters[PARAM_EPOCH] = 0;
  },

  pose({ playback, boneTexture, crowd: { poseEdits } }, instance) {
    const reader = boneTexture.reader as TrackReader;
    poseEdits?.place(instance);
    const edits = poseEdits?.version ?? 0;
    const { version } = playback;
    const elapsed = playback.time.timeOf(instance);
    if (
      _posed.reader === reader &&
      _posed.playback === playback &&
      _posed.instance === instance &&
      _posed.elapsed === elapsed &&
      _posed.version === version &&
      _posed.edits === edits
    ) {
      return;
    }
    reader.pose(playback.pose(instance, true, _mix), poseEdits, instance);
    // Not by Object.assign, which makes an object for each of many instances.
    _posed.reader = reader;
    _posed.playback = playback;
    _posed.instance = instance;
    _posed.elapsed = elapsed;
    _posed.version = version;
    _posed.edits = edits;
  },

  expandBounds(crowd, target, boxes) {
    const tracks = tracksOf(crowd);
    const { over, layers } = crowd.playback;
    const extent = crowd.crowd.poseEdits?.extent ?? null;
    const wide = (extent ?? over)?.posedBounds;
    if (wide !== undefined)
      target.union(wide(tracks, boxes ?? crowd.boneTexture.jointBoxes, layers.length, extent));
    else if (boxes === undefined) expandByClips(target, crowd.boneTexture.data);
    else for (const box of runAll(clipBounds(tracks, boxes))) target.union(box);
  },
};
