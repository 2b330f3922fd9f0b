import type { AnimationClip } from 'three';
import { Matrix4, Quaternion, Vector3 } from 'three';
import { AFFINE_SIZE } from '../constants.js';
import { listNames } from '../poses/ClipTable.js';
import type { Rig } from '../poses/Rig.js';
import { MOTION_SIZE, type RootMotionOptions } from '../poses/RootMotion.js';
import { affineToMatrix4, multiplyAffine } from '../utils/affine.js';
import type { BakeOptions } from './BakeOptions.js';
import { nodesAbove } from './nodesAbove.js';
import type { PoseSampler } from './PoseSampler.js';
import type { PlannedClip } from './planClips.js';
import type { Steps } from './runBake.js';
import { trackTargetsOf } from './trackTargets.js';

const NAME = 'BoneTexture.bake';

const _matrix = /*@__PURE__*/ new Matrix4();
const _position = /*@__PURE__*/ new Vector3();
const _scale = /*@__PURE__*/ new Vector3();
const _up = /*@__PURE__*/ new Vector3(0, 1, 0);

/**
 * Measures the way of one node over the ground in the poses of a clip, frame by frame: the motion that leads from the node's
 * place in the first frame to its place in this one. The motions are kept as a curve, and the poses are moved back by them.
 */
export class RootMotionExtractor {
  readonly node: number;
  private readonly yaw: boolean;
  private readonly vertical: boolean;
  private readonly first = new Vector3();
  private readonly firstTurn = new Quaternion();
  private readonly turn = new Quaternion();
  private readonly model = new Float64Array(AFFINE_SIZE);

  constructor(node: number, { yaw = true, vertical = false }: RootMotionOptions) {
    this.node = node;
    this.yaw = yaw;
    this.vertical = vertical;
  }

  /**
   * Writes the motion from the first frame's place to that of the pose that the sampler has just sampled.
   *
   * @param frame Of the clip; call in order from 0.
   * @param motion `MOTION_SIZE` numbers a frame, of which this frame's are written.
   */
  measure(sampler: PoseSampler, frame: number, motion: Float32Array): void {
    sampler.readModel(this.node, this.model);
    affineToMatrix4(this.model, 0, _matrix).decompose(_position, this.turn, _scale);
    if (frame === 0) {
      this.first.copy(_position);
      this.firstTurn.copy(this.turn).invert();
    }

    const at = frame * MOTION_SIZE;
    const yaw = this.yaw ? this.yawOf(this.turn.multiply(this.firstTurn), frame, motion) : 0;
    const start = this.first.clone().applyAxisAngle(_up, yaw);
    motion[at] = _position.x - start.x;
    motion[at + 1] = this.vertical ? _position.y - this.first.y : 0;
    motion[at + 2] = _position.z - start.z;
    motion[at + 3] = yaw;
  }

  /** How far a rotation turns about y, in radians; of all angles that differ by whole turns the one nearest the frame before. */
  private yawOf({ y, w }: Quaternion, frame: number, motion: Float32Array): number {
    const before = frame === 0 ? 0 : motion[(frame - 1) * MOTION_SIZE + 3];
    // A rotation that turns y upside down has no such angle.
    if (y * y + w * w < 1e-8) return before;
    const yaw = 2 * Math.atan2(y, w);
    return yaw + Math.round((before - yaw) / (2 * Math.PI)) * 2 * Math.PI;
  }
}

/**
 * Writes the matrix that moves a pose back by a motion. Motions are taken as rounded to float32, so that adding them again
 * gives the same pose.
 *
 * @param motion `MOTION_SIZE` numbers from `at`.
 * @param out 12 numbers.
 */
export function motionBack(motion: Float32Array, at: number, out: Float64Array): void {
  const cos = Math.cos(motion[at + 3]);
  const sin = Math.sin(motion[at + 3]);
  const x = motion[at];
  const z = motion[at + 2];
  out.set([cos, 0, -sin, sin * z - cos * x, 0, 1, 0, -motion[at + 1], sin, 0, cos, -sin * x - cos * z]);
}

const _back = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);
const _joint = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);

/** Moves skinning matrices back by a motion, see {@link motionBack}. */
export function movePoseBack(motion: Float32Array, at: number, pose: Float64Array): void {
  motionBack(motion, at, _back);
  for (let i = 0; i < pose.length; i += AFFINE_SIZE) {
    _joint.set(pose.subarray(i, i + AFFINE_SIZE));
    multiplyAffine(_back, 0, _joint, 0, pose, i);
  }
}

/**
 * The node whose motion is the character's.
 *
 * @throws If there is none, or none of the name in the options.
 */
function* findRootNode(rig: Rig, clips: readonly AnimationClip[], options: RootMotionOptions): Steps<number> {
  const { names, parents } = rig;
  const moved = nodesAbove(parents, rig.jointNodes);

  if (options.joint !== undefined) {
    const node = names.findIndex((name, i) => name === options.joint && moved[i] === 1);
    if (node !== -1) return node;
    throw new Error(
      `${NAME}: rootMotion.joint is "${options.joint}", but no joint of that name moves the character; its joints are "${rig.jointNames.slice(0, 12).join('", "')}"…`,
    );
  }

  const targets = trackTargetsOf(rig);
  let first = -1;
  for (const clip of clips) {
    for (const { name, values } of clip.tracks) {
      const { node, property } = targets.find(name);
      if (property !== 'position' || !values.some((value, i) => value !== values[i % 3])) continue;
      if (node !== -1 && moved[node] === 1 && (first === -1 || node < first)) first = node;
    }
    yield 0;
  }
  if (first !== -1) return first;
  throw new Error(
    `${NAME}: rootMotion is set, but no clip changes the position of a joint; name the joint as rootMotion.joint, or leave rootMotion out.`,
  );
}

/**
 * Makes the extractor that the options ask for, and finds the clips from which it extracts.
 *
 * @throws If the options name a clip or a joint that is not there, or no clip moves a joint.
 */
export function* planRootMotion(
  rig: Rig,
  planned: readonly PlannedClip[],
  options: BakeOptions['rootMotion'],
): Steps<{ extractor: RootMotionExtractor | null; inPlace: ReadonlySet<string> }> {
  if (!options) return { extractor: null, inPlace: new Set() };
  const chosen = options === true ? {} : options;
  const names = planned.map(({ name }) => name);
  const wanted = chosen.clips?.map((clip) => (typeof clip === 'string' ? clip : clip?.name));
  const unknown = wanted?.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new Error(
      `${NAME}: rootMotion.clips names "${unknown}", but the baked clips are ${listNames(planned)}.`,
    );
  }
  const inPlace = new Set(wanted ?? names);
  const clips = planned.filter(({ name }) => inPlace.has(name)).map(({ clip }) => clip);
  return { extractor: new RootMotionExtractor(yield* findRootNode(rig, clips, chosen), chosen), inPlace };
}
