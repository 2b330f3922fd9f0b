import { Box3 } from 'three';
import type { RigBake } from '../baking/BakeOptions.js';
import { checkPose } from '../baking/skeleton.js';
import { jointBinds, jointParents } from '../character/collectRig.js';
import { AFFINE_SIZE, MATRIX_TEXELS, REST_FRAME } from '../constants.js';
import type { BoneTextureData } from '../encodings/BoneTextureData.js';
import { frameTexel, layoutTexture } from '../encodings/textureLayout.js';
import { boxToArray } from '../poses/BoxArray.js';
import type { BakedClip } from '../poses/ClipTable.js';
import { expandByPose } from '../poses/jointBoxes.js';
import { MOTION_SIZE } from '../poses/RootMotion.js';
import type { Steps } from '../utils/steps.js';
import { toHalf } from '../utils/toHalf.js';
import { FrameSampler } from './FrameSampler.js';

/** Samples, measures and stores every pose. */
export function* bakeFrames({
  clips: bound,
  rig,
  flips,
  boxes,
  maxTextureSize,
  morphs,
  extractor,
  precision,
}: RigBake): Steps<BoneTextureData> {
  const { jointNames } = rig;
  const frames = bound.reduce((sum, { count }) => sum + count, 1);
  const joints = jointNames.length;
  const morphNames = morphs ? rig.morphNames : [];
  const stride = joints * MATRIX_TEXELS + Math.ceil(morphNames.length / 4);
  const layout = layoutTexture(frames, stride, maxTextureSize);
  const texels = new Float32Array(layout.width * layout.height * 4);
  const { morphRest } = rig;
  const pose = new Float64Array(joints * AFFINE_SIZE);
  const sampler = new FrameSampler(rig);

  const storeFrame = (frame: number, clip: string): void => {
    checkPose(rig, pose, clip);
    const at = frameTexel(layout, frame) * 4;
    texels.set(pose, at);
    // The difference from the rest pose: it is added to the influences that each instance has.
    for (let i = 0; i < morphNames.length; i++) {
      texels[at + pose.length + i] = sampler.influences[i] - morphRest[i];
    }
  };

  sampler.readJoints(pose);
  const restBounds = new Box3();
  expandByPose(restBounds, boxes, pose);
  storeFrame(REST_FRAME, 'the rest pose');

  const clips: BakedClip[] = [];
  yield 0;

  for (const one of bound) {
    const { clip, name, start, count, timeOf } = one;
    sampler.setClip(one);

    const bounds = new Box3();
    const rootMotion = extractor?.extracts(name) ? new Float32Array(count * MOTION_SIZE) : null;
    for (let i = 0; i < count; i++) {
      sampler.sample(timeOf(i));
      sampler.readJoints(pose);
      if (rootMotion !== null) {
        extractor?.measure(sampler, i, rootMotion);
        extractor?.moveBack(rootMotion, i * MOTION_SIZE, pose);
      }
      expandByPose(bounds, boxes, pose);
      storeFrame(start + i, `clip "${clip.name}"`);
      if (i % 4 === 3) yield (0.9 * (start + i)) / frames;
    }
    if (bounds.isEmpty()) bounds.copy(restBounds);
    clips.push({
      name,
      start,
      count,
      duration: clip.duration,
      fps: (count - 1) / (clip.duration || 1),
      bounds: boxToArray(bounds),
      rootMotion,
      markers: [],
    });
    yield (0.9 * (start + count)) / frames;
  }

  return {
    texels: precision === 'half' ? yield* toHalfTexels(texels) : texels,
    layout,
    frames,
    encoding: 'frames',
    precision,
    clips,
    jointNames,
    jointBinds: jointBinds(rig),
    jointParents: jointParents(rig),
    flips,
    morphNames,
    restBounds: boxToArray(restBounds),
    jointBoxes: boxes,
    tracks: null,
  };
}

/** Texels as the bits of half floats. */
export function* toHalfTexels(texels: Float32Array): Steps<Uint16Array> {
  const halves = new Uint16Array(texels.length);
  for (let i = 0; i < texels.length; i++) {
    if (Math.abs(texels[i]) > 65504) {
      throw new Error(
        `A joint's matrix holds ${texels[i]}, beyond what a half float can; use precision "float", or scale the model down.`,
      );
    }
    halves[i] = toHalf(texels[i]);
    if (i % 4096 === 0) yield 0.9 + (0.1 * i) / texels.length;
  }
  return halves;
}
