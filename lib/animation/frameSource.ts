import { DataUtils } from 'three';
import { AFFINE_SIZE, MATRIX_TEXELS, PARAM_MORPH_TEXEL, PARAM_ROWS, PARAM_STRIDE } from '../constants.js';
import type { AffineArray } from '../utils/affine.js';
import { type BoneTextureData, frameTexel } from './BoneTextureData.js';
import { expandByClips, expandByPose } from './jointBoxes.js';
import { createPoseMix, type PoseMix } from './PoseMix.js';
import type { PoseReader, PoseSource } from './PoseSource.js';

const _first = /*@__PURE__*/ new Float32Array(AFFINE_SIZE);
const _second = /*@__PURE__*/ new Float32Array(AFFINE_SIZE);
const _affine = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);
const _mix = /*@__PURE__*/ createPoseMix();

/** Reads skinning matrices that were baked frame by frame. */
class FrameReader implements PoseReader {
  private mix = _mix;

  constructor(private readonly data: BoneTextureData) {}

  pose(pose: PoseMix): void {
    this.mix = pose;
  }

  jointMatrix(joint: number, out: AffineArray, at: number): void {
    const { clips, count } = this.mix;
    if (count === 1) {
      const [{ frame0, frame1, alpha }] = clips;
      this.readJoint(frame0, frame1, alpha, joint, out, at);
      return;
    }
    out.fill(0, at, at + AFFINE_SIZE);
    for (let i = 0; i < count; i++) {
      const { frame0, frame1, alpha, weight } = clips[i];
      this.readJoint(frame0, frame1, alpha, joint, _affine, 0);
      for (let k = 0; k < AFFINE_SIZE; k++) out[at + k] += weight * _affine[k];
    }
  }

  readJoint(
    frame0: number,
    frame1: number,
    alpha: number,
    joint: number,
    out: AffineArray,
    at: number,
  ): void {
    this.read(frame0, joint * AFFINE_SIZE, AFFINE_SIZE, _first);
    if (alpha > 0) this.read(frame1, joint * AFFINE_SIZE, AFFINE_SIZE, _second);
    for (let i = 0; i < AFFINE_SIZE; i++) {
      out[at + i] = alpha > 0 ? _first[i] + (_second[i] - _first[i]) * alpha : _first[i];
    }
  }

  readMorphs(out: Float64Array): void {
    const { morphNames, jointNames } = this.data;
    const first = jointNames.length * AFFINE_SIZE;
    out.fill(0, 0, morphNames.length);
    const add = (frame: number, weight: number) => {
      for (let i = 0; i < morphNames.length; i++) {
        this.read(frame, first + i, 1, _first);
        out[i] += weight * _first[0];
      }
    };
    const { clips, count } = this.mix;
    for (let i = 0; i < count; i++) {
      const { frame0, frame1, alpha, weight } = clips[i];
      add(frame0, weight * (1 - alpha));
      if (alpha > 0) add(frame1, weight * alpha);
    }
  }

  /** Reads numbers of a frame, from the one at a place. */
  private read(frame: number, place: number, size: number, out: Float32Array): void {
    const { texels, precision, layout } = this.data;
    const at = frameTexel(layout, frame) * 4 + place;
    for (let i = 0; i < size; i++) {
      out[i] = precision === 'half' ? DataUtils.fromHalfFloat(texels[at + i]) : texels[at + i];
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
    const pose = new Float64Array(jointNames.length * AFFINE_SIZE);
    for (let frame = 0; frame < frames; frame++) {
      for (let joint = 0; joint < jointNames.length; joint++) {
        // Joints that no vertex follows have empty boxes.
        if (boxes[joint * 6] > boxes[joint * 6 + 3]) continue;
        (boneTexture.reader as FrameReader).readJoint(frame, frame, 0, joint, pose, joint * AFFINE_SIZE);
      }
      expandByPose(target, boxes, pose);
    }
  },
};

/** Skinning matrices that were baked frame by frame: each vertex reads and mixes them. */
export const frameSource: PoseSource = /*@__PURE__*/ Object.assign({}, restSource, {
  name: 'frames',
  hasFrames: true,
  atRest: restSource,
});
