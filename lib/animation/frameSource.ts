import { DataUtils } from 'three';
import { AFFINE_SIZE, MATRIX_TEXELS, PARAM_MORPH_TEXEL, PARAM_ROWS, PARAM_STRIDE } from '../constants.js';
import type { AffineArray } from '../utils/affine.js';
import { type BoneTextureData, frameTexel } from './BoneTextureData.js';
import { expandByClips, expandByJoint } from './jointBoxes.js';
import { createPoseMix, type PoseMix } from './mixPose.js';
import type { PoseReader, PoseSource } from './PoseSource.js';

const _mix = /*@__PURE__*/ createPoseMix();

/** Reads skinning matrices that were baked frame by frame. */
class FrameReader implements PoseReader {
  private mix = _mix;

  constructor(private readonly data: BoneTextureData) {}

  pose(pose: PoseMix): void {
    this.mix = pose;
  }

  jointMatrix(joint: number, out: AffineArray, at: number): void {
    out.fill(0, at, at + AFFINE_SIZE);
    this.add(joint * AFFINE_SIZE, AFFINE_SIZE, out, at);
  }

  readMorphs(out: Float64Array): void {
    const { morphNames, jointNames } = this.data;
    out.fill(0, 0, morphNames.length);
    this.add(jointNames.length * AFFINE_SIZE, morphNames.length, out, 0);
  }

  /** Adds numbers of the mixed frames, from the one at a place on. */
  private add(place: number, size: number, out: AffineArray, at: number): void {
    const { texels, precision, layout } = this.data;
    const { clips, count } = this.mix;
    const addFrame = (frame: number, weight: number) => {
      const from = frameTexel(layout, frame) * 4 + place;
      for (let i = 0; i < size; i++) {
        const value = texels[from + i];
        out[at + i] += weight * (precision === 'half' ? DataUtils.fromHalfFloat(value) : value);
      }
    };
    for (let i = 0; i < count; i++) {
      const { frame0, frame1, alpha, weight } = clips[i];
      addFrame(frame0, weight * (1 - alpha));
      if (alpha > 0) addFrame(frame1, weight * alpha);
    }
  }
}

/** The rest pose, of a bone texture without clips: vertices need not find out what their instance plays. */
const restSource: PoseSource = {
  name: 'rest',
  hasFrames: false,
  hasJoints: true,

  createReader: (data) => new FrameReader(data),

  setParameters({ boneTexture: { layout, data } }, parameters) {
    parameters[PARAM_ROWS] = layout.height;
    parameters[PARAM_STRIDE] = layout.stride;
    parameters[PARAM_MORPH_TEXEL] = data.jointNames.length * MATRIX_TEXELS;
  },

  pose({ playback, boneTexture, interpolate }, instance) {
    boneTexture.reader.pose(playback.pose(instance, interpolate, _mix));
  },

  /** With boxes of other geometry, all frames have to be read again. */
  expandBounds({ boneTexture }, target, boxes) {
    const { jointNames, frames } = boneTexture.data;
    if (boxes === undefined) {
      expandByClips(target, boneTexture.data);
      return;
    }
    const { reader } = boneTexture;
    const matrix = new Float64Array(AFFINE_SIZE);
    const mix = createPoseMix();
    for (let frame = 0; frame < frames; frame++) {
      mix.clips[0].frame0 = frame;
      reader.pose(mix);
      for (let joint = 0; joint < jointNames.length; joint++) {
        reader.jointMatrix(joint, matrix, 0);
        expandByJoint(target, boxes, joint, matrix, 0);
      }
    }
  },
};

/** Skinning matrices that were baked frame by frame: each vertex reads and mixes them. */
export const frameSource: PoseSource = /*@__PURE__*/ Object.assign({}, restSource, {
  name: 'frames',
  hasFrames: true,
  atRest: restSource,
});
