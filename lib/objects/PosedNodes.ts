import { Matrix4, Quaternion, Vector3 } from 'three';
import { SLOT_BY_HAND, SLOT_PROPORTION } from '../../shaders/editLayout.js';
import {
  createPoseMix,
  type EditModel,
  type MixedLayer,
  mixNode,
  playedActions,
} from '../animation/mixPose.js';
import type { PosedCrowd } from '../animation/PoseSource.js';
import {
  isStill,
  type PoseTracks,
  TRACK_ABSENT,
  TRACK_TREMBLES,
  trackEntry,
} from '../animation/PoseTracks.js';
import { TRS_SIZE } from '../animation/Rig.js';
import { AFFINE_SIZE } from '../constants.js';
import type { DrawnCrowd } from '../core/Crowd.js';
import { jointMatrix, shownAs } from '../crowd/poseQueries.js';
import type { EditStore } from '../features/jointEdits/EditStore.js';
import { affineToMatrix4, composeAffine, multiplyAffine } from '../utils/affine.js';

const _mix = /*@__PURE__*/ createPoseMix();
const _layers: MixedLayer[] = [];
/** Whose layers these are: one instance is asked for many of its nodes. */
const _played: { by: NodePoses | null; version: number } = { by: null, version: 0 };

const _scale = /*@__PURE__*/ new Float64Array(3);
const _matrix = /*@__PURE__*/ new Matrix4();
const _bind = /*@__PURE__*/ new Matrix4();
const _parent = /*@__PURE__*/ new Matrix4();
const _position = /*@__PURE__*/ new Vector3();
const _quaternion = /*@__PURE__*/ new Quaternion();
const _size = /*@__PURE__*/ new Vector3();

/** What an instance is posed as: whoever holds one asks for single nodes of it. */
export abstract class PosedNodes {
  /** Position, quaternion and scale of each node, as far as they were asked for: `TRS_SIZE` numbers. */
  readonly trs: Float64Array;
  /** Nodes that are joints. */
  readonly joints: ReadonlySet<number>;
  /** Grows when the pose may have changed. */
  version = 1;
  protected instance = -1;
  private elapsed = 0;
  private playback = -1;
  private edited = -1;

  constructor(
    protected readonly crowd: DrawnCrowd,
    /** Names of the nodes. The first is the character's root, in whose place the instance stands. */
    readonly names: readonly string[],
    /** Parent of each node, below which it hangs; parents come first. */
    readonly parents: ArrayLike<number>,
    joints: Iterable<number>,
  ) {
    this.joints = new Set(joints);
    this.trs = new Float64Array(names.length * TRS_SIZE);
  }

  /** Call before anything is read: the pose is that of an instance, now. */
  update(instance: number): void {
    const { playback } = this.crowd;
    const { edits } = this;
    edits?.place(instance);
    const edited = edits?.version ?? 0;
    const { version } = playback;
    const elapsed = playback.time.timeOf(instance);
    const isSame = this.instance === instance && this.elapsed === elapsed;
    if (isSame && this.playback === version && this.edited === edited) return;
    this.instance = instance;
    this.elapsed = elapsed;
    this.playback = version;
    this.edited = edited;
    this.version++;
  }

  /**
   * Reads position, quaternion and scale of a node, relative to its parent. Proportions are left out.
   *
   * @returns Where they begin in `trs`.
   */
  local(node: number): number {
    const at = node * TRS_SIZE;
    this.readLocalMatrix(node, _matrix).decompose(_position, _quaternion, _size);
    _position.toArray(this.trs, at);
    _quaternion.toArray(this.trs, at + 3);
    _size.toArray(this.trs, at + 7);
    return at;
  }

  /** Reads the matrix of a node relative to its parent, with proportions. */
  readLocalMatrix(node: number, target: Matrix4): Matrix4 {
    this.readModelMatrix(this.parents[node], _parent).invert();
    return this.readModelMatrix(node, target).premultiply(_parent);
  }

  /** Reads the matrix of a node relative to the instance. */
  abstract readModelMatrix(node: number, target: Matrix4): Matrix4;

  /** Reads what `local` does before edits; only where there can be edits. `out` has `TRS_SIZE` numbers for each node. */
  readUnedited?(node: number, out: Float64Array): void;
  /** Whether what plays holds a property of a node still, but for rounding errors. */
  trembles?(node: number, property: number): boolean;
  /** Whether no clip moves a property of a node. */
  isStill?(node: number, property: number): boolean;

  protected get edits(): EditStore | null {
    return storeOf(this.crowd);
  }
}

/**
 * Poses single nodes of an instance, each when it is asked for: what `trackPoses` does with all of them. A turret that is
 * turned in each frame costs what the clips do to its one joint, a hand what is done to the arm.
 */
export class NodePoses extends PosedNodes {
  private readonly locals: Float64Array;
  private readonly models: Float64Array;
  /** For each node the version that its numbers are of. */
  private readonly localVersions: Uint32Array;
  private readonly modelVersions: Uint32Array;

  constructor(
    crowd: DrawnCrowd,
    private readonly tracks: PoseTracks,
  ) {
    const { names, parents, jointNodes } = tracks;
    const nodes = parents.length;
    super(crowd, names, parents, jointNodes);
    this.locals = new Float64Array(nodes * AFFINE_SIZE);
    this.models = new Float64Array(nodes * AFFINE_SIZE);
    this.localVersions = new Uint32Array(nodes);
    this.modelVersions = new Uint32Array(nodes);
  }

  override local(node: number): number {
    const at = node * TRS_SIZE;
    if (this.localVersions[node] === this.version) return at;
    this.composeLocal(node);
    if (!this.isEditedInModel(node)) return at;
    const scale = this.trs.slice(at + 7, at + 10);
    super.local(node);
    this.trs.set(scale, at + 7);
    return at;
  }

  override readLocalMatrix(node: number, target: Matrix4): Matrix4 {
    if (this.isEditedInModel(node)) return super.readLocalMatrix(node, target);
    this.composeLocal(node);
    return affineToMatrix4(this.locals, node * AFFINE_SIZE, target);
  }

  override readUnedited(node: number, out: Float64Array): void {
    const { tracks } = shownAs(this.crowd, this.instance).boneTexture.data;
    mixNode(tracks as PoseTracks, this.played(), node, out);
    this.edits?.applyLive(this.instance, node, out);
  }

  override trembles(node: number, property: number): boolean {
    for (const { actions } of this.played()) {
      for (const { clip } of actions) {
        const entry = trackEntry(this.tracks, clip, node, property);
        if (entry !== TRACK_ABSENT && (entry & TRACK_TREMBLES) !== 0) return true;
      }
    }
    return false;
  }

  override isStill(node: number, property: number): boolean {
    return isStill(this.tracks, node, property);
  }

  override readModelMatrix(node: number, target: Matrix4): Matrix4 {
    if (this.modelVersions[node] !== this.version) {
      const edit = this.edits?.modelEdits(this.instance);
      if (edit === undefined) this.composeChain(node);
      else this.composeAll(edit);
    }
    return affineToMatrix4(this.models, node * AFFINE_SIZE, target);
  }

  /** What the instance plays now. */
  private played(): readonly MixedLayer[] {
    if (_played.by !== this || _played.version !== this.version) {
      playedActions(this.crowd.playback.pose(this.instance, true, _mix), this.tracks, _layers);
      _played.by = this;
      _played.version = this.version;
    }
    return _layers;
  }

  /** Whether code has turned or moved a node relative to the instance, so that its own numbers do not say where it is. */
  private isEditedInModel(node: number): boolean {
    return this.edits?.hasModelEdits(this.instance, node) === true;
  }

  /** Brings a node's numbers in `trs` and its matrix in `locals` up to date, without edits relative to the root. */
  private composeLocal(node: number): void {
    if (this.localVersions[node] === this.version) return;
    this.localVersions[node] = this.version;
    const { trs, tracks, locals, instance, edits } = this;
    const at = node * TRS_SIZE;
    const to = node * AFFINE_SIZE;
    this.readUnedited(node, trs);
    edits?.applyNode(instance, node, SLOT_BY_HAND, trs);
    if (!Number.isNaN(tracks.fixed[to])) {
      for (let i = to; i < to + AFFINE_SIZE; i++) locals[i] = tracks.fixed[i];
      return;
    }
    for (let i = 0; i < 3; i++) _scale[i] = trs[at + 7 + i];
    edits?.applyNode(instance, node, SLOT_PROPORTION, trs);
    composeAffine(trs, at, locals, to);
    for (let i = 0; i < 3; i++) trs[at + 7 + i] = _scale[i];
  }

  private composeChain(node: number): void {
    const parent = this.parents[node];
    if (parent >= 0 && this.modelVersions[parent] !== this.version) this.composeChain(parent);
    this.compose(node);
  }

  /** Edits of matrices relative to the root are applied on the way down, to all nodes in their order. */
  private composeAll(edit: EditModel): void {
    for (let node = 0; node < this.parents.length; node++) {
      this.compose(node);
      edit(node, this.models, node * AFFINE_SIZE);
    }
  }

  private compose(node: number): void {
    const { parents, tracks, locals, models } = this;
    const at = node * AFFINE_SIZE;
    this.composeLocal(node);
    const parent = parents[node];
    if (parent < 0) multiplyAffine(tracks.before, 0, locals, at, models, at);
    else multiplyAffine(models, parent * AFFINE_SIZE, locals, at, models, at);
    this.modelVersions[node] = this.version;
  }
}

/**
 * Poses single joints of an instance of a crowd whose bone texture has matrices of joints, and knows nothing of other nodes.
 * Joints of skins in detached bind mode are left out: their matrices do not end at the joint.
 */
export class JointPoses extends PosedNodes {
  private readonly models: Matrix4[];
  private readonly versions: Uint32Array;
  /** Joint of each node. */
  private readonly numbers: readonly number[];

  constructor(crowd: DrawnCrowd) {
    const { jointNames, jointBinds, jointParents } = crowd.boneTexture.data;
    const joints = [...jointNames.keys()].filter(
      (joint) => jointBinds[joint] !== null && jointParents?.[joint] !== joint,
    );
    const parents = joints.map((joint) => {
      let parent = jointParents?.[joint] ?? -1;
      while (parent >= 0 && !joints.includes(parent)) parent = jointParents?.[parent] ?? -1;
      return joints.indexOf(parent) + 1;
    });
    const names = ['', ...joints.map((joint) => jointNames[joint])];
    super(crowd, names, [-1, ...parents], names.keys());
    this.numbers = [-1, ...joints];
    this.models = names.map(() => new Matrix4());
    this.versions = new Uint32Array(names.length);
  }

  readModelMatrix(node: number, target: Matrix4): Matrix4 {
    const model = this.models[node];
    if (node > 0 && this.versions[node] !== this.version) {
      const { crowd, instance, numbers } = this;
      const joint = numbers[node];
      const bind = crowd.boneTexture.data.jointBinds[joint] as number[];
      affineToMatrix4(jointMatrix(crowd, instance, joint), 0, model).multiply(
        affineToMatrix4(bind, 0, _bind),
      );
      this.versions[node] = this.version;
    }
    return target.copy(model);
  }
}

/** The edits of a crowd's joints; null while there are none. Nothing else edits poses. */
export const storeOf = ({ crowd }: Pick<PosedCrowd, 'crowd'>): EditStore | null =>
  crowd.poseEdits as EditStore | null;
