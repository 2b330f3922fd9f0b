import { Box3 } from 'three';
import { AFFINE_SIZE, REST_FRAME } from '../constants.js';
import type { BoneTextureData } from '../encodings/BoneTextureData.js';
import type { Encoding } from '../encodings/Encoding.js';
import { frameTexel, layoutTexture } from '../encodings/textureLayout.js';
import { boxToArray } from '../poses/BoxArray.js';
import type { BakedClip } from '../poses/ClipTable.js';
import { expandByPose } from '../poses/jointBoxes.js';
import { MOTION_SIZE } from '../poses/RootMotion.js';
import { toHalf } from '../utils/toHalf.js';
import type { BakedCharacter } from './BakedCharacter.js';
import { checkPose } from './checkPose.js';
import { jointBinds, jointParents } from './collectRig.js';
import { movePoseBack, type RootMotionExtractor } from './extractRootMotion.js';
import { growByArcs } from './growByArcs.js';
import { PoseSampler } from './PoseSampler.js';
import type { PlannedClip } from './planClips.js';
import { SkippedTracks } from './SkippedTracks.js';

const NAME = 'BoneTexture.bake';

/** Largest relative error of a joint's rotation and scale up to which it is stored as a quaternion. */
const QUATERNION_TOLERANCE = 4e-6;

/** What baking into frames of skinning matrices needs. */
export interface FrameBake extends BakedCharacter {
  planned: readonly PlannedClip[];
  maxTextureSize: number;
  /** Whether clips move morph targets. */
  morphs: boolean;
  /** Extracts root motion from clips; null if it is to stay in them. */
  extractor: RootMotionExtractor | null;
  /** Names of the clips from which it is extracted. */
  inPlace: ReadonlySet<string>;
}

/** Samples, measures and encodes every pose; null where `mayFail` and the encoding cannot hold a joint. */
export function* bakeFrames(
  encoding: Encoding,
  { planned, rig, flips, boxes, maxTextureSize, morphs, extractor, inPlace }: FrameBake,
  mayFail: boolean,
): Generator<number, BoneTextureData | null, void> {
  const { jointNames } = rig;
  const frames = planned.reduce((sum, { count }) => sum + count, 1);
  const joints = jointNames.length;
  const size = encoding.texels * 4;
  const morphNames = morphs ? rig.morphNames : [];
  const stride = joints * encoding.texels + Math.ceil(morphNames.length / 4);
  const layout = layoutTexture(frames, stride, maxTextureSize, NAME);
  const texels = new Float32Array(layout.width * layout.height * 4);
  const { morphRest } = rig;
  const pose = new Float64Array(joints * AFFINE_SIZE);
  const sampler = new PoseSampler(rig);

  const encodeFrame = (frame: number, first: boolean, clip: string): boolean => {
    const at = frameTexel(layout, frame) * 4;
    const previous = first ? -1 : frameTexel(layout, frame - 1) * 4;
    checkPose(rig, pose, clip);
    for (let joint = 0; joint < joints; joint++) {
      const before = first ? -1 : previous + joint * size;
      const error = encoding.encode(pose, joint * AFFINE_SIZE, texels, at + joint * size, before);
      if (error <= QUATERNION_TOLERANCE) continue;
      if (mayFail) return false;
      throw new Error(
        `${NAME}: joint "${jointNames[joint]}" has shear, non-uniform or mirroring scale in ${clip}, ` +
          `which encoding "${encoding.name}" cannot hold; use "matrix" or "auto".`,
      );
    }
    // The difference from the rest pose: it is added to the influences that each instance has.
    for (let i = 0; i < morphNames.length; i++) {
      texels[at + joints * size + i] = sampler.influences[i] - morphRest[i];
    }
    return true;
  };

  sampler.sample(0, pose);
  const restBounds = new Box3();
  expandByPose(restBounds, boxes, pose);
  if (!encodeFrame(REST_FRAME, true, 'the rest pose')) return null;

  const clips: BakedClip[] = [];
  const skipped = new SkippedTracks(rig);
  yield 0;

  for (const { clip, name, start, count, timeOf } of planned) {
    skipped.add(sampler.setClip(clip));

    const bounds = new Box3();
    const rootMotion = extractor !== null && inPlace.has(name) ? new Float32Array(count * MOTION_SIZE) : null;
    for (let i = 0; i < count; i++) {
      sampler.sample(timeOf(i), pose);
      if (rootMotion !== null) {
        extractor?.measure(sampler, i, rootMotion);
        movePoseBack(rootMotion, i * MOTION_SIZE, pose);
      }
      expandByPose(bounds, boxes, pose);
      if (!encodeFrame(start + i, i === 0, `clip "${clip.name}"`)) return null;
      if (i % 4 === 3) yield (0.9 * (start + i)) / frames;
    }
    if (encoding.name === 'quaternion') growByArcs(texels, layout, start, count, bounds, boxes);
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

  skipped.warn();
  const { name } = encoding;
  return {
    texels,
    layout,
    frames,
    encoding: name,
    precision: 'float',
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
export function* toHalfTexels(texels: Float32Array): Generator<number, Uint16Array, void> {
  const halves = new Uint16Array(texels.length);
  for (let i = 0; i < texels.length; i++) {
    if (Math.abs(texels[i]) > 65504) {
      throw new Error(
        `${NAME}: a joint's matrix holds ${texels[i]}, beyond what a half float can; use precision "float", or scale the model down.`,
      );
    }
    halves[i] = toHalf(texels[i]);
    if (i % 4096 === 0) yield 0.9 + (0.1 * i) / texels.length;
  }
  return halves;
}
