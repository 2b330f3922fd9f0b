import { type AnimationClip, Matrix4, type Object3D, Quaternion, Vector3 } from 'three';
import { MOTION_SIZE } from '../animation/ClipTable.js';
import type { JointBoxes } from '../animation/jointBoxes.js';
import { PROPERTY_OFFSETS, ROTATION, TRANSLATION } from '../animation/PoseTracks.js';
import { type Rig, TRS_SIZE } from '../animation/Rig.js';
import { nodesAbove } from '../character/rigNodes.js';
import { AFFINE_SIZE } from '../constants.js';
import { affineFromMatrix4, affineOf, affineToMatrix4, isSingular } from '../utils/affine.js';
import { listNames } from '../utils/messages.js';
import type { Steps } from '../utils/slices.js';
import { type BoundClip, STILL } from './channels.js';
import type { PlannedClip } from './planClips.js';
import type { RigPoser } from './RigPoser.js';
import { type KeyedChannel, type KeyedClip, staysStill } from './readKeys.js';
import type { Skeleton } from './skeleton.js';

/** How far from a rotation a matrix may be to be stored as one. */
const ROTATION_TOLERANCE = 1e-6;

/** Turns up to this many radians are rounding errors. */
const STILL_TURN = 1e-6;

const _matrix = /*@__PURE__*/ new Matrix4();
const _position = /*@__PURE__*/ new Vector3();
const _scale = /*@__PURE__*/ new Vector3();
const _up = /*@__PURE__*/ new Vector3(0, 1, 0);
const _turn = /*@__PURE__*/ new Quaternion();
const _value = /*@__PURE__*/ new Quaternion();
const _back = /*@__PURE__*/ new Matrix4();
const _parent = /*@__PURE__*/ new Matrix4();
const _motion = /*@__PURE__*/ new Float32Array(MOTION_SIZE);

/** What to extract from clips that walk away from where they begin. */
export interface RootMotionOptions {
  /**
   * Name of the joint or node whose way over the ground is the character's. By default the first, parents before
   * children, whose position the clips change.
   */
  joint?: string;
  /** Whether turns about the y axis are extracted too. @default true */
  yaw?: boolean;
  /** Whether motion along y is extracted too, e.g. of clips that climb. @default false */
  vertical?: boolean;
  /** The clips, or the names that they are baked by; by default all of them. */
  clips?: readonly (string | Pick<AnimationClip, 'name'>)[];
}

/** Takes root motion out of clips, see {@link extractRootMotion}. */
export interface RootMotion {
  /** What `extractRootMotion` was called with. */
  readonly options: RootMotionOptions;
  /** @internal */
  plan(rig: Rig, planned: readonly (PlannedClip & BoundClip)[]): RootMotionExtractor;
}

/**
 * For the option `rootMotion` of `bakeCharacter` and the like: takes the way over the ground out of clips that move away from where they
 * begin. They then play on the spot, and `applyRootMotion` moves the instances instead.
 *
 * ```ts
 * bakeCharacter(root, clips, { rootMotion: extractRootMotion({ clips: ['Walk'] }) });
 * ```
 *
 * @category Bake
 */
export const extractRootMotion = (options: RootMotionOptions = {}): RootMotion => ({
  options,
  plan(rig, planned) {
    const names = planned.map(({ name }) => name);
    const wanted = options.clips?.map((clip) => (typeof clip === 'string' ? clip : clip.name));
    const unknown = wanted?.find((name) => !names.includes(name));
    if (unknown !== undefined) {
      throw new Error(
        `rootMotion.clips names "${unknown}", but the baked clips are ${listNames(names, unknown)}.`,
      );
    }
    const inPlace = new Set(wanted ?? names);
    const clips = planned.filter(({ name }) => inPlace.has(name));
    return new RootMotionExtractor(findRootNode(rig, clips, options), inPlace, options);
  },
});

/**
 * Measures the way of one node over the ground in the poses of a clip, frame by frame: the motion that leads from the node's
 * place in the first frame to its place in this one. The motions are kept as a curve, and the poses are moved back by them.
 */
export class RootMotionExtractor {
  private readonly first = new Vector3();
  private readonly firstTurn = new Quaternion();
  private readonly turn = new Quaternion();

  /**
   * @param node Index among the rig's nodes.
   * @param inPlace Names of the clips from which it is extracted.
   */
  constructor(
    private readonly node: number,
    readonly inPlace: ReadonlySet<string>,
    private readonly options: RootMotionOptions,
  ) {}

  /**
   * The nodes whose own transforms have to be moved back to take the node's way out of keys: the node itself, and whatever does not hang on
   * it. What is above it stays as it is: null if vertices follow that.
   */
  moved({ parents, jointNodes, fixed, place }: Skeleton, boxes: JointBoxes): number[] | null {
    const node = place[this.node];
    const stays = nodesAbove(parents, [node]);
    stays.delete(node);
    const moved: number[] = [];
    for (const [i, parent] of parents.entries()) {
      const isTop = parent === -1 || stays.has(parent);
      // No clip moves nodes that update their matrix themselves; what hangs on them is moved instead.
      if (isTop && !Number.isNaN(fixed[i * AFFINE_SIZE])) stays.add(i);
      else if (isTop && !stays.has(i)) moved.push(i);
    }
    const isFollowed = (joint: number) => boxes[joint * 6] <= boxes[joint * 6 + 3];
    return jointNodes.some((own, joint) => stays.has(own) && isFollowed(joint)) ? null : moved;
  }

  /**
   * Writes the motion from the first frame's place to that of the pose whose matrices the poser has just computed.
   *
   * @param frame Of the clip; call in order from 0.
   * @param motion `MOTION_SIZE` numbers a frame, of which this frame's are written.
   */
  measure({ nodes }: RigPoser, frame: number, motion: Float32Array): void {
    nodes[this.node].matrixWorld.decompose(_position, this.turn, _scale);
    if (frame === 0) {
      this.first.copy(_position);
      this.firstTurn.copy(this.turn).invert();
    }

    const at = frame * MOTION_SIZE;
    const { yaw: turns = true, vertical } = this.options;
    const yaw = turns ? this.yawOf(this.turn.multiply(this.firstTurn), frame, motion) : 0;
    const start = this.first.clone().applyAxisAngle(_up, yaw);
    motion[at] = _position.x - start.x;
    motion[at + 1] = vertical ? _position.y - this.first.y : 0;
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

  /**
   * Moves skinning matrices back by a motion, which is taken as rounded to float32, so that adding it again gives the same pose.
   *
   * @param alpha How far on the way from the frame to the next.
   */
  moveBack(motion: Float32Array, frame: number, alpha: number, pose: Float64Array): void {
    const at = frame * MOTION_SIZE;
    for (let i = 0; i < MOTION_SIZE; i++)
      _motion[i] = motion[at + i] * (1 - alpha) + (motion[at + MOTION_SIZE + i] ?? 0) * alpha;
    const back = backBy(_motion, 0);
    for (let i = 0; i < pose.length; i += AFFINE_SIZE)
      affineFromMatrix4(affineToMatrix4(pose, i, _matrix).premultiply(back), pose, i);
  }

  /**
   * Takes it out of the keys of a clip, which the poser has, frame by frame, and keeps it as `KeyedClip.rootMotion`.
   *
   * @param nodes What `moved` says.
   * @param size Of the character, in scene units.
   * @returns Whether all could be moved. A node below a scale that is not the same along all axes cannot be turned.
   */
  *moveKeys(
    poser: RigPoser,
    { place, rest }: Skeleton,
    nodes: readonly number[],
    clip: KeyedClip,
    duration: number,
    size: number,
  ): Steps<boolean> {
    const { frames } = clip;
    const step = frames === 1 ? 0 : duration / (frames - 1);
    const motion = new Float32Array(frames * MOTION_SIZE);
    clip.rootMotion = motion;
    for (let frame = 0; frame < frames; frame++) {
      poser.sample(frame * step);
      poser.update();
      this.measure(poser, frame, motion);
      if (frame % 8 === 7) yield 0;
    }
    const turns = motion.some((value, i) => i % MOTION_SIZE === 3 && Math.abs(value) > STILL_TURN);
    for (let i = 3; i < motion.length && !turns; i += MOTION_SIZE) motion[i] = 0;
    if (motion.every((value) => value === 0)) return true;

    const moved = nodes.map((node) => ({
      object: poser.nodes[place.indexOf(node)],
      position: openChannel(clip, rest, node, TRANSLATION),
      rotation: turns ? openChannel(clip, rest, node, ROTATION) : null,
    }));
    for (let frame = 0; frame < frames; frame++) {
      if (frame % 8 === 7) yield 0;
      poser.sample(frame * step);
      poser.update();
      for (const { object, position, rotation } of moved) {
        if (!findChange(object, motion, frame)) return false;
        const values = position.values as Float32Array;
        _position
          .fromArray(values, frame * 3)
          .applyMatrix4(_change)
          .toArray(values, frame * 3);
        if (rotation === null) continue;
        if (!readTurn()) return false;
        const turned = rotation.values as Float32Array;
        _value
          .fromArray(turned, frame * 4)
          .premultiply(_turn)
          .toArray(turned, frame * 4);
      }
    }
    for (const channel of moved.flatMap(({ position, rotation }) => [position, rotation])) {
      if (channel === null) continue;
      channel.isConstant = staysStill(channel.values, channel.size, channel.property, size);
      channel.trembles = channel.isConstant;
    }
    return true;
  }
}

/** The matrix that moves a pose back by a motion. */
function backBy(motion: Float32Array, at: number): Matrix4 {
  const [x, y, z, yaw] = motion.subarray(at);
  return _back.makeRotationY(-yaw).multiply(_matrix.makeTranslation(-x, -y, -z));
}

/**
 * The node whose motion is the character's.
 *
 * @throws If there is none, or none of the name in the options.
 */
function findRootNode(
  { nodes, parents, jointNodes, jointNames }: Rig,
  clips: readonly (PlannedClip & BoundClip)[],
  { joint }: RootMotionOptions,
): number {
  const moved = nodesAbove(parents, jointNodes);
  if (joint !== undefined) {
    const node = nodes.findIndex(({ name }, i) => name === joint && moved.has(i));
    if (node !== -1) return node;
    throw new Error(
      `rootMotion.joint is "${joint}", but no joint of that name moves the character; its joints are "${jointNames.slice(0, 12).join('", "')}"…`,
    );
  }
  let first = Infinity;
  for (const { channels } of clips) {
    for (const { node, property, tracks } of channels) {
      if (property !== TRANSLATION || !moved.has(node) || node > first) continue;
      if (tracks.some(({ curve }) => curve !== STILL)) first = node;
    }
  }
  if (first < Infinity) return first;
  throw new Error(
    `rootMotion is set, but no clip changes the position of a joint; name the joint as rootMotion.joint, or leave rootMotion out.`,
  );
}

/** The channel of a property, made if the clip has none, with a value of its own in every frame. */
function openChannel(
  { channels, frames }: KeyedClip,
  rest: Float64Array,
  node: number,
  property: number,
): KeyedChannel {
  const size = property === ROTATION ? 4 : 3;
  const at = channels.findIndex((one) => one.node === node && one.property === property);
  const values = new Float32Array(frames * size);
  for (let i = 0; i < values.length; i++) {
    values[i] =
      at === -1
        ? rest[node * TRS_SIZE + PROPERTY_OFFSETS[property] + (i % size)]
        : channels[at].values[channels[at].isConstant ? i % size : i];
  }
  const opened = { node, property, stepped: false, values, size, isConstant: false, trembles: false };
  if (at === -1) channels.push(opened);
  else channels[at] = opened;
  return opened;
}

/** By what a node's own transform is multiplied from the left. */
const _change = /*@__PURE__*/ new Matrix4();

/** Finds what moves a node's own transform back: the motion, as seen from the node's parent; false if there is nothing. */
function findChange(
  object: Object3D & { pivot?: Vector3 | null },
  motion: Float32Array,
  frame: number,
): boolean {
  _parent.copy((object.parent as Object3D).matrixWorld);
  if (object.pivot) _parent.multiply(_matrix.makeTranslation(object.pivot));
  if (isSingular(Float64Array.from(affineOf(_parent)), 0)) return false;
  const back = backBy(motion, frame * MOTION_SIZE);
  _change.copy(_parent).invert().multiply(back).multiply(_parent);
  return true;
}

/** Reads the rotation in `_change`; false if it is none. */
function readTurn(): boolean {
  const { elements } = _change;
  const turn = _matrix.makeRotationFromQuaternion(_turn.setFromRotationMatrix(_change).normalize());
  return turn.elements.every((value, i) => i >= 12 || Math.abs(value - elements[i]) <= ROTATION_TOLERANCE);
}
