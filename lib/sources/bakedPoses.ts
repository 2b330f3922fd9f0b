import { createPoseMix } from '../poses/PoseMix.js';
import type { PoseSource } from './PoseSource.js';

const _pose = /*@__PURE__*/ createPoseMix();

/** How sources that read a bone texture pose an instance on the CPU. */
export const bakedPoses: Pick<PoseSource, 'pose' | 'jointMatrix' | 'readMorphs' | 'expandBounds'> = {
  pose({ playback, interpolate }, instance) {
    playback.pose(instance, interpolate, _pose);
  },
  jointMatrix({ boneTexture }, joint, out, at) {
    boneTexture.readPose(_pose, joint, out, at);
  },
  readMorphs({ boneTexture }, out) {
    boneTexture.readMorphs(_pose, out);
  },
  expandBounds({ boneTexture, playback }, target, boxes) {
    boneTexture.expandBounds(target, boxes, playback.layers.count);
  },
};
