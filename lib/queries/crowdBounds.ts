import { Box3, type InstancedBufferAttribute, Matrix4, Sphere, Vector3 } from 'three';
import type { BoneTexture } from '../animation/BoneTexture.js';
import {
  boxesOf,
  boxToArray,
  expandByJoint,
  expandJointBoxes,
  jointBoxesContain,
  type MorphRange,
} from '../animation/jointBoxes.js';
import { createPoseMix } from '../animation/mixPose.js';
import { sourceOf } from '../animation/PoseSource.js';
import { AFFINE_SIZE } from '../constants.js';
import type { DrawnCrowd } from '../core/Crowd.js';
import { affineFromMatrix4 } from '../utils/affine.js';

const _center = /*@__PURE__*/ new Vector3();
const _local = /*@__PURE__*/ new Vector3();
const _matrix = /*@__PURE__*/ new Matrix4();
const _place = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);
const _stamp = /*@__PURE__*/ new Float64Array(6);

/**
 * Computes the bounds of a crowd, and notices when they no longer hold: because instances moved, came or went, or because
 * the crowd shows other clips or another geometry. Bounds that the user set are the user's, and stay.
 */
export class CrowdBounds {
  private poses: Box3 | null = null;
  /** `extent` of the crowd that `poses` holds. */
  private extent = 0;
  /** The same of what edits poses. */
  private edits = 0;
  /** How far `poses` has grown by motions before skinning. */
  private movedBefore = 0;
  /** `poses`, grown by motions after skinning. */
  private readonly moved = new Box3();
  /** Bounds that were computed, and what they were computed for. */
  private box: Box3 | null = null;
  private sphere: Sphere | null = null;
  private matrices: InstancedBufferAttribute | null = null;
  private readonly stamp: number[] = [];

  constructor(private readonly crowd: DrawnCrowd) {}

  /** Box around every pose of the bone texture, and wherever motions move vertices from there, relative to an instance. */
  ofPoses(): Box3 {
    const { crowd } = this;
    const before = crowd.motions?.maxOffsetBefore ?? 0;
    const extent = this.extentNow;
    const edits = this.editsNow;
    if (
      this.poses === null ||
      this.extent !== extent ||
      this.edits !== edits ||
      this.movedBefore !== before
    ) {
      this.extent = extent;
      this.edits = edits;
      this.movedBefore = before;
      this.poses = this.findPoses(before);
    }
    const after = crowd.motions?.maxOffsetAfter ?? 0;
    if (after === 0 || this.poses.isEmpty()) return this.poses;
    return this.moved.copy(this.poses).expandByScalar(after);
  }

  /** @param before How far vertices may be moved from where they were modelled. */
  private findPoses(before: number): Box3 {
    const { crowd } = this;
    const { boneTexture, geometry } = crowd;
    const source = sourceOf(crowd);
    const isMorphed = geometry.morphAttributes.position !== undefined;
    const range = isMorphed ? morphRange(boneTexture, crowd.morphs) : undefined;
    const boxes = boxesOf(geometry, boneTexture.jointNames.length, range);
    if (before > 0) expandJointBoxes(boxes, before);
    const known = jointBoxesContain(boneTexture.jointBoxes, boxes);
    const poses = new Box3();
    source.expandBounds(crowd, poses, known ? undefined : boxes);
    // A source without joints does not look at their boxes.
    if (!source.hasJoints && !poses.isEmpty()) poses.expandByScalar(before);
    return poses;
  }

  computeBox(): void {
    const { crowd } = this;
    if (!this.hold()) this.dropComputed();
    crowd.boundingBox ??= new Box3();
    if (crowd.crowd.written?.places)
      crowd.boundingBox.set(_center.setScalar(-Infinity), _local.setScalar(Infinity));
    else crowdBox(crowd, this.ofPoses(), crowd.boundingBox);
    this.box = crowd.boundingBox;
  }

  computeSphere(): void {
    const { crowd } = this;
    if (!this.hold()) this.dropComputed();
    crowd.boundingSphere ??= new Sphere();
    if (crowd.crowd.written?.places) crowd.boundingSphere.set(_center.setScalar(0), Infinity);
    else {
      crowd.views.updateGroups();
      crowd.views.groups.boundingSphere(crowd.boundingSphere);
    }
    this.sphere = crowd.boundingSphere;
  }

  /** Lets go of bounds for which instances moved since (`instanceMatrix.needsUpdate`), came, went, were shown or hidden. */
  dropStale(): void {
    if ((this.box !== null || this.sphere !== null) && !this.hold()) this.dropComputed();
  }

  /** Lets go of all that was computed: the crowd shows something else now. */
  drop(): void {
    this.poses = null;
    this.dropComputed();
  }

  /** Lets go of bounds that the crowd took over from another, which computed them: nothing else would. */
  dropCopied({ crowd, box, sphere }: CrowdBounds): void {
    if (box !== null && crowd.boundingBox === box) this.crowd.boundingBox = null;
    if (sphere !== null && crowd.boundingSphere === sphere) this.crowd.boundingSphere = null;
  }

  private dropComputed(): void {
    const { crowd } = this;
    if (crowd.boundingBox === this.box) crowd.boundingBox = null;
    if (crowd.boundingSphere === this.sphere) crowd.boundingSphere = null;
    this.box = null;
    this.sphere = null;
  }

  /** Whether what was computed holds. From then on it is asked whether anything has changed since. */
  private hold(): boolean {
    const { crowd, matrices, stamp } = this;
    const { instanceMatrix, count, visibility, motions } = crowd;
    _stamp[0] = instanceMatrix.version;
    _stamp[1] = count;
    _stamp[2] = visibility.version;
    _stamp[3] = this.extentNow;
    _stamp[4] = this.editsNow;
    _stamp[5] = motions === null ? 0 : motions.maxOffsetBefore + motions.maxOffsetAfter;
    let same = matrices === instanceMatrix;
    for (let i = 0; i < _stamp.length; i++) {
      if (stamp[i] !== _stamp[i]) same = false;
      stamp[i] = _stamp[i];
    }
    this.matrices = instanceMatrix;
    return same;
  }

  /** Another number when instances may be posed in other ways than their clips do. */
  private get editsNow(): number {
    return this.crowd.crowd.poseEdits?.extentVersion ?? 0;
  }

  /** Grows when instances may be morphed in other ways. */
  private get extentNow(): number {
    const { morphs } = this.crowd;
    morphs.growByShared();
    return morphs.version;
  }
}

/** Box around `poseBounds` placed by the matrices of the instances that are drawn. */
function crowdBox({ instanceMatrix, count, visibility }: DrawnCrowd, poseBounds: Box3, target: Box3): void {
  target.makeEmpty();
  const box = boxToArray(poseBounds);
  for (let i = 0; i < count; i++) {
    if (!visibility.isDrawn(i)) continue;
    affineFromMatrix4(_matrix.fromArray(instanceMatrix.array, i * 16), _place, 0);
    expandByJoint(target, box, 0, _place, 0);
  }
}

/** What clips add: found by reading every frame, and the same ever after. A bone texture that becomes a copy of another has new clips. */
const added = /*@__PURE__*/ new WeakMap<BoneTexture['clips'], MorphRange>();

/**
 * The influences that morph targets may have, from at most 0 to at least 1: what instances have of their own, and what clips add to it.
 *
 * @param own What instances have had of their own.
 */
function morphRange(boneTexture: BoneTexture, { least, most }: MorphRange): MorphRange {
  const { clips } = boneTexture;
  let byClips = added.get(clips);
  if (byClips === undefined) {
    byClips = addedByClips(boneTexture);
    added.set(clips, byClips);
  }
  const { least: lowest, most: highest } = byClips;
  return {
    least: Array.from(least, (value, i) => Math.min(value + (lowest[i] ?? 0), 0)),
    most: Array.from(most, (value, i) => Math.max(value + (highest[i] ?? 0), 1)),
  };
}

function addedByClips(boneTexture: BoneTexture): MorphRange {
  const { morphNames, clips } = boneTexture;
  const influences = new Float64Array(morphNames.length);
  const least = influences.slice();
  const most = influences.slice();
  const pose = createPoseMix();
  const [played] = pose.clips;
  for (const { start, count } of influences.length > 0 ? clips : []) {
    played.start = start;
    for (let frame = start; frame < start + count; frame++) {
      played.frame0 = played.frame1 = frame;
      boneTexture.reader.pose(pose);
      boneTexture.reader.readMorphs(influences);
      for (let i = 0; i < influences.length; i++) {
        least[i] = Math.min(least[i], influences[i]);
        most[i] = Math.max(most[i], influences[i]);
      }
    }
  }
  return { least, most };
}
