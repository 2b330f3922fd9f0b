import type { InstancedBufferAttribute } from 'three';
import { Box3, Sphere, Vector3 } from 'three';
import type { DrawnCrowd } from '../backends/DrawnCrowd.js';
import { expandJointBoxes, growJointBoxes, jointBoxesContain } from '../poses/jointBoxes.js';
import { sourceOf } from '../sources/sources.js';
import { instanceSpheres } from '../views/instanceSpheres.js';
import { morphRange } from './morphRange.js';

const _crowd = /*@__PURE__*/ new Box3();
const _center = /*@__PURE__*/ new Vector3();
const _local = /*@__PURE__*/ new Vector3();
const _pose = /*@__PURE__*/ new Sphere();
/** Spheres around the instances of the crowd that is asked. */
let _spheres = /*@__PURE__*/ new Float32Array(0);

/** Bounds that were computed, and what for. */
interface Computed<T> {
  bounds: T;
  matrices: InstancedBufferAttribute;
  version: number;
  count: number;
  drawn: number;
  reach: number;
  moved: number;
}

/**
 * Computes the bounds of a crowd, and notices when they no longer hold: because instances moved, came or went, or because
 * the crowd shows other clips or another geometry. Bounds that the user set are the user's, and stay.
 */
export class CrowdBounds {
  private poses: Box3 | null = null;
  /** `reach` of the crowd that `poses` holds. */
  private reach = 0;
  /** How far `poses` has grown by motions before skinning. */
  private movedBefore = 0;
  /** `poses`, grown by motions after skinning. */
  private readonly moved = new Box3();
  private box: Computed<Box3> | null = null;
  private sphere: Computed<Sphere> | null = null;

  constructor(private readonly crowd: DrawnCrowd) {}

  /** Box around every pose of the bone texture, and wherever motions move vertices from there, relative to an instance. */
  ofPoses(): Box3 {
    const { crowd } = this;
    const before = crowd.motions?.reachBefore ?? 0;
    const reach = this.reachNow;
    if (this.poses === null || this.reach !== reach || this.movedBefore !== before) {
      this.reach = reach;
      this.movedBefore = before;
      this.poses = this.findPoses(before);
    }
    const after = crowd.motions?.reachAfter ?? 0;
    if (after === 0 || this.poses.isEmpty()) return this.poses;
    return this.moved.copy(this.poses).expandByScalar(after);
  }

  /** @param before How far vertices may be moved from where they were modelled. */
  private findPoses(before: number): Box3 {
    const { crowd } = this;
    const { boneTexture, geometry } = crowd;
    const source = sourceOf(crowd);
    const boxes = boneTexture.createJointBoxes();
    const joints = Int32Array.from(boneTexture.jointNames, (_, i) => i);
    const isMorphed = geometry.morphAttributes.position !== undefined;
    const range = isMorphed ? morphRange(boneTexture, crowd.morphs) : undefined;
    growJointBoxes(boxes, geometry, joints, false, undefined, undefined, range);
    if (before > 0) expandJointBoxes(boxes, before);
    const known = jointBoxesContain(boneTexture.jointBoxes, boxes);
    const poses = new Box3();
    source.expandBounds(crowd, poses, known ? undefined : boxes);
    // A source without joints does not look at their boxes.
    if (source.jointMatrix === undefined && !poses.isEmpty()) poses.expandByScalar(before);
    return poses;
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
    const { instanceMatrix, count, visibility } = this.crowd;
    const { version } = instanceMatrix;
    const reach = this.reachNow;
    const drawn = visibility.version;
    return { bounds, matrices: instanceMatrix, version, count, drawn, reach, moved: this.movedBy };
  }

  /** Grows when instances may be posed, or morphed, in other ways. */
  private get reachNow(): number {
    const { edits, morphs } = this.crowd;
    morphs.growByShared();
    return edits.reachVersion + morphs.reachVersion;
  }

  /** By how much motions let bounds grow. */
  private get movedBy(): number {
    const { motions } = this.crowd;
    return motions === null ? 0 : motions.reachBefore + motions.reachAfter;
  }

  private holds({ matrices, version, count, drawn, reach, moved }: Computed<unknown>): boolean {
    const { instanceMatrix, visibility } = this.crowd;
    const still = matrices === instanceMatrix && version === instanceMatrix.version;
    const same = count === this.crowd.count && drawn === visibility.version;
    return still && same && reach === this.reachNow && moved === this.movedBy;
  }
}

/** Box around `poseBounds` placed by the matrices of the instances that are drawn. */
function crowdBox({ instanceMatrix, count, visibility }: DrawnCrowd, poseBounds: Box3, target: Box3): Box3 {
  const { min, max } = target.makeEmpty();
  if (poseBounds.isEmpty()) return target;
  const { x, y, z } = poseBounds.getCenter(_local);
  const { x: sizeX, y: sizeY, z: sizeZ } = poseBounds.getSize(_center).multiplyScalar(0.5);
  const m = instanceMatrix.array;
  // Written out: of a crowd that moves it is done for each instance in each frame.
  for (let i = 0; i < count; i++) {
    if (!visibility.isDrawn(i)) continue;
    const at = i * 16;
    const px = m[at] * x + m[at + 4] * y + m[at + 8] * z + m[at + 12];
    const py = m[at + 1] * x + m[at + 5] * y + m[at + 9] * z + m[at + 13];
    const pz = m[at + 2] * x + m[at + 6] * y + m[at + 10] * z + m[at + 14];
    const dx = Math.abs(m[at]) * sizeX + Math.abs(m[at + 4]) * sizeY + Math.abs(m[at + 8]) * sizeZ;
    const dy = Math.abs(m[at + 1]) * sizeX + Math.abs(m[at + 5]) * sizeY + Math.abs(m[at + 9]) * sizeZ;
    const dz = Math.abs(m[at + 2]) * sizeX + Math.abs(m[at + 6]) * sizeY + Math.abs(m[at + 10]) * sizeZ;
    min.x = Math.min(min.x, px - dx);
    min.y = Math.min(min.y, py - dy);
    min.z = Math.min(min.z, pz - dz);
    max.x = Math.max(max.x, px + dx);
    max.y = Math.max(max.y, py + dy);
    max.z = Math.max(max.z, pz + dz);
  }
  return target;
}

/** Sphere around `poseBounds` placed by the matrices of the instances that are drawn, about the middle of their box. */
function crowdSphere(crowd: DrawnCrowd, poseBounds: Box3, target: Sphere): Sphere {
  const { instanceMatrix, count, visibility } = crowd;
  if (crowdBox(crowd, poseBounds, _crowd).isEmpty()) return target.makeEmpty();
  const { x, y, z } = _crowd.getCenter(target.center);
  poseBounds.getBoundingSphere(_pose);
  if (_spheres.length < count * 4) _spheres = new Float32Array(count * 4);
  instanceSpheres(instanceMatrix.array as Float32Array, 0, count, _pose, _spheres);
  let reach = 0;
  for (let i = 0; i < count; i++) {
    if (!visibility.isDrawn(i)) continue;
    const at = i * 4;
    const dx = _spheres[at] - x;
    const dy = _spheres[at + 1] - y;
    const dz = _spheres[at + 2] - z;
    reach = Math.max(reach, Math.sqrt(dx * dx + dy * dy + dz * dz) + _spheres[at + 3]);
  }
  target.radius = reach;
  return target;
}
