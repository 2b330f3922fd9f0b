import { Box3, DataUtils, Matrix4 } from 'three';
import { type BoneTextureData, frameTexel, layoutTexture } from '../animation/BoneTextureData.js';
import { type BakedClip, MOTION_SIZE } from '../animation/ClipTable.js';
import { boxToArray, expandByClips, expandByJoint, expandByPose } from '../animation/jointBoxes.js';
import { createPoseMix, type PoseMix } from '../animation/mixPose.js';
import type { PoseReader, PoseSource } from '../animation/PoseSource.js';
import type { PartFlip } from '../animation/Rig.js';
import { jointParents } from '../character/collectRig.js';
import {
  AFFINE_SIZE,
  MATRIX_TEXELS,
  PARAM_MORPH_TEXEL,
  PARAM_ROWS,
  PARAM_STRIDE,
  REST_FRAME,
} from '../constants.js';
import {
  type AffineArray,
  affineFromMatrix4,
  isSingular,
  linearDeterminant,
  multiplyAffine,
} from '../utils/affine.js';
import type { Steps } from '../utils/slices.js';
import type { Encoding, Poses, RigBake } from './BakeOptions.js';
import { findChangedParts } from './measureParts.js';
import { bakedClip, frameTime, type PlannedClip } from './planClips.js';
import type { RigPoser } from './RigPoser.js';
import { checkPose } from './skeleton.js';

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
const frameSource: PoseSource = /*@__PURE__*/ Object.assign({}, restSource, {
  name: 'frames',
  hasFrames: true,
  atRest: restSource,
});

/**
 * Skinning matrices frame by frame, which each vertex reads and mixes, without a pass of its own: for the option `encoding`, and for
 * files that were baked with it.
 *
 * ```ts
 * const character = bakeCharacter(gltf.scene, gltf.animations, { encoding: frames });
 * ```
 *
 * @category Bake
 */
export const frames: Encoding = {
  name: 'frames',
  poseSource: frameSource,
  findFlips: findPartFlips,
  bake: bakeFrames,
};

/** Samples, measures and stores every pose. */
function* bakeFrames(bake: RigBake): Steps<Poses> {
  const { clips: bound, poser, boxes, maxTextureSize, morphNames, extractor, precision } = bake;
  const { rig } = poser;
  const { jointNames, morphRest } = rig;
  const frames = bound.reduce((sum, { count }) => sum + count, 1);
  const joints = jointNames.length;
  const stride = joints * MATRIX_TEXELS + Math.ceil(morphNames.length / 4);
  const layout = layoutTexture(frames, stride, maxTextureSize);
  const texels = new Float32Array(layout.width * layout.height * 4);
  const pose = new Float64Array(joints * AFFINE_SIZE);

  const storeFrame = (frame: number, clip?: string): void => {
    checkPose(rig, pose, clip);
    const at = frameTexel(layout, frame) * 4;
    texels.set(pose, at);
    const influences = poser.morphs();
    // The difference from the rest pose: it is added to the influences that each instance has.
    for (let i = 0; i < morphNames.length; i++) texels[at + pose.length + i] = influences[i] - morphRest[i];
  };

  readPose(poser, pose);
  const restBounds = new Box3();
  expandByPose(restBounds, boxes, pose);
  storeFrame(REST_FRAME);

  const clips: BakedClip[] = [];
  yield 0;

  for (const one of bound) {
    const { clip, name, start, count } = one;
    poser.play(clip, one.channels);

    const bounds = new Box3();
    const rootMotion = extractor?.inPlace.has(name) ? new Float32Array(count * MOTION_SIZE) : null;
    for (let i = 0; i < count; i++) {
      poser.sample(frameTime(i, count, clip.duration));
      readPose(poser, pose);
      if (rootMotion !== null) {
        extractor?.measure(poser, i, rootMotion);
        extractor?.moveBack(rootMotion, i, 0, pose);
      }
      expandByPose(bounds, boxes, pose);
      storeFrame(start + i, `clip "${clip.name}"`);
      if (i % 4 === 3) yield (0.9 * (start + i)) / frames;
    }
    if (bounds.isEmpty()) bounds.copy(restBounds);
    clips.push(bakedClip({ ...one, duration: clip.duration }, bounds, rootMotion));
    yield (0.9 * (start + count)) / frames;
  }

  return {
    texels: precision === 'half' ? yield* toHalfTexels(texels) : texels,
    layout,
    frames,
    clips,
    jointParents: jointParents(rig),
    restBounds: boxToArray(restBounds),
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

const _bits = /*@__PURE__*/ new Uint32Array(1);
const _float = /*@__PURE__*/ (() => new Float32Array(_bits.buffer))();

/** The nearest half float, as its bits. `DataUtils.toHalfFloat` rounds towards zero, which doubles the largest error. */
function toHalf(value: number): number {
  _float[0] = value;
  _bits[0] += 0xfff + ((_bits[0] >>> 13) & 1);
  return DataUtils.toHalfFloat(_float[0]);
}

const _model = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);
const _scratch = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);

/** Writes skinning matrices, also of joints that depend on where their mesh is. */
export function readPose(poser: RigPoser, out: Float64Array): void {
  poser.readJoints(out);
  for (const [joint, mesh] of poser.rig.jointMeshes.entries()) {
    if (mesh === null) continue;
    const { node, bindInverse, vanishes, side } = mesh;
    const at = joint * AFFINE_SIZE;
    affineFromMatrix4(poser.nodes[node].matrixWorld, _model, 0);
    if (bindInverse !== null) {
      multiplyAffine(bindInverse, 0, out, at, _scratch, 0);
      multiplyAffine(_model, 0, _scratch, 0, out, at);
    }
    const otherSide = side !== 0 && linearDeterminant(_model, 0) < 0 !== side < 0;
    if (!otherSide && !(vanishes && isSingular(_model, 0))) continue;
    // Shrink the vertices to a point in the mesh's origin.
    out.fill(0, at, at + AFFINE_SIZE);
    for (let i = 3; i < AFFINE_SIZE; i += 4) out[at + i] = _model[i];
  }
}

/** Gives parts that clips mirror or flatten joints of their own: those that have one matrix in every pose share theirs. */
export function* findPartFlips(poser: RigPoser, clips: readonly PlannedClip[]): Steps<PartFlip[]> {
  const groups = new Map<number, number>();
  const tracks = clips.flatMap(({ clip }) => clip.tracks);
  const moved = new Set(tracks.map(({ name }) => poser.targetOf(name).node));
  return (yield* findChangedParts(poser, clips)).map(({ part, mirrored }) => {
    const anchor = anchorOf(poser, poser.rig.parts[part].node, moved);
    const group = groups.get(anchor) ?? groups.size;
    groups.set(anchor, group);
    return { part, group, mirrored };
  });
}

/**
 * The uppermost node that has the mesh's matrix in every pose: the mesh itself, or its parent if the mesh has no transform
 * of its own and no clip moves it, and so on.
 */
function anchorOf({ rig, nodes }: RigPoser, mesh: number, moved: ReadonlySet<number>): number {
  let node = mesh;
  while (rig.parents[node] !== -1 && !moved.has(node) && nodes[node].matrix.equals(IDENTITY))
    node = rig.parents[node];
  return node;
}

const IDENTITY = /*@__PURE__*/ new Matrix4();
