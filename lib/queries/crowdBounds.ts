import type { InstancedBufferAttribute } from 'three';
import { Box3, Matrix4, Sphere, Vector3 } from 'three';
import type { DrawnCrowd } from '../backends/DrawnCrowd.js';
import { growJointBoxes, jointBoxesContain } from '../poses/jointBoxes.js';
import { sourceOf } from '../sources/sources.js';

const _matrix = /*@__PURE__*/ new Matrix4();
const _box = /*@__PURE__*/ new Box3();
const _crowd = /*@__PURE__*/ new Box3();
const _center = /*@__PURE__*/ new Vector3();
const _local = /*@__PURE__*/ new Vector3();

/** Bounds that were computed, and what for. */
interface Computed<T> {
  bounds: T;
  matrices: InstancedBufferAttribute;
  version: number;
  count: number;
  drawn: number;
  reach: number;
}

/**
 * Computes the bounds of a crowd, and notices when they no longer hold: because instances moved, came or went, or because
 * the crowd shows other clips or another geometry. Bounds that the user set are the user's, and stay.
 */
export class CrowdBounds {
  private poses: Box3 | null = null;
  /** `reachVersion` of the edits that `poses` holds. */
  private reach = 0;
  private box: Computed<Box3> | null = null;
  private sphere: Computed<Sphere> | null = null;

  constructor(private readonly crowd: DrawnCrowd) {}

  /** Box around every pose of the bone texture, relative to an instance. */
  ofPoses(): Box3 {
    const { crowd } = this;
    if (this.poses === null || this.reach !== crowd.edits.reachVersion) {
      this.reach = crowd.edits.reachVersion;
      const { boneTexture, geometry } = crowd;
      const boxes = boneTexture.createJointBoxes();
      const joints = Int32Array.from(boneTexture.jointNames, (_, i) => i);
      growJointBoxes(boxes, geometry, joints, false);
      const known = jointBoxesContain(boneTexture.jointBoxes, boxes);
      this.poses = new Box3();
      sourceOf(crowd).expandBounds(crowd, this.poses, known ? undefined : boxes);
    }
    return this.poses;
  }

  computeBox(): void {
    const { crowd } = this;
    crowd.boundingBox ??= new Box3();
    crowdBox(crowd, this.ofPoses(), crowd.boundingBox);
    this.box = this.remember(crowd.boundingBox);
  }

  computeSphere(): void {
    const { crowd } = this;
    crowd.boundingSphere ??= new Sphere();
    const { views } = crowd;
    if (views.isUsed) {
      views.updateGroups();
      views.groups.boundingSphere(crowd.boundingSphere);
    } else {
      crowdSphere(crowd, this.ofPoses(), crowd.boundingSphere);
    }
    this.sphere = this.remember(crowd.boundingSphere);
  }

  /** Lets go of bounds for which instances moved since (`instanceMatrix.needsUpdate`), came, went, were shown or hidden. */
  dropStale(): void {
    if (this.box !== null && !this.holds(this.box)) this.dropBox();
    if (this.sphere !== null && !this.holds(this.sphere)) this.dropSphere();
  }

  /** Lets go of all that was computed: the crowd shows something else now. */
  drop(): void {
    this.poses = null;
    this.dropBox();
    this.dropSphere();
  }

  /** Lets go of bounds that the crowd took over from another, which computed them: nothing else would. */
  dropCopied(source: CrowdBounds): void {
    const { crowd, box, sphere } = source;
    if (box !== null && crowd.boundingBox === box.bounds) this.crowd.boundingBox = null;
    if (sphere !== null && crowd.boundingSphere === sphere.bounds) this.crowd.boundingSphere = null;
  }

  private dropBox(): void {
    if (this.box !== null && this.crowd.boundingBox === this.box.bounds) this.crowd.boundingBox = null;
    this.box = null;
  }

  private dropSphere(): void {
    if (this.sphere !== null && this.crowd.boundingSphere === this.sphere.bounds)
      this.crowd.boundingSphere = null;
    this.sphere = null;
  }

  private remember<T>(bounds: T): Computed<T> {
    const { instanceMatrix, count, edits, visibility } = this.crowd;
    const { version } = instanceMatrix;
    const reach = edits.reachVersion;
    return { bounds, matrices: instanceMatrix, version, count, drawn: visibility.version, reach };
  }

  private holds({ matrices, version, count, drawn, reach }: Computed<unknown>): boolean {
    const { instanceMatrix, edits, visibility } = this.crowd;
    const still = matrices === instanceMatrix && version === instanceMatrix.version;
    const same = count === this.crowd.count && drawn === visibility.version;
    return still && same && reach === edits.reachVersion;
  }
}

/** Box around `poseBounds` placed by the matrices of the instances that are drawn. */
function crowdBox({ instanceMatrix, count, visibility }: DrawnCrowd, poseBounds: Box3, target: Box3): Box3 {
  target.makeEmpty();
  for (let i = 0; i < count; i++) {
    if (!visibility.isDrawn(i)) continue;
    target.union(_box.copy(poseBounds).applyMatrix4(_matrix.fromArray(instanceMatrix.array, i * 16)));
  }
  return target;
}

/** Sphere around `poseBounds` placed by the matrices of the instances that are drawn, about the middle of their box. */
function crowdSphere(crowd: DrawnCrowd, poseBounds: Box3, target: Sphere): Sphere {
  const { instanceMatrix, count, visibility } = crowd;
  if (crowdBox(crowd, poseBounds, _crowd).isEmpty()) return target.makeEmpty();
  _crowd.getCenter(target.center);
  poseBounds.getCenter(_local);
  const radius = poseBounds.getSize(_center).length() / 2;

  target.radius = 0;
  for (let i = 0; i < count; i++) {
    if (!visibility.isDrawn(i)) continue;
    _matrix.fromArray(instanceMatrix.array, i * 16);
    const distance = _center.copy(_local).applyMatrix4(_matrix).distanceTo(target.center);
    target.radius = Math.max(target.radius, distance + radius * _matrix.getMaxScaleOnAxis());
  }
  return target;
}
