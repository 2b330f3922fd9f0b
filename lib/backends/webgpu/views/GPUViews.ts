import {
  type ArrayCamera,
  Box3,
  type Camera,
  Frustum,
  type Material,
  Matrix4,
  type Object3D,
  Sphere,
  type Vector4,
} from 'three';
import type { ComputeNode, StorageBufferAttribute, WebGPURenderer } from 'three/webgpu';
import { LEVEL_CODES, MAX_LEVELS } from '../../../constants.js';
import type { CrowdViews } from '../../../culling/CrowdViews.js';
import { KIND_LISTS, type LODSelector } from '../../../culling/LODSelector.js';
import { markSeen, seesAll } from '../../../culling/seenInstances.js';
import { drawsOf, type ViewInfo } from '../../../culling/ViewInfo.js';
import type { DrawnCrowd } from '../../DrawnCrowd.js';
import type { NodePosePass } from '../NodePosePass.js';
import { SharedSteps, type StepsRegistry } from '../SharedSteps.js';
import { CameraSlot } from './CameraSlot.js';
import { type CameraState, CameraStates } from './CameraStates.js';
import { WORKGROUP } from './compactLists.js';
import type { CameraOcclusion } from './cullInstances.js';
import { DrawTable } from './DrawTable.js';
import { MAX_KIND_LISTS, type StoredKinds } from './KindNodes.js';
import type { SeenRates } from './SeenNodes.js';
import { StoredInstances, type StoredOnGPU } from './StoredInstances.js';
import { ViewBuffers } from './ViewBuffers.js';
import { kindNodes, MAX_FRUSTUMS, ViewSteps, viewKey } from './ViewSteps.js';
import { lodCameraOf } from './viewAtDraw.js';

/** Frames after which a camera that does not draw the crowd any more is forgotten. */
const IDLE = 300;
/** Frames after which another camera may have its buffers: programs may make a camera for each frame. */
const SPARE = 30;
/** Planes of a frustum. */
const PLANES = 6;

const _clips: readonly Matrix4[] = /*@__PURE__*/ Array.from({ length: MAX_FRUSTUMS }, () => new Matrix4());
const _frustum = /*@__PURE__*/ new Frustum();
const _box = /*@__PURE__*/ new Box3();
const _numbers: number[] = [];
/** Steps of all crowds. */
const viewSteps: StepsRegistry<ViewSteps> = /*@__PURE__*/ new WeakMap();
const NO_MEMBERS: readonly [number, number] = [0, 0];

/**
 * What cameras see of a crowd, found by the GPU of one renderer: which instances, and how many, never comes back to the CPU.
 * Each camera has buffers of its own, since a shadow map may be drawn while the picture that needs it is.
 */
export class GPUViews {
  private readonly instances = new StoredInstances();
  private readonly table = new DrawTable();
  private readonly sphere = new Sphere();
  private readonly steps = new SharedSteps(viewSteps);
  private occlusion: CameraOcclusion | null = null;
  private slots: CameraSlot[] = [];
  private capacity = 0;
  private readonly states = new CameraStates();
  /** Lists of a view: all instances, then those of each level of detail, if there are several. */
  private lists = 1;
  private levels = 1;
  private fades = false;
  /** Null while all instances are of one kind. */
  private kinds: StoredKinds | null = null;
  private frame = -1;
  /** What is computed at once; kept here only so that no array is made for it. */
  private readonly computed: ComputeNode[] = [];
  /** What draws of this frame may read still. */
  private retired: { dispose(): void }[] = [];

  constructor(private readonly renderer: WebGPURenderer) {}

  /**
   * Brings up to date what a camera sees, and poses it. Call it before a draw, in `onBeforeRender`.
   *
   * @param group The part of the geometry that is drawn; null for all of it.
   * @param pass The crowd's pose pass; null if it has none.
   */
  prepare(
    crowd: DrawnCrowd,
    camera: Camera,
    material: Material,
    group: { start: number; count: number } | null,
    pass: NodePosePass | null,
  ): void {
    const lodCamera = lodCameraOf(this.renderer, camera);
    // First of all: it may render, and hooks called then may render this crowd, or change how much room or which levels it has.
    const hidden = this.hiddenFrom(crowd, camera, lodCamera);
    const { occlusion } = this;
    const { frame } = this.renderer.info;
    const { splitter: levels, kinds } = crowd.views;
    if (frame !== this.frame) this.beginFrame(frame, levels);
    // Before the lists are counted: it may need one more.
    const { level } = crowd;
    levels?.update();
    this.levels = levels?.count ?? 1;
    this.resize(crowd.capacity, listCount(crowd.views), levels?.fadesFor(crowd.capacity) ?? false);
    if (kinds !== null) {
      this.kinds ??= kindNodes().store();
      this.kinds.update(kinds);
    } else if (this.kinds !== null) {
      this.kinds.dispose();
      this.kinds = null;
    }
    const { instances, table } = this;
    const written = crowd.crowd.written as StoredOnGPU | null;
    const isPlaced = written?.places === true;
    const asksWhoIsSeen = !isPlaced && pass?.asksWhoIsSeen === true;
    // Before the renderer forgets which matrices were changed.
    if (!isPlaced && (crowd.views.culls || crowd.views.isWatched)) crowd.views.follow();
    const writing = instances.update(crowd.instanceMatrix, crowd.visibility, written, frame);
    const slot = this.slotFor(camera);
    slot.frame = frame;
    // What is no level any more shows nothing.
    const end = level === -1 ? 0 : crowd.count;
    slot.places.set(crowd, table.place(crowd.geometry, material, group, listAt(crowd.views, level), end));

    const frustums = this.clip(crowd, camera, hidden);
    const { center, radius } = this.sphere;
    const { x, y, z } = center;
    const { count } = crowd.visibility;
    const members = pass?.members ?? NO_MEMBERS;
    const state =
      levels?.isUsed === true
        ? this.states.of(lodCamera, levels, crowd.matrixWorld, this.capacity, frame)
        : null;
    // One by one, here and below: arrays that are emptied and filled again allocate.
    _numbers[0] = count;
    _numbers[1] = table.version;
    _numbers[2] = instances.version;
    _numbers[3] = x;
    _numbers[4] = y;
    _numbers[5] = z;
    _numbers[6] = radius;
    _numbers[7] = members[0];
    _numbers[8] = members[1];
    _numbers[9] = state === null ? -1 : state.chosen.version;
    _numbers[10] = state === null ? -1 : lodCamera.id;
    _numbers[11] = hidden;
    _numbers[12] = asksWhoIsSeen ? 1 : 0;
    _numbers[13] = kinds?.version ?? -1;
    const { buffers } = slot;
    let stepCount = writing === null ? 0 : this.addSteps(writing, 0);
    if (!slot.remember(_clips, frustums, _numbers)) {
      if (buffers.drawCapacity < table.capacity) this.retired.push(buffers.growDraws(table.capacity));
      const steps = this.stepsFor(buffers, state);
      occlusion?.use(frustums === 1 ? hidden : 0, _clips[0], crowd.matrixWorld);
      const seen = asksWhoIsSeen && frustums > 0 ? slot.clearSeen(crowd.capacity) : null;
      slot.seen = seen;
      clipPlanes(steps.planes, camera, frustums, (frustum) => {
        if (seen !== null) markSeen(crowd.views.groups, count, frustum, seen);
      });
      if (state !== null && levels !== null) steps.setLevels(levels, state, lodCamera !== camera);
      if (kinds !== null) {
        const placeOf = (list: number | null) => listAt(crowd.views, list);
        steps.kinds?.use(this.kinds as StoredKinds, kinds, levelLists(levels), placeOf);
      }
      slot.version++;
      const { sphere } = this;
      const nodes = steps.prepare(instances, table, buffers, count, frustums, sphere, members);
      stepCount = this.addSteps(nodes, stepCount);
    }
    slot.rates = ratesOf(slot.rates, levels, state?.states ?? null, lodCamera !== camera);
    const isWhole = isPlaced || (asksWhoIsSeen && isInBundle(crowd));
    const poses = pass?.prepareSeen(this.renderer, count, slot, crowd.visibility.bits, isWhole) ?? null;
    if (poses !== null) stepCount = this.addSteps(poses, stepCount);
    if (stepCount === 0) return;
    const { computed } = this;
    if (computed.length !== stepCount) computed.length = stepCount;
    this.renderer.compute(computed);
  }

  /** Where instances stand: columns of matrices, four vectors an instance. */
  get matrices(): StorageBufferAttribute {
    return this.instances.matrices;
  }

  /** What a camera has to draw by; null if it was not prepared. */
  slotOf(camera: Camera): CameraSlot | null {
    const { slots } = this;
    for (let i = 0; i < slots.length; i++) if (slots[i].camera === camera) return slots[i];
    return null;
  }

  /** What a camera saw when it last drew the crowd. */
  async read({ views }: DrawnCrowd, camera: Camera, pass: NodePosePass | null): Promise<ViewInfo> {
    const slot = this.slotOf(camera);
    if (slot === null)
      return { visible: 0, levels: new Array(this.levels).fill(0), triangles: 0, drawCalls: 0 };
    const reading = pass?.readPosed(this.renderer);
    const totals = new Uint32Array(await this.renderer.getArrayBufferAsync(slot.buffers.totals));
    const [visible] = totals;
    const posed = await reading;
    const levels = views.splitter?.isUsed === true ? [...totals.subarray(1, 1 + this.levels)] : [visible];
    const countOf = (list: number | null) => (list === -1 ? 0 : totals[listAt(views, list)]);
    const info = { visible, levels, ...drawsOf(views, countOf) };
    return posed === undefined ? info : { ...info, posed };
  }

  dispose(): void {
    this.clear();
    this.tidy();
    this.computed.length = 0;
    this.instances.dispose();
    this.states.dispose();
    this.kinds?.dispose();
    this.kinds = null;
    this.table.dispose();
  }

  private beginFrame(frame: number, levels: LODSelector | null): void {
    this.frame = frame;
    levels?.beginFrame();
    this.tidy();
    this.table.beginFrame();
    const { slots } = this;
    let kept = 0;
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i];
      if (frame - slot.frame < IDLE) slots[kept++] = slot;
      else slot.buffers.dispose();
    }
    slots.length = kept;
    this.states.dropBefore(frame - IDLE);
  }

  private resize(capacity: number, lists: number, fades: boolean): void {
    if (capacity === this.capacity && lists === this.lists && fades === this.fades) return;
    this.clear();
    this.capacity = capacity;
    this.lists = lists;
    this.fades = fades;
  }

  /** What hides instances. The steps are built for it. */
  private occlusionOf({ views }: DrawnCrowd): CameraOcclusion | null {
    const occlusion = (views.occlusion?.of(this.renderer) ?? null) as CameraOcclusion | null;
    this.occlusion = occlusion;
    return occlusion;
  }

  /** What is hidden from a camera: see `CameraOcclusion.prepare`; 0 in shadow maps, which show what others cast. */
  private hiddenFrom(crowd: DrawnCrowd, camera: Camera, lodCamera: Camera): number {
    const occlusion = this.occlusionOf(crowd);
    if (occlusion === null || lodCamera !== camera) return 0;
    const hidden = occlusion.prepare(camera);
    // A hook may have given the crowd another.
    return this.occlusionOf(crowd) === occlusion ? hidden : 0;
  }

  private stepsFor(buffers: ViewBuffers, state: CameraState | null): ViewSteps {
    const { instances, table, occlusion, kinds } = this;
    return this.steps.get(
      this.renderer,
      viewKey(buffers, state !== null, occlusion, kinds !== null),
      () => new ViewSteps(instances, table, buffers, state?.states ?? null, occlusion, kinds),
    );
  }

  /** Puts steps among those that are computed next, behind the first `count`. Returns how many there are then. */
  private addSteps(steps: readonly ComputeNode[], count: number): number {
    for (let i = 0; i < steps.length; i++) this.computed[count + i] = steps[i];
    return count + steps.length;
  }

  private clear(): void {
    this.steps.dispose();
    for (const { buffers } of this.slots) this.retired.push(buffers);
    this.slots = [];
    this.states.dispose();
  }

  private tidy(): void {
    const { retired } = this;
    for (let i = 0; i < retired.length; i++) retired[i].dispose();
    retired.length = 0;
  }

  private slotFor(camera: Camera): CameraSlot {
    return this.slotOf(camera) ?? this.addSlot(camera);
  }

  private addSlot(camera: Camera): CameraSlot {
    const spare = this.slots.findIndex(({ frame }) => this.frame - frame > SPARE);
    const buffers =
      spare < 0
        ? new ViewBuffers(this.capacity, this.lists, this.table.capacity, this.fades)
        : this.slots.splice(spare, 1)[0].buffers;
    const slot = new CameraSlot(camera, buffers);
    this.slots.push(slot);
    return slot;
  }

  /** Writes `_clips` and the character's sphere. Returns how many frustums there are; 0 if all instances are seen. */
  private clip(
    { views, visibility, matrixWorld, crowd }: DrawnCrowd,
    camera: Camera,
    hidden: number,
  ): number {
    if (!views.culls && views.splitter?.isUsed !== true) return 0;
    views.groups.crowd.boundsOfPoses(_box).getBoundingSphere(this.sphere);
    const cameras = camerasOf(camera);
    const count = Math.max(1, cameras.length);
    if (!views.culls || this.sphere.radius < 0 || count > MAX_FRUSTUMS) return 0;
    for (let i = 0; i < count; i++) {
      const { projectionMatrix, matrixWorldInverse } = cameras[i] ?? camera;
      _clips[i].multiplyMatrices(projectionMatrix, matrixWorldInverse).multiply(matrixWorld);
      // Then the camera may turn, and nothing is computed anew.
      if (
        hidden === 0 &&
        !crowd.written?.places &&
        seesAll(views.groups, visibility.count, setFrustum(i, camera))
      )
        return 0;
    }
    return count;
  }
}

/** How often instances are posed that a camera sees; null if all are in every frame. */
function ratesOf(
  last: SeenRates | null,
  table: LODSelector | null,
  states: StorageBufferAttribute | null,
  inShadow: boolean,
): SeenRates | null {
  if (table?.hasPoseRates !== true) return null;
  const rates = last ?? { states, poseRates: new Float32Array(LEVEL_CODES) };
  rates.states = states;
  for (let code = 0; code < LEVEL_CODES; code++) rates.poseRates[code] = table.poseRateOf(code, inShadow);
  return rates;
}

/** Whether three.js records the draws of an object once. */
function isInBundle({ parent }: Object3D): boolean {
  return (
    parent !== null &&
    ((parent as Object3D & { isBundleGroup?: boolean }).isBundleGroup === true || isInBundle(parent))
  );
}

/** The frustum of one of `_clips`. */
function setFrustum(i: number, camera: Camera): Frustum {
  const { coordinateSystem, reversedDepth } = camerasOf(camera)[i] ?? camera;
  return _frustum.setFromProjectionMatrix(_clips[i], coordinateSystem, reversedDepth);
}

/** Writes the planes of the frustums that `_clips` has. */
function clipPlanes(
  planes: readonly Vector4[],
  camera: Camera,
  frustums: number,
  visit: (frustum: Frustum) => void,
): void {
  for (let i = 0; i < frustums; i++) {
    setFrustum(i, camera);
    for (let k = 0; k < PLANES; k++) {
      const { normal, constant } = _frustum.planes[k];
      planes[i * PLANES + k].set(normal.x, normal.y, normal.z, constant);
    }
    visit(_frustum);
  }
}

/** How many lists a view has without those of single kinds: all that are seen, then each level of detail, then those of several. */
const levelLists = (table: LODSelector | null): number =>
  table?.isUsed === true ? 1 + table.count + table.mixed.length : 1;

/** Lists that there is room for: with kinds in steps, so that one more builds no computations anew. */
function listCount({ splitter, kinds }: CrowdViews): number {
  const count = levelLists(splitter);
  return kinds === null ? count : Math.min(MAX_KIND_LISTS, Math.ceil((count + kinds.lists.length) / 8) * 8);
}

/** The place among them of that of a mesh, by its `level`. */
function listAt({ splitter: table }: CrowdViews, level: number | null): number {
  if (level !== null && level >= KIND_LISTS) return levelLists(table) + level - KIND_LISTS;
  if (level === null || level < 0 || table?.isUsed !== true) return 0;
  return 1 + (level < MAX_LEVELS ? level : table.count + level - MAX_LEVELS);
}

/** The list that a mesh draws: that of its level of detail, or of all. */
export const listOf = ({ level, views }: DrawnCrowd): number => listAt(views, level);

const NONE: readonly Camera[] = [];

const camerasOf = (camera: Camera): readonly Camera[] =>
  (camera as ArrayCamera).isArrayCamera === true ? (camera as ArrayCamera).cameras : NONE;

/** Storage buffers that the computations read and write, and that vertices of a crowd read. */
const COMPUTE_BUFFERS = 8;
const VERTEX_BUFFERS = 5;
/** Bytes of an instance in the largest of the buffers. */
const BYTES = 64;

/** What is read of a device. Those limits that are not there are no limits. */
interface Limits {
  maxStorageBuffersPerShaderStage: number;
  maxStorageBuffersInVertexStage?: number;
  maxStorageBufferBindingSize: number;
  maxComputeInvocationsPerWorkgroup: number;
}

const known = /*@__PURE__*/ new WeakMap<CrowdViews, WeakMap<object, GPUViews>>();

/** Whether the GPU of a renderer can find out what cameras see of a crowd; else the CPU does it. */
export function isCulledOnGPU(renderer: object, { views, instanceMatrix }: DrawnCrowd): boolean {
  // Sorting, choosing the nearest, and layers of single instances are the CPU's.
  if (!views.isUsed || views.isStaged) return false;
  // Each mesh may draw a list of its own.
  if (views.kinds !== null && levelLists(views.splitter) + views.members.length > MAX_KIND_LISTS)
    return false;
  const { backend } = renderer as { backend: { device?: { limits: Limits } } };
  const limits = backend.device?.limits;
  return (
    limits !== undefined &&
    limits.maxStorageBuffersPerShaderStage >= COMPUTE_BUFFERS &&
    (limits.maxStorageBuffersInVertexStage ?? VERTEX_BUFFERS) >= VERTEX_BUFFERS &&
    limits.maxComputeInvocationsPerWorkgroup >= WORKGROUP &&
    limits.maxStorageBufferBindingSize >= instanceMatrix.count * BYTES
  );
}

/** What the cameras of a renderer see of a crowd. It goes with the crowd's views. */
export function gpuViewsOf(renderer: object, { views }: DrawnCrowd): GPUViews {
  let byRenderer = known.get(views);
  if (byRenderer === undefined) {
    byRenderer = new WeakMap();
    known.set(views, byRenderer);
  }
  let found = byRenderer.get(renderer);
  // It is made anew if the crowd was disposed, and is drawn again.
  if (found === undefined || !views.owned.has(found)) {
    const made = new GPUViews(renderer as WebGPURenderer);
    byRenderer.set(renderer, made);
    views.owned.add(made);
    found = made;
  }
  return found;
}
