import { type Box3, DataUtils } from 'three';
import { AFFINE_SIZE } from '../constants.js';
import { expandByArray } from '../poses/BoxArray.js';
import { expandByPose, type JointBoxes } from '../poses/jointBoxes.js';
import type { PoseMix } from '../poses/PoseMix.js';
import type { AffineArray } from '../utils/affine.js';
import type { BoneTextureData } from './BoneTextureData.js';
import type { Encoding } from './Encoding.js';
import { encodingByName } from './index.js';
import type { PoseReader } from './PoseReader.js';
import { frameTexel } from './textureLayout.js';

const _first = /*@__PURE__*/ new Float32Array(AFFINE_SIZE);
const _second = /*@__PURE__*/ new Float32Array(AFFINE_SIZE);
const _affine = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);

/** Reads skinning matrices that were baked frame by frame. */
export class TexelReader implements PoseReader {
  private readonly data: BoneTextureData;
  private readonly codec: Encoding;

  constructor(data: BoneTextureData, encoding: Encoding['name']) {
    this.data = data;
    this.codec = encodingByName(encoding);
  }

  get morphTexel(): number {
    return this.data.jointNames.length * this.codec.texels;
  }

  /** Writes a joint's matrix from two frames; `alpha` is 0 at the first, 1 at the second. */
  readJoint(
    frame0: number,
    frame1: number,
    alpha: number,
    joint: number,
    out: AffineArray,
    at: number,
  ): void {
    const { layout } = this.data;
    const size = this.codec.texels * 4;
    this.readTexels((frameTexel(layout, frame0) + joint * this.codec.texels) * 4, size, _first);
    if (alpha > 0) {
      this.readTexels((frameTexel(layout, frame1) + joint * this.codec.texels) * 4, size, _second);
      this.codec.decode(_first, _second, alpha, out, at);
    } else {
      this.codec.decode(_first, _first, 0, out, at);
    }
  }

  readPose({ clips, count }: PoseMix, joint: number, out: AffineArray, at: number): void {
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

  readMorphs({ clips, count }: PoseMix, out: Float64Array): void {
    const { layout, morphNames } = this.data;
    const size = morphNames.length;
    if (size === 0) return;
    out.fill(0, 0, size);
    const add = (frame: number, weight: number) => {
      const at = (frameTexel(layout, frame) + this.morphTexel) * 4;
      for (let i = 0; i < size; i++) {
        this.readTexels(at + i, 1, _first);
        out[i] += weight * _first[0];
      }
    };
    for (let i = 0; i < count; i++) {
      const { frame0, frame1, alpha, weight } = clips[i];
      add(frame0, weight * (1 - alpha));
      if (alpha > 0) add(frame1, weight * alpha);
    }
  }

  /** With boxes of other geometry, all frames have to be read again. */
  expandBounds(target: Box3, boxes?: JointBoxes): void {
    const { restBounds, clips, jointNames, frames } = this.data;
    if (boxes === undefined) {
      expandByArray(target, restBounds);
      for (const clip of clips) expandByArray(target, clip.bounds);
      return;
    }
    const joints = jointNames.length;
    const pose = new Float64Array(joints * AFFINE_SIZE);
    for (let frame = 0; frame < frames; frame++) {
      for (let joint = 0; joint < joints; joint++) {
        // Joints that no vertex follows have empty boxes.
        if (boxes[joint * 6] > boxes[joint * 6 + 3]) continue;
        this.readJoint(frame, frame, 0, joint, pose, joint * AFFINE_SIZE);
      }
      expandByPose(target, boxes, pose);
    }
  }

  private readTexels(at: number, size: number, out: Float32Array): void {
    const { texels, precision } = this.data;
    if (precision === 'half') {
      for (let i = 0; i < size; i++) out[i] = DataUtils.fromHalfFloat(texels[at + i]);
    } else {
      for (let i = 0; i < size; i++) out[i] = texels[at + i];
    }
  }
}
