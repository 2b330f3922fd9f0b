import { Matrix4, Quaternion } from 'three';
import { AFFINE_SIZE } from '../constants.js';
import type { JointBoxes } from '../poses/jointBoxes.js';
import { type Rig, TRS_SIZE } from '../poses/Rig.js';
import { MOTION_SIZE } from '../poses/RootMotion.js';
import { PROPERTY_OFFSETS } from '../tracks/mixPose.js';
import { ROTATION, TRANSLATION } from '../tracks/PoseTracks.js';
import { affineFromMatrix4, affineToMatrix4, isSingular, multiplyAffine } from '../utils/affine.js';
import type { ClipReader, StoredClip } from './ClipReader.js';
import type { Channel } from './channels.js';
import { motionBack, type RootMotionExtractor } from './extractRootMotion.js';
import { nodesAbove } from './nodesAbove.js';
import { invertedRest, type PoseSampler } from './PoseSampler.js';
import type { Steps } from './runBake.js';

/** How far from a rotation a matrix may be to be stored as one. */
const ROTATION_TOLERANCE = 1e-6;

/** Turns up to this many radians are rounding errors. */
const STILL_TURN = 1e-6;

const _matrix = /*@__PURE__*/ new Matrix4();
const _turn = /*@__PURE__*/ new Quaternion();
const _value = /*@__PURE__*/ new Quaternion();

/**
 * The nodes whose own transforms have to be moved back to take a node's way out of a pose: the node itself, and whatever
 * does not hang on it. What is above it stays as it is.
 *
 * @returns Null if vertices follow a joint above the node, which would have to be moved back but not what is below it.
 */
export function nodesToMove(rig: Rig, node: number, boxes: JointBoxes): number[] | null {
  const { parents, jointNodes, fixed } = rig;
  const above = nodesAbove(parents, [node]);
  above[node] = 0;
  const needed = nodesAbove(parents, jointNodes);
  // No clip moves nodes that update their matrix themselves; what hangs on them is moved instead.
  const stays = above.map((isAbove, i) => (isAbove === 1 || fixed[i] === 1 ? 1 : 0));
  for (let i = 1; i < parents.length; i++) if (stays[parents[i]] === 0) stays[i] = 0;

  const moved: number[] = [];
  for (let i = 0; i < parents.length; i++) {
    if (needed[i] === 1 && stays[i] === 0 && (parents[i] === -1 || stays[parents[i]] === 1)) moved.push(i);
  }
  const isFollowed = (joint: number) => boxes[joint * 6] <= boxes[joint * 6 + 3];
  return jointNodes.some((place, joint) => stays[place] === 1 && isFollowed(joint)) ? null : moved;
}

/** Takes root motion out of a clip that is stored as channels, and keeps it as `StoredClip.rootMotion`. */
export class ChannelMover {
  private readonly pose: Float64Array;
  private readonly before: Float64Array;
  private readonly back = new Float64Array(AFFINE_SIZE);
  private readonly parent = new Float64Array(AFFINE_SIZE);
  private readonly inverse = new Float64Array(AFFINE_SIZE);
  private readonly scratch = new Float64Array(AFFINE_SIZE);
  /** By what a node's own transform is multiplied from the left. */
  private readonly change = new Float64Array(AFFINE_SIZE);

  /** @param nodes See {@link nodesToMove}. */
  constructor(
    private readonly rig: Rig,
    private readonly extractor: RootMotionExtractor,
    private readonly nodes: readonly number[],
    private readonly reader: ClipReader,
  ) {
    this.pose = new Float64Array(rig.jointNames.length * AFFINE_SIZE);
    this.before = invertedRest(rig);
  }

  /**
   * Moves the poses of a clip back, frame by frame.
   *
   * @param sampler Has the clip chosen.
   * @returns Whether all could be moved. A node below a scale that is not the same along all axes cannot be turned.
   */
  *move(clip: StoredClip, sampler: PoseSampler, duration: number): Steps<boolean> {
    const { frames } = clip;
    const step = frames === 1 ? 0 : duration / (frames - 1);
    const motion = new Float32Array(frames * MOTION_SIZE);
    clip.rootMotion = motion;
    for (let frame = 0; frame < frames; frame++) {
      sampler.sample(frame * step, this.pose);
      this.extractor.measure(sampler, frame, motion);
      if (frame % 8 === 7) yield 0;
    }
    let turns = false;
    for (let i = 3; i < motion.length; i += MOTION_SIZE) turns ||= Math.abs(motion[i]) > STILL_TURN;
    for (let i = 3; i < motion.length; i += MOTION_SIZE) if (!turns) motion[i] = 0;
    if (motion.every((value) => value === 0)) return true;

    const moved = this.nodes.map((node) => ({
      node,
      position: this.openChannel(clip, node, TRANSLATION),
      rotation: turns ? this.openChannel(clip, node, ROTATION) : null,
    }));
    for (let frame = 0; frame < frames; frame++) {
      if (frame % 8 === 7) yield 0;
      sampler.sample(frame * step, this.pose);
      for (const { node, position, rotation } of moved) {
        if (!this.findChange(sampler, node, motion, frame)) return false;
        movePosition(position.values as Float32Array, frame * 3, this.change);
        if (rotation === null) continue;
        if (!this.readTurn()) return false;
        const values = rotation.values as Float32Array;
        _value
          .fromArray(values, frame * 4)
          .premultiply(_turn)
          .toArray(values, frame * 4);
      }
    }
    for (const { position, rotation } of moved) {
      this.reader.findConstant(position);
      if (rotation !== null) this.reader.findConstant(rotation);
    }
    return true;
  }

  /** The channel of a property, made if the clip has none, with a value of its own in every frame. */
  private openChannel({ channels, frames }: StoredClip, node: number, property: number): Channel {
    const size = property === ROTATION ? 4 : 3;
    let channel = channels.find((one) => one.node === node && one.property === property);
    const values = new Float32Array(frames * size);
    for (let i = 0; i < values.length; i++) {
      const rest = this.rig.rest[node * TRS_SIZE + PROPERTY_OFFSETS[property] + (i % size)];
      values[i] = channel === undefined ? rest : channel.values[channel.isConstant ? i % size : i];
    }
    if (channel === undefined) {
      channel = { node, property, stepped: false, values, size, isConstant: false, track: null };
      channels.push(channel);
    } else {
      Object.assign(channel, { values, stepped: false, isConstant: false });
    }
    return channel;
  }

  /** Finds what moves a node's own transform back: the motion, as seen from the node's parent. */
  private findChange(sampler: PoseSampler, node: number, motion: Float32Array, frame: number): boolean {
    const { rig, parent, inverse, back, scratch, change } = this;
    if (node === 0) parent.set(this.before);
    else sampler.readModel(rig.parents[node], parent);
    const [x, y, z] = rig.pivots.get(node) ?? [0, 0, 0];
    for (let i = 0; i < AFFINE_SIZE; i += 4) {
      parent[i + 3] += parent[i] * x + parent[i + 1] * y + parent[i + 2] * z;
    }
    if (isSingular(parent, 0)) return false;
    affineFromMatrix4(affineToMatrix4(parent, 0, _matrix).invert(), inverse, 0);
    motionBack(motion, frame * MOTION_SIZE, back);
    multiplyAffine(back, 0, parent, 0, scratch, 0);
    multiplyAffine(inverse, 0, scratch, 0, change, 0);
    return true;
  }

  /** Reads the rotation in `change`; false if it is none. */
  private readTurn(): boolean {
    const { change, scratch } = this;
    _turn.setFromRotationMatrix(affineToMatrix4(change, 0, _matrix)).normalize();
    affineFromMatrix4(_matrix.makeRotationFromQuaternion(_turn), scratch, 0);
    for (let i = 0; i < AFFINE_SIZE; i++) {
      if (i % 4 < 3 && !(Math.abs(scratch[i] - change[i]) <= ROTATION_TOLERANCE)) return false;
    }
    return true;
  }
}

function movePosition(values: Float32Array, at: number, change: Float64Array): void {
  const [x, y, z] = [values[at], values[at + 1], values[at + 2]];
  for (let row = 0; row < 3; row++) {
    const m = row * 4;
    values[at + row] = change[m] * x + change[m + 1] * y + change[m + 2] * z + change[m + 3];
  }
}
