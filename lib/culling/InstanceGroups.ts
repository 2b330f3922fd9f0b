import type { BufferGeometry, Material } from 'three';
import { Box3, type InstancedBufferAttribute, Sphere, Vector3 } from 'three';
import type { InstanceTransforms } from '../instances/InstanceTransforms.js';
import type { InstanceVisibility } from '../instances/InstanceVisibility.js';
import { resized } from '../utils/attributes.js';
import type { ListNumber } from './LODSelector.js';
import { mortonOrder } from './sortIds.js';

/** Groups are sorted anew once their radii have grown by this, and so many updates have passed: it takes a while. */
const MAX_GROWTH = 1.5;
const MIN_UPDATES = 30;

const _box = /*@__PURE__*/ new Box3();
const _vector = /*@__PURE__*/ new Vector3();

/** Instances in a group. */
export const GROUP_SIZE = 64;

/**
 * A sphere around each instance, and spheres around groups of neighbours: what cameras, rays and bounds ask first. All are in
 * the crowd's space.
 */
export class InstanceGroups {
  /** x, y, z and radius of each instance. Another array once there is room for more instances. */
  spheres: Float32Array = new Float32Array(0);
  /** The instances so that neighbours stand together: the first 64 are the first group, and so on; the last may be smaller. */
  order: Uint32Array = new Uint32Array(0);
  /** x, y, z and radius of each group. */
  groupSpheres: Float32Array = new Float32Array(0);
  /** Goes up whenever a sphere changes, or the order. */
  version = 0;

  /** Where each instance stands in `order`. */
  private positions: Uint32Array = new Uint32Array(0);
  /** Which groups have members whose spheres have changed. */
  private dirty: Uint8Array = new Uint8Array(0);
  /** Whether an instance has been scaled unevenly. */
  uneven = false;
  private count = 0;
  private matrices: InstancedBufferAttribute | null = null;
  private matricesVersion = -1;
  /** The box of poses that spheres were made for, and the sphere around it. */
  private readonly poses = new Box3();
  private readonly character = new Sphere();
  /** Sum of the radii when groups were last sorted, and how many updates ago. */
  private sortedSize = 0;
  private updates = 0;
  private mustSort = true;
  /** What `boundingSphere` has found, and for which versions: all meshes of a crowd ask for it. */
  private readonly bounds = new Sphere();
  private boundsVersion = -1;
  private boundsDrawn = -1;

  constructor(
    readonly crowd: {
      readonly members: readonly {
        readonly geometry: BufferGeometry;
        readonly material: Material | Material[];
        readonly visible: boolean;
        /** What it draws. */
        readonly list: ListNumber;
      }[];
      /** On which layers single instances are; null for those of the crowd, which the bits of `layersMask` say. */
      readonly layers: {
        /** Whether some instance has layers of its own. */
        readonly isUsed: boolean;
        /** Bits of all layers that some instance is on by itself. */
        readonly union: number;
        /** Whether an instance is on one of some layers. */
        test(index: number, mask: number, crowdMask: number): boolean;
      } | null;
      readonly layersMask: number;
      /** Whether instances outside of a camera's frustum are left out unless the user says otherwise. */
      readonly culledByDefault: boolean;
      /** Whether the bounds of all meshes hold. */
      readonly frustumCulled: boolean;
      /** What the GPU writes of the instances; null while the CPU does. */
      readonly written: object | null;
      /** Instances in use. */
      readonly count: number;
      readonly capacity: number;
      readonly places: InstanceTransforms;
      readonly visibility: InstanceVisibility;
      /** Box around every pose of every mesh of the crowd, relative to an instance. */
      boundsOfPoses(target: Box3): Box3;
    },
  ) {}

  get groupCount(): number {
    return Math.ceil(this.count / GROUP_SIZE);
  }

  /**
   * Brings all of it up to date. Costs next to nothing when no instance was moved, added or taken away.
   *
   * @param again Whether it is known how far poses reach.
   */
  update(again = false): void {
    const { crowd } = this;
    const { attribute } = crowd.places;
    let all = this.resize(crowd.capacity);
    if (!again && !crowd.boundsOfPoses(_box).equals(this.poses)) {
      this.poses.copy(_box);
      sphereAround(this.poses, this.character);
      all = true;
    }
    if (attribute !== this.matrices || this.matricesVersion < 0) all = true;
    const moved = all || attribute.version !== this.matricesVersion;
    if (!moved && crowd.count === this.count && !this.mustSort) return;

    const before = this.count;
    this.setCount(crowd.count);
    // Ranges of an attribute are those that no renderer has uploaded yet: none if all of it may have changed.
    const { updateRanges } = attribute;
    if (moved && updateRanges.length === 0) all = true;
    if (moved && !all)
      for (const { start, count } of updateRanges)
        this.place(Math.floor(start / 16), Math.ceil((start + count) / 16));
    this.place(all ? 0 : before, this.count);
    this.matrices = attribute;
    this.matricesVersion = attribute.version;
    this.updates++;
    this.updateGroups();
    this.version++;
  }

  /** The same where matrices may have been uploaded, and what they differed in forgotten, without an update. */
  updateUnwatched(): void {
    if (this.crowd.places.attribute.version !== this.matricesVersion) this.invalidate();
    this.update();
  }

  /** Has everything read anew: call it where matrices may have been uploaded without an update. */
  invalidate(): void {
    this.matricesVersion = -1;
  }

  /** Has groups sorted anew at the next update. */
  sort(): void {
    this.mustSort = true;
  }

  /** Sphere around all instances that are drawn; as tight as it can be about the middle of their spheres. */
  boundingSphere(target: Sphere): Sphere {
    const { visibility } = this.crowd;
    if (this.boundsVersion !== this.version || this.boundsDrawn !== visibility.version) {
      this.findBounds(this.bounds);
      this.boundsVersion = this.version;
      this.boundsDrawn = visibility.version;
    }
    return target.copy(this.bounds);
  }

  private findBounds(target: Sphere): void {
    const { groupSpheres, groupCount, spheres, order, count } = this;
    const { visibility } = this.crowd;
    const { allDrawn } = visibility;
    target.makeEmpty();
    if (this.poses.isEmpty()) return;
    // Groups hold what is not drawn too.
    if (allDrawn) boxAround(groupSpheres, groupCount, null);
    else boxAround(spheres, count, visibility);
    if (_box.isEmpty()) return;
    const { x, y, z } = _box.getCenter(target.center);
    let extent = 0;
    for (let group = 0; group < groupCount; group++) {
      if (extentOf(groupSpheres, group, x, y, z) <= extent) continue;
      const end = Math.min((group + 1) * GROUP_SIZE, count);
      for (let i = group * GROUP_SIZE; i < end; i++) {
        if (allDrawn || visibility.isDrawn(order[i]))
          extent = Math.max(extent, extentOf(spheres, order[i], x, y, z));
      }
    }
    target.radius = extent;
  }

  /** Returns whether there is room for another number of instances than before. */
  private resize(capacity: number): boolean {
    if (this.order.length === capacity) return false;
    this.setCount(Math.min(this.count, capacity));
    const groups = Math.ceil(capacity / GROUP_SIZE);
    this.spheres = new Float32Array(capacity * 4);
    this.order = resized(this.order, capacity);
    this.positions = resized(this.positions, capacity);
    this.groupSpheres = new Float32Array(groups * 4);
    this.dirty = new Uint8Array(groups);
    return true;
  }

  /** New instances make groups of their own at the end; those that are no more leave theirs. */
  private setCount(count: number): void {
    const { order, positions, dirty } = this;
    const before = this.count;
    if (count === before) return;
    if (count < before) {
      let kept = 0;
      for (let i = 0; i < before; i++) {
        if (order[i] >= count) continue;
        positions[order[i]] = kept;
        order[kept++] = order[i];
      }
      dirty.fill(1);
    }
    for (let id = before; id < count; id++) {
      positions[id] = id;
      order[id] = id;
    }
    this.count = count;
  }

  /** Makes the spheres of some ids anew. */
  private place(start: number, end: number): void {
    const { positions, dirty, spheres, character, crowd } = this;
    const last = Math.min(end, this.count);
    if (instanceSpheres(crowd.places.attribute.array as Float32Array, start, last, character, spheres))
      this.uneven = true;
    if (last - start === this.count) dirty.fill(1);
    else for (let id = start; id < last; id++) dirty[positions[id] >> 6] = 1;
  }

  private updateGroups(): void {
    if (this.mustSort) this.sortNow();
    let size = this.placeGroups();
    if (this.updates >= MIN_UPDATES && size > this.sortedSize * MAX_GROWTH) {
      this.sortNow();
      size = this.placeGroups();
    }
    if (this.updates === 0) this.sortedSize = size;
  }

  private sortNow(): void {
    const { order, positions, spheres, count } = this;
    for (let i = 0; i < count; i++) order[i] = i;
    mortonOrder(spheres, order.subarray(0, count));
    for (let i = 0; i < count; i++) positions[order[i]] = i;
    this.dirty.fill(1);
    this.updates = 0;
    this.mustSort = false;
  }

  /** Makes the spheres of groups that have changed anew, and returns the sum of all radii. */
  private placeGroups(): number {
    const { dirty, groupSpheres, groupCount } = this;
    let size = 0;
    for (let group = 0; group < groupCount; group++) {
      if (dirty[group] !== 0) this.placeGroup(group);
      size += groupSpheres[group * 4 + 3];
    }
    dirty.fill(0);
    return size;
  }

  private placeGroup(group: number): void {
    const { spheres, order, groupSpheres, count } = this;
    const start = group * GROUP_SIZE;
    const end = Math.min(start + GROUP_SIZE, count);
    let minX = Infinity;
    let minY = Infinity;
    let minZ = Infinity;
    let maxX = -Infinity;
    let maxY = -Infinity;
    let maxZ = -Infinity;
    for (let i = start; i < end; i++) {
      const at = order[i] * 4;
      const x = spheres[at];
      const y = spheres[at + 1];
      const z = spheres[at + 2];
      // Without branches: where instances move, who stands outermost is not to be foreseen.
      minX = Math.min(minX, x);
      maxX = Math.max(maxX, x);
      minY = Math.min(minY, y);
      maxY = Math.max(maxY, y);
      minZ = Math.min(minZ, z);
      maxZ = Math.max(maxZ, z);
    }
    const x = Math.fround((minX + maxX) / 2);
    const y = Math.fround((minY + maxY) / 2);
    const z = Math.fround((minZ + maxZ) / 2);
    let radius = 0;
    for (let i = start; i < end; i++) {
      const at = order[i] * 4;
      const dx = spheres[at] - x;
      const dy = spheres[at + 1] - y;
      const dz = spheres[at + 2] - z;
      // What is not a number is everywhere, and so is its group.
      radius = Math.max(radius, Math.sqrt(dx * dx + dy * dy + dz * dz) + spheres[at + 3]);
    }
    const at = group * 4;
    groupSpheres[at] = x;
    groupSpheres[at + 1] = y;
    groupSpheres[at + 2] = z;
    // Not less than it is after it was rounded to a float32.
    groupSpheres[at + 3] = radius * (1 + 1e-6);
  }
}

/** Lets `_box` be around spheres; of all ids, or of those that are drawn. */
function boxAround(spheres: Float32Array, count: number, visibility: InstanceVisibility | null): void {
  const { min, max } = _box.makeEmpty();
  for (let i = 0; i < count; i++) {
    if (visibility !== null && !visibility.isDrawn(i)) continue;
    const at = i * 4;
    const x = spheres[at];
    const y = spheres[at + 1];
    const z = spheres[at + 2];
    const radius = spheres[at + 3];
    // Written out: it is done for each instance in each frame in which some come or go.
    if (!(x - radius >= min.x)) min.x = x - radius;
    if (!(y - radius >= min.y)) min.y = y - radius;
    if (!(z - radius >= min.z)) min.z = z - radius;
    if (!(x + radius <= max.x)) max.x = x + radius;
    if (!(y + radius <= max.y)) max.y = y + radius;
    if (!(z + radius <= max.z)) max.z = z + radius;
  }
}

/** How far from a point a sphere reaches. */
function extentOf(spheres: Float32Array, index: number, x: number, y: number, z: number): number {
  const at = index * 4;
  const dx = spheres[at] - x;
  const dy = spheres[at + 1] - y;
  const dz = spheres[at + 2] - z;
  // `Math.hypot` takes several times as long.
  return Math.sqrt(dx * dx + dy * dy + dz * dz) + spheres[at + 3];
}

/** Sphere around a box; everywhere if it has no end, and a point if there is nothing in it. */
function sphereAround(box: Box3, target: Sphere): void {
  if (box.isEmpty()) target.set(_vector.set(0, 0, 0), 0);
  else box.getBoundingSphere(target);
  if (!Number.isFinite(target.radius)) target.set(_vector.set(0, 0, 0), Infinity);
}

/** By how much spheres are larger than they need be, since they are kept, and matrices applied, in float32. */
const MARGIN = 1e-6;
/** By what share of a squared scale others may differ from it before normals are turned by the inverse. */
const UNEVEN = 1e-3;

/**
 * Spheres around instances: that around a character, as their matrices place it.
 *
 * @param matrices Column by column, 16 numbers an instance.
 * @param start The first instance, and `end` the one after the last.
 * @param spheres Gets x, y, z and radius of each.
 * @returns Whether one of them is scaled unevenly, or sheared.
 */
function instanceSpheres(
  matrices: Float32Array,
  start: number,
  end: number,
  { center: { x, y, z }, radius }: Sphere,
  spheres: Float32Array,
): boolean {
  let uneven = false;
  for (let id = start; id < end; id++) {
    const m = id * 16;
    const ax = matrices[m];
    const ay = matrices[m + 1];
    const az = matrices[m + 2];
    const bx = matrices[m + 4];
    const by = matrices[m + 5];
    const bz = matrices[m + 6];
    const cx = matrices[m + 8];
    const cy = matrices[m + 9];
    const cz = matrices[m + 10];
    const px = ax * x + bx * y + cx * z + matrices[m + 12];
    const py = ay * x + by * y + cy * z + matrices[m + 13];
    const pz = az * x + bz * y + cz * z + matrices[m + 14];
    // The largest scale in any direction, squared, is at most the largest of these (Gershgorin): the same as the longest
    // column, unless the matrix shears.
    const ab = Math.abs(ax * bx + ay * by + az * bz);
    const ac = Math.abs(ax * cx + ay * cy + az * cz);
    const bc = Math.abs(bx * cx + by * cy + bz * cz);
    const a = ax * ax + ay * ay + az * az + ab + ac;
    const b = bx * bx + by * by + bz * bz + ab + bc;
    const c = cx * cx + cy * cy + cz * cz + ac + bc;
    if (Math.abs(a - b) + Math.abs(a - c) + ab + ac + bc > UNEVEN * a) uneven = true;
    const extent = radius * Math.sqrt(a > b ? (a > c ? a : c) : b > c ? b : c);
    const at = id * 4;
    spheres[at] = px;
    spheres[at + 1] = py;
    spheres[at + 2] = pz;
    spheres[at + 3] = extent + (extent + Math.abs(px) + Math.abs(py) + Math.abs(pz)) * MARGIN;
  }
  return uneven;
}
