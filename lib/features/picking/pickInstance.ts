import type { Object3D, OrthographicCamera, PerspectiveCamera, Vector2 } from 'three';
import { Box2, Matrix4, Raycaster, Vector3 } from 'three';
import type { SkinnedInstancedMesh } from '../../crowd/SkinnedInstancedMesh.js';
import { GROUP_SIZE } from '../../culling/InstanceGroups.js';
import type { CrowdIntersection } from '../../queries/raycastCrowd.js';

/** How near a pointer has to be. */
export interface PickOptions {
  /** Pixels that the pointer may lie beside an instance. 22 is what a finger needs. @default 22 */
  pixels?: number;
  /** How many of those pixels the picture is high. @default innerHeight, that of the page */
  height?: number;
  /**
   * Whether what the pointer meets by its triangles, as they are posed, and with what is attached, goes before what is only near.
   * @default false
   */
  triangles?: boolean;
}

/** Whom a pointer picks. */
export interface PickedInstance {
  /** Its id. */
  instanceId: number;
  /** The object that stands for the instance, else the crowd. */
  object: Object3D;
  /** By how many pixels the pointer misses it: 0 where it lies on the instance, or on the sphere around all its poses. */
  pixels: number;
  /** In the world: where its triangles were met, else the middle of that sphere. */
  point: Vector3;
}

const _raycaster = /*@__PURE__*/ Object.assign(/*@__PURE__*/ new Raycaster(), { firstHitOnly: true });

/**
 * The instance at a pointer, or the nearest one within a few pixels: clicks and fingers that hit small units. It asks for the spheres
 * around all poses of instances; where the pointer lies within several, the one whose middle is nearer, by its size, is it.
 *
 * Hidden instances, and those on none of the camera's layers, are passed over. Crowds with levels of detail and kinds are picked as a
 * whole, what is attached by its triangles alone. Camera and crowd are taken as they were last drawn. For
 * `GPUInstances`, of which only the GPU knows, there is `pickGPUInstance`; here they are not found, with a warning.
 *
 * ```ts
 * addEventListener('click', ({ clientX, clientY }) => {
 *   const pointer = new Vector2((clientX / innerWidth) * 2 - 1, 1 - (clientY / innerHeight) * 2);
 *   const picked = pickInstance(crowd, camera, pointer, { triangles: true });
 *   if (picked) crowd.play(picked.instanceId, 'Wave');
 * });
 * ```
 *
 * @param pointer From -1 to 1 to the right and upwards, as `Raycaster.setFromCamera` takes it.
 * @returns Null if there is none.
 *
 * @category Ask
 */
export function pickInstance(
  crowd: SkinnedInstancedMesh,
  camera: PerspectiveCamera | OrthographicCamera,
  pointer: Vector2,
  { pixels, height, triangles = false }: PickOptions = {},
): PickedInstance | null {
  const { objects } = crowd.crowd;
  const objectOf = (instanceId: number) => objects?.objectOf(instanceId) ?? crowd;
  if (isUnknown(crowd)) return null;
  if (triangles) {
    _raycaster.setFromCamera(pointer, camera);
    _raycaster.layers.mask = camera.layers.mask;
    for (const {
      instanceId = -1,
      object,
      mesh = object,
      point,
    } of _raycaster.intersectObject<SkinnedInstancedMesh>(crowd) as CrowdIntersection[])
      if ((mesh as SkinnedInstancedMesh).crowd === crowd.crowd)
        return { instanceId, object: objectOf(instanceId), pixels: 0, point };
  }
  const found = nearestOf(new SeenInstances(crowd, camera), pointer, pixels, height);
  return found && { ...found, object: objectOf(found.instanceId) };
}

/** The instance that is nearest to a pointer, see {@link pickInstance}. */
export function nearestOf(
  seen: SeenInstances,
  { x, y }: Vector2,
  pixels = 22,
  height = globalThis.innerHeight,
): Omit<PickedInstance, 'object'> | null {
  const from = seen.through(x, y);
  const unit = (seen.projection[5] * height) / 2;
  const reach = pixels / unit;
  const point = new Vector3();
  const lean = seen.leanOf(from.x, from.y);
  let instanceId = -1;
  let least = Infinity;
  seen.forEach(
    (spheres, group) => {
      seen.see(spheres, group);
      // By no more than this are members nearer to the ray than the middle of their group.
      const nearer = (lean + reach) * seen.radius;
      return seen.wayFrom(from) <= reach * seen.scale + nearer;
    },
    (spheres, id) => {
      if (!seen.see(spheres, id)) return;
      const way = seen.wayFrom(from);
      const miss = way - seen.radius;
      // Within several, by size; beside several, by pixels.
      const off = miss > 0 ? (miss * unit) / seen.scale : miss / seen.radius;
      if (!(off <= pixels && off < least)) return;
      least = off;
      instanceId = id;
      point.fromArray(spheres, id * 4);
    },
  );
  if (instanceId < 0) return null;
  return { instanceId, pixels: Math.max(least, 0), point: point.applyMatrix4(seen.matrixWorld) };
}

/**
 * The instances in a rectangle of the picture: those the middles of whose spheres around all poses lie in it, as with three.js's
 * `SelectionBox`. What is passed over, and what is not known, is as for {@link pickInstance}.
 *
 * ```ts
 * const rectangle = new Box2(new Vector2(-0.5, -0.5), new Vector2(0.5, 0.5));
 * for (const id of selectInstances(crowd, camera, rectangle)) crowd.play(id, 'Wave');
 * ```
 *
 * @param rectangle From -1 to 1 to the right and upwards.
 * @returns Their ids, in no order.
 *
 * @category Ask
 */
export function selectInstances(
  crowd: SkinnedInstancedMesh,
  camera: PerspectiveCamera | OrthographicCamera,
  rectangle: Box2,
): Uint32Array {
  return isUnknown(crowd) ? new Uint32Array(0) : idsWithin(new SeenInstances(crowd, camera), rectangle);
}

/** The ids of those in a rectangle, see {@link selectInstances}. */
export function idsWithin(seen: SeenInstances, rectangle: Box2): Uint32Array {
  // One may have been drawn to the left, or upwards.
  const { min, max } = new Box2().setFromPoints([rectangle.min, rectangle.max]);
  // A list that grows takes several times as long.
  const ids = new Uint32Array(seen.crowd.count);
  let count = 0;
  const from = seen.through(min.x, min.y);
  const to = seen.through(max.x, max.y);
  const lean = seen.leanOf(
    Math.max(Math.abs(from.x), Math.abs(to.x)),
    Math.max(Math.abs(from.y), Math.abs(to.y)),
  );
  /** How far within the rectangle the middle of a sphere lies, at least; negative outside. */
  const depthIn = () =>
    Math.min(
      seen.x - from.x * seen.scale,
      to.x * seen.scale - seen.x,
      seen.y - from.y * seen.scale,
      to.y * seen.scale - seen.y,
    );
  seen.forEach(
    (spheres, group) => {
      seen.see(spheres, group);
      return depthIn() >= -lean * seen.radius;
    },
    (spheres, id) => {
      if (seen.see(spheres, id) && depthIn() >= 0) ids[count++] = id;
    },
  );
  return ids.subarray(0, count);
}

export type EachInstance = (spheres: Float32Array, id: number) => void;

/** Whether it is the GPU that knows where instances are. */
function isUnknown({ crowd: { written } }: SkinnedInstancedMesh): boolean {
  written?.warn('a pick');
  return written !== null;
}

/** The spheres around instances of a crowd as a camera saw them last. */
export class SeenInstances {
  /** Of the middle of a sphere, to the right of the camera and above it. */
  x = 0;
  y = 0;
  /** How far ahead it is, and how wide the picture is there: 1 everywhere if the projection is parallel. */
  ahead = 0;
  scale = 1;
  radius = 0;
  readonly matrixWorld: Matrix4;
  readonly projection: readonly number[];
  /** Bits of the layers that the camera sees. */
  protected readonly mask: number;
  private readonly matrix: readonly number[];
  private readonly size: number;
  private readonly near: number;
  private readonly far: number;
  private readonly isFlat: boolean;

  constructor(
    readonly crowd: SkinnedInstancedMesh,
    { matrixWorldInverse, projectionMatrix, layers, near, far }: PerspectiveCamera | OrthographicCamera,
  ) {
    this.matrixWorld = crowd.matrixWorld.clone();
    this.projection = [...projectionMatrix.elements];
    this.mask = layers.mask;
    this.matrix = new Matrix4().multiplyMatrices(matrixWorldInverse, crowd.matrixWorld).elements;
    this.size = crowd.matrixWorld.getMaxScaleOnAxis();
    this.near = near;
    this.far = far;
    this.isFlat = this.projection[15] === 1;
  }

  /** Calls back for groups of neighbours, and, where that returns true, for those of them that are drawn and on layers of the camera. */
  forEach(isAsked: (spheres: Float32Array, group: number) => boolean, each: EachInstance): void {
    const { crowd, views, layers: ofCrowd } = this.crowd;
    const { visibility, layers } = crowd;
    const own = layers?.isUsed === true ? layers : null;
    if (own === null && (ofCrowd.mask & this.mask) === 0) return;
    views.updateGroups();
    const { spheres, groupSpheres, groupCount, order } = views.groups;
    for (let group = 0; group < groupCount; group++) {
      if (!isAsked(groupSpheres, group)) continue;
      const end = Math.min((group + 1) * GROUP_SIZE, visibility.count);
      for (let i = group * GROUP_SIZE; i < end; i++) {
        const id = order[i];
        if (visibility.isDrawn(id) && own?.test(id, this.mask, ofCrowd.mask) !== false) each(spheres, id);
      }
    }
  }

  /** Where the ray through a point of the picture is, at a distance of 1. */
  through(x: number, y: number): { x: number; y: number } {
    const { projection: p, isFlat } = this;
    const [dx, dy] = isFlat ? [-p[12], -p[13]] : [p[8], p[9]];
    return { x: (x + dx) / p[0], y: (y + dy) / p[5] };
  }

  /** By how much a ray, or a plane through one, leans from the way that the camera looks: not at all if that is parallel. */
  leanOf(x: number, y: number): number {
    return this.isFlat ? 1 : Math.sqrt(1 + x * x + y * y);
  }

  /** Takes over a sphere. Returns whether its middle is ahead, and some of it is nearer than the camera sees. */
  see(spheres: Float32Array, index: number): boolean {
    const { matrix: m, isFlat } = this;
    const x = spheres[index * 4];
    const y = spheres[index * 4 + 1];
    const z = spheres[index * 4 + 2];
    this.x = m[0] * x + m[4] * y + m[8] * z + m[12];
    this.y = m[1] * x + m[5] * y + m[9] * z + m[13];
    this.ahead = -(m[2] * x + m[6] * y + m[10] * z + m[14]);
    this.radius = spheres[index * 4 + 3] * this.size;
    this.scale = isFlat ? 1 : this.ahead;
    return this.ahead > this.near && this.ahead - this.radius < this.far;
  }

  /** How far the middle is from a ray, across the way that the camera looks. */
  wayFrom(ray: { x: number; y: number }): number {
    const dx = this.x - ray.x * this.scale;
    const dy = this.y - ray.y * this.scale;
    return Math.sqrt(dx * dx + dy * dy);
  }
}
