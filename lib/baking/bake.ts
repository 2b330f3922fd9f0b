import type { AnimationClip, Mesh, Object3D } from 'three';
import { Box3, PropertyBinding } from 'three';
import { AFFINE_SIZE, REST_FRAME } from '../constants.js';
import type { Encoding, EncodingName } from '../encodings/Encoding.js';
import { encodingByName } from '../encodings/index.js';
import { frameTexel, layoutTexture, type TextureLayout } from '../encodings/textureLayout.js';
import type { BakedClip } from '../poses/ClipTable.js';
import { listNames } from '../poses/ClipTable.js';
import {
  createJointBoxes,
  expandByJoint,
  expandByPose,
  growJointBoxes,
  type JointBoxes,
} from '../poses/jointBoxes.js';
import { findRootNode, MOTION_SIZE, type RootMotionOptions, RootMotionTaker } from '../poses/RootMotion.js';
import type { BoneTextureData, Precision } from '../texture/BoneTexture.js';
import { toHalf } from '../utils/toHalf.js';
import { bakeTrackTexture } from './bakeTrackTexture.js';
import { hasTangents } from './bindTracks.js';
import { collectRig, jointBinds, type Rig } from './collectRig.js';
import { PoseSampler } from './PoseSampler.js';
import { findPartFlips, type PartFlip } from './partFlips.js';
import { checkFps, type PlannedClip, planClips } from './planClips.js';

const NAME = 'BoneTexture.bake';

/** One clip to bake, and how it differs from the others. */
export interface ClipChoice {
  /** The clip, or its name. */
  clip: AnimationClip | string;
  /** Name in the bone texture; by default the clip's own. */
  name?: string;
  /** Frames per second for this clip. */
  fps?: number;
}

/** What is baked, how finely, and how it is written. */
export interface BakeOptions {
  /**
   * Frames per second. Frames are mixed when drawn, so 30 looks smooth and 15 often does.
   * @default 30
   */
  fps?: number;
  /** Which clips to bake, in this order, by name or with a name and fps of their own. By default all of them. */
  clips?: readonly (string | ClipChoice)[];
  /**
   * `'matrix'` holds any transform in 3 texels a joint; `'quaternion'` holds rotation, translation and uniform scale in
   * 2. `'auto'` takes quaternions where every joint allows it. `'tracks'` keeps the clips' own keys: poses are exact at any
   * time and in any fade, vertices cost less, and each instance is posed once a frame in a pass of its own.
   * @default 'auto'
   */
  encoding?: EncodingName | 'auto';
  /**
   * `'half'` takes half the memory, at an error of about a thousandth of the character's height.
   * @default 'float'
   */
  precision?: Precision;
  /**
   * With encoding `'tracks'`, how far clips may be off that cannot be kept as they are (splines, Euler angles, keys at odd
   * times), as a share of the character's size.
   * @default 1e-4
   */
  maxError?: number;
  /**
   * Largest width and height of the texture. Devices take at least 2,048, nearly all 4,096, desktops 16,384
   * (`renderer.capabilities.maxTextureSize`).
   * @default 4096
   */
  maxTextureSize?: number;
  /**
   * Takes the way over the ground out of clips that leave their place, so that they play on the spot and
   * `SkinnedInstancedMesh.applyRootMotion` can move the instances instead.
   * @default false
   */
  rootMotion?: boolean | RootMotionOptions;
  /**
   * Names of nodes that no vertex follows, but that objects may be attached to, see `SkinnedInstancedMesh.attach`; joints
   * need not be named.
   * @default []
   */
  sockets?: readonly string[];
  /**
   * Whether morph targets are taken along, which cost every vertex a little for each of them; a crowd that is seen from
   * afar needs no faces.
   * @default true
   */
  morphTargets?: boolean;
}

/** {@link BakeOptions} and what goes with taking time. */
export interface BakeAsyncOptions extends BakeOptions {
  /** Called between slices with the share that is done, 0 to 1. */
  onProgress?: (progress: number) => void;
  /** Stops the work; the promise then rejects with the signal's reason. */
  signal?: AbortSignal;
}

const DEFAULTS = {
  fps: 30,
  encoding: 'auto',
  precision: 'float',
  maxTextureSize: 4096,
  maxError: 1e-4,
} as const satisfies BakeOptions;

/** Milliseconds of work between two breaks of `bakeAsync`: half of a frame at 60 Hz. */
const SLICE = 8;

/** Largest error of a joint's rotation and scale, relative, up to which a quaternion stands for its matrix. */
const QUATERNION_TOLERANCE = 4e-6;

/** A baking under way: yields its progress, 0 to 1, every millisecond or so, and returns the result. */
export type BakeSteps = Generator<number, BoneTextureData, void>;

/** Runs a baking in one go. */
export function runAll(steps: BakeSteps): BoneTextureData {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Runs a baking with breaks in which the page can draw and answer. */
export async function runInSlices(steps: BakeSteps, options: BakeAsyncOptions): Promise<BoneTextureData> {
  const { onProgress, signal } = options;
  const channel = new MessageChannel();
  const nextTask = () =>
    new Promise<void>((resolve) => {
      channel.port1.onmessage = () => resolve();
      channel.port2.postMessage(null);
    });

  try {
    for (;;) {
      signal?.throwIfAborted();
      const end = performance.now() + SLICE;
      let progress = 0;
      do {
        const step = steps.next();
        if (step.done) {
          onProgress?.(1);
          return step.value;
        }
        progress = step.value;
      } while (performance.now() < end);
      onProgress?.(progress);
      await nextTask();
    }
  } finally {
    channel.port1.close();
  }
}

/** The baking itself: samples every clip, encodes the poses, measures their bounds. */
export function* bakeSteps(root: Object3D, clips: readonly AnimationClip[], options: BakeOptions): BakeSteps {
  const { fps, encoding, precision, maxTextureSize, maxError } = { ...DEFAULTS, ...dropUndefined(options) };
  checkOptions(fps, encoding, precision, maxTextureSize, maxError);
  const planned = planClips(clips, options.clips, fps);
  const { sockets, morphTargets: morphing } = options;
  let rig = collectRig(root, { sockets, morphing });
  const flips = findPartFlips(rig, planned);
  if (flips.length > 0) rig = collectRig(root, { sockets, morphing, flips });
  yield 0;

  const frames = planned.reduce((sum, { count }) => sum + count, 1);
  const boxes = createJointBoxes(rig.jointNames.length);
  for (const part of rig.parts) {
    growJointBoxes(boxes, part.geometry, part.joints, part.rigid);
    if (part.mirrorJoints !== null) growJointBoxes(boxes, part.geometry, part.mirrorJoints, part.rigid);
    yield 0;
  }

  const bake = {
    planned,
    rig,
    flips,
    boxes,
    frames,
    maxTextureSize,
    ...planRootMotion(rig, planned, options.rootMotion),
  };
  if (encoding === 'tracks')
    return yield* bakeTrackTexture({ ...bake, morphs: movesMorphs(rig, planned), maxError });
  // Most models have quaternions throughout; where one has not, that shows in its first frames.
  let result =
    encoding === 'matrix' ? null : yield* bakeWith(encodingByName('quaternion'), bake, encoding === 'auto');
  result ??= yield* bakeWith(encodingByName('matrix'), bake, false);

  const { texels, ...data } = result as BoneTextureData & { texels: Float32Array };
  return precision === 'half'
    ? { ...data, precision, texels: yield* toHalfTexels(texels) }
    : { ...data, texels };
}

interface Bake {
  planned: PlannedClip[];
  rig: Rig;
  flips: PartFlip[];
  boxes: JointBoxes;
  frames: number;
  maxTextureSize: number;
  /** Takes root motion out of those clips. */
  taker: RootMotionTaker | null;
  inPlace: ReadonlySet<string>;
}

/** Samples, measures and encodes every pose; null where `mayFail` and the encoding cannot hold a joint. */
function* bakeWith(
  encoding: Encoding,
  { planned, rig, flips, boxes, frames, maxTextureSize, taker, inPlace }: Bake,
  mayFail: boolean,
): Generator<number, BoneTextureData | null, void> {
  const { jointNames } = rig;
  const joints = jointNames.length;
  const size = encoding.texels * 4;
  const morphNames = movesMorphs(rig, planned) ? rig.morphNames : [];
  const stride = joints * encoding.texels + Math.ceil(morphNames.length / 4);
  const layout = layoutTexture(frames, stride, maxTextureSize, NAME);
  const texels = new Float32Array(layout.width * layout.height * 4);
  const { morphRest } = rig;
  const pose = new Float64Array(joints * AFFINE_SIZE);
  const sampler = new PoseSampler(rig);

  const encodeFrame = (frame: number, first: boolean, clip: string): boolean => {
    const at = frameTexel(layout, frame) * 4;
    const previous = first ? -1 : frameTexel(layout, frame - 1) * 4;
    checkFinite(rig, pose, clip);
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
    // What clips add to the influences that instances have of their own, which begin as those of the rest pose.
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
  const missing = new Set<string>();
  const unsupported = new Set<string>();

  for (const { clip, name, start, count, timeOf } of planned) {
    const bound = sampler.setClip(clip);
    for (const track of bound.missing) missing.add(track);
    for (const track of bound.unsupported) unsupported.add(track);

    const bounds = new Box3();
    const rootMotion = taker !== null && inPlace.has(name) ? new Float32Array(count * MOTION_SIZE) : null;
    for (let i = 0; i < count; i++) {
      sampler.sample(timeOf(i), pose);
      if (rootMotion !== null) taker?.take(sampler, i, pose, rootMotion);
      expandByPose(bounds, boxes, pose);
      if (!encodeFrame(start + i, i === 0, `clip "${clip.name}"`)) return null;
      if (i % 16 === 15) yield (0.9 * (start + i)) / frames;
    }
    if (encoding.name === 'quaternion') growByArcs(texels, layout, start, count, bounds, boxes);
    if (bounds.isEmpty()) bounds.copy(restBounds);
    clips.push({
      name,
      start,
      count,
      duration: clip.duration,
      fps: (count - 1) / (clip.duration || 1),
      bounds,
      rootMotion,
      marks: [],
    });
    yield (0.9 * (start + count)) / frames;
  }

  warnAboutTracks(rig, missing, unsupported);
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
    flips,
    morphNames,
    restBounds,
    jointBoxes: boxes,
    tracks: null,
  };
}

/** Rotations between two frames whose half angle has a larger cosine leave the box of both ends by next to nothing. */
const STRAIGHT = 0.9999;

/** Between two frames a mixed quaternion carries vertices along an arc, which leaves the box of both ends half-way. */
function growByArcs(
  texels: Float32Array,
  layout: TextureLayout,
  start: number,
  count: number,
  bounds: Box3,
  boxes: JointBoxes,
): void {
  const { texels: size, decode } = encodingByName('quaternion');
  const middle = new Float64Array(AFFINE_SIZE);
  for (let frame = start + 1; frame < start + count; frame++) {
    let i = frameTexel(layout, frame - 1) * 4;
    let j = frameTexel(layout, frame) * 4;
    for (let joint = 0; joint * 6 < boxes.length; joint++, i += size * 4, j += size * 4) {
      if (isStraight(texels, i, j) || boxes[joint * 6] > boxes[joint * 6 + 3]) continue;
      decode(texels.subarray(i, i + size * 4), texels.subarray(j, j + size * 4), 0.5, middle, 0);
      expandByJoint(bounds, boxes, joint, middle, 0);
    }
  }
}

function isStraight(q: Float32Array, i: number, j: number): boolean {
  const dot = q[i] * q[j] + q[i + 1] * q[j + 1] + q[i + 2] * q[j + 2] + q[i + 3] * q[j + 3];
  const first = q[i] * q[i] + q[i + 1] * q[i + 1] + q[i + 2] * q[i + 2] + q[i + 3] * q[i + 3];
  const second = q[j] * q[j] + q[j + 1] * q[j + 1] + q[j + 2] * q[j + 2] + q[j + 3] * q[j + 3];
  return dot * dot > STRAIGHT * STRAIGHT * first * second;
}

function* toHalfTexels(texels: Float32Array): Generator<number, Uint16Array, void> {
  const halves = new Uint16Array(texels.length);
  for (let i = 0; i < texels.length; i++) {
    if (Math.abs(texels[i]) > 65504) {
      throw new Error(
        `${NAME}: a joint's matrix holds ${texels[i]}, beyond what a half float can; use precision "float", or scale the model down.`,
      );
    }
    halves[i] = toHalf(texels[i]);
    if (i % 16384 === 0) yield 0.9 + (0.1 * i) / texels.length;
  }
  return halves;
}

function planRootMotion(
  rig: Rig,
  planned: readonly PlannedClip[],
  options: BakeOptions['rootMotion'],
): Pick<Bake, 'taker' | 'inPlace'> {
  if (!options) return { taker: null, inPlace: new Set() };
  const chosen = options === true ? {} : options;
  const names = planned.map(({ name }) => name);
  const unknown = chosen.clips?.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new Error(
      `${NAME}: rootMotion.clips names "${unknown}", but the baked clips are ${listNames(planned)}.`,
    );
  }
  const inPlace = new Set(chosen.clips ?? names);
  const clips = planned.filter(({ name }) => inPlace.has(name)).map(({ clip }) => clip);
  return { taker: new RootMotionTaker(findRootNode(rig, clips, chosen, NAME), chosen), inPlace };
}

/** What a float32 can hold. */
const LARGEST = 3.4e38;

function checkFinite({ jointNames }: Rig, pose: Float64Array, clip: string): void {
  const length = jointNames.length * AFFINE_SIZE;
  for (let i = 0; i < length; i++) {
    if (Math.abs(pose[i]) < LARGEST) continue;
    throw new Error(
      `${NAME}: the matrix of joint "${jointNames[Math.floor(i / AFFINE_SIZE)]}" holds ${pose[i]} in ${clip}; ` +
        'mend the transforms of the nodes above it, its bind matrices, or the clip.',
    );
  }
}

function checkOptions(
  fps: number,
  encoding: string,
  precision: string,
  maxTextureSize: number,
  maxError: number,
): void {
  checkFps(fps, 'fps');
  if (!['auto', 'matrix', 'quaternion', 'tracks'].includes(encoding)) {
    throw new Error(`${NAME}: encoding is "${encoding}"; use "auto", "matrix", "quaternion" or "tracks".`);
  }
  if (precision !== 'float' && precision !== 'half') {
    throw new Error(`${NAME}: precision is "${precision}"; use "float" or "half".`);
  }
  if (!(maxTextureSize >= 1))
    throw new Error(`${NAME}: maxTextureSize is ${maxTextureSize}; use a positive number.`);
  if (!(maxError > 0)) throw new Error(`${NAME}: maxError is ${maxError}; use a positive share of the size.`);
  if (encoding === 'tracks' && precision === 'half')
    throw new Error(`${NAME}: encoding "tracks" has no precision "half" yet; leave precision out.`);
}

/** Whether any clip gives a morph target of a part that is drawn another influence than it has at rest. */
function movesMorphs({ nodes, parts, morphRest }: Rig, planned: readonly PlannedClip[]): boolean {
  return planned.some(({ clip }) =>
    clip.tracks.some((track) => {
      const { name, values } = track;
      const { nodeName, propertyName, propertyIndex } = PropertyBinding.parseTrackName(name);
      if (propertyName !== 'morphTargetInfluences') return false;
      const mesh = PropertyBinding.findNode(nodes[0], nodeName) as Mesh;
      const part = parts.find((candidate) => candidate.mesh === mesh);
      if (part === undefined || part.morphOffset < 0) return false;
      const size = mesh.morphTargetInfluences?.length ?? 0;
      const first = mesh.morphTargetDictionary?.[propertyIndex as string] ?? Number(propertyIndex ?? 0);
      const restOf = (i: number) =>
        morphRest[part.morphOffset + first + (propertyIndex === undefined ? i % size : 0)];
      // also of values between which a spline has its tangents
      return hasTangents(track) || Array.from(values).some((value, i) => value !== restOf(i));
    }),
  );
}

function warnAboutTracks(rig: Rig, missing: Set<string>, unsupported: Set<string>): void {
  const named = (tracks: Set<string>) => listNames([...tracks].map((name) => ({ name })));
  if (missing.size > 0) {
    console.warn(
      `${NAME}: tracks skipped, since "${rig.root.name || rig.root.type}" has no such nodes: ${named(missing)}.`,
    );
  }
  if (unsupported.size > 0) {
    console.warn(
      `${NAME}: tracks skipped, since only position, rotation and scale, and morph targets of what is drawn, are baked: ${named(unsupported)}.`,
    );
  }
}

function dropUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
