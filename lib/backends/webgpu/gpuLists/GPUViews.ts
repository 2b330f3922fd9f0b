import { Box3, type Camera, Frustum, type Material, Matrix4, type Vector4 } from 'three';
import { If, int, uint, uniform } from 'three/tsl';
import { type ComputeNode, type Node, StorageBufferAttribute, type WebGPURenderer } from 'three/webgpu';
import { noNumbers } from '../../../../shaders/instanceIndex.tsl.js';
import { texels } from '../../../../shaders/TexelNode.js';
import { type DrawFrame, storageOf } from '../../../../shaders/tsl.js';
import { ALL_LEVELS, ID_BITS, ID_MASK, MAX_LEVELS } from '../../../constants.js';
import type { DrawnCrowd } from '../../../core/Crowd.js';
import { type CrowdViews, camerasOf } from '../../../culling/CrowdViews.js';
import type { KindSplitter, ListNumber } from '../../../culling/LODSelector.js';
import { drawsOf, type ViewInfo } from '../../../culling/ViewInfo.js';
import type { PaletteRows } from '../../PaletteRows.js';
import type { NodeRenderer } from '../checkLimits.js';
import { type DrawnList, lookUp, registerGPULists } from '../drawnLists.js';
import { PerRenderer, SharedSteps, type StepsRegistry } from '../PerRenderer.js';
import { computeWaiting, wait } from '../PoseSteps.js';
import { placesOf, type StoredOnGPU, storedPlaces } from '../StoredPlaces.js';
import type { WebGPUPoses } from '../WebGPUPoses.js';
import { CameraLists, ListedView } from './CameraLists.js';
import { WORKGROUP } from './compactLists.js';
import { type CameraOcclusion, PLANES } from './cullInstances.js';
import { DRAW_NUMBERS } from './DrawTable.js';
import { MAX_LISTS } from './SplitNodes.js';
import { MAX_FRUSTUMS, ViewSteps, viewKey } from './ViewSteps.js';

/** Frames after which a camera that does not draw the crowd any more is forgotten. */
const IDLE = 300;
/** Frames after which another camera may have its buffers: programs may make a camera for each frame. */
const SPARE = 30;

const _clips: readonly Matrix4[] = /*@__PURE__*/ Array.from({ length: MAX_FRUSTUMS }, () => new Matrix4());
const _frustum = /*@__PURE__*/ new Frustum();
const _box = /*@__PURE__*/ new Box3();
/** Steps of all crowds. */
const viewSteps: StepsRegistry<ViewSteps> = /*@__PURE__*/ new WeakMap();
/** What lists of a camera are computed from. */
const _numbers: number[] = [];

/** A buffer of words that shares its numbers with an array of the crowd's. */
class StoredWords {
  buffer = new StorageBufferAttribute(new Uint32Array(1), 1);
  private version = -1;

  update({ buffer: words }: ArrayBufferView, version: number): void {
    if (words !== this.buffer.array.buffer) {
      this.dispose();
      this.buffer = new StorageBufferAttribute(new Uint32Array(words as ArrayBuffer), 1);
    } else if (version !== this.version) this.buffer.needsUpdate = true;
    this.version = version;
  }

  dispose(): void {
    this.buffer.dispose();
  }
}

/**
 * What cameras see of a crowd, found by the GPU of one renderer: which instances, and how many, never comes back to the CPU.
 * Each camera has buffers of its own, since a shadow map may be drawn while the picture that needs it is.
 */
class GPUViews extends ListedView {
  private readonly steps = new SharedSteps(viewSteps);
  private cameras: CameraLists[] = [];
  private capacity = 0;
  private levelsVersion = -1;
  /** Lists that there is room for. */
  private room = 1;
  private fades = false;
  private readonly visible = new StoredWords();
  private readonly kindsOf = new StoredWords();
  /** Goes up when what steps read is another, and nothing else says so. */
  private version = 0;
  private frame = -1;
  /** What draws of this frame may read still. */
  private readonly retired: { dispose(): void }[] = [];

  constructor(private readonly renderer: WebGPURenderer) {
    super();
  }

  prepare(
    crowd: DrawnCrowd,
    camera: Camera,
    lodCamera: Camera,
    material: Material,
    group: { start: number; count: number } | null,
    poses: WebGPUPoses | null,
  ): void {
    // First of all: it may render, and hooks called then may render this crowd, or change how much room or which levels it has.
    const hidden = this.hiddenFrom(crowd, camera, lodCamera);
    const { occlusion, renderer, sphere } = this;
    const { frame } = renderer.info;
    const { views, visibility, playback, list, matrixWorld } = crowd;
    const { splitter, kinds } = views;
    if (frame !== this.frame) this.beginFrame(frame);
    const levelsVersion = splitter?.update() ?? -1;
    if (levelsVersion !== this.levelsVersion || !this.lists.includes(list)) {
      this.lists = listsOf(views, list);
      this.levelsVersion = levelsVersion;
      this.version++;
    }
    this.splitter = splitter;
    this.resize(crowd.capacity, roomFor(this.lists, kinds), splitter?.fadesFor(crowd.capacity) ?? false);
    this.kinds = kinds && this.kindsOf;
    if (kinds !== null) this.kindsOf.update(kinds.kinds, kinds.version);
    const written = crowd.crowd.written as StoredOnGPU | null;
    // Before the renderer forgets which matrices were changed.
    if (written?.places !== true && (views.culls || views.isWatched)) views.follow();
    if (written?.matrices == null) storedPlaces.of(renderer, crowd).update(crowd, renderer);
    this.visible.update(visibility.bits, visibility.version);
    this.matrices = placesOf(renderer, crowd) as StorageBufferAttribute;
    this.drawn = (written?.drawn ?? this.visible.buffer) as StorageBufferAttribute;
    const first = written?.prepare(renderer, this.visible.buffer) ?? null;
    if (first !== null) this.version++;
    const steps: ComputeNode[] = [...(first ?? [])];
    const lists = this.listsFor(camera);
    // What is no level any more shows nothing.
    const end = list === 0 ? 0 : crowd.count;
    lists.places.set(crowd, lists.draws.place(crowd.geometry, material, group, this.placeOf(list), end));

    this.buffers = lists;
    this.count = visibility.count;
    this.frustums = this.clip(crowd, camera);
    this.inShadow = lodCamera !== camera;
    this.levels = splitter?.isUsed === true ? this.listsFor(lodCamera).levelsOf(splitter, matrixWorld) : null;
    this.posed = poses?.counts ?? null;
    const { frustums, levels } = this;
    const { x, y, z } = sphere.center;
    const edits = crowd.crowd.poseEdits;
    edits?.update();
    _numbers.length = 0;
    for (let i = 0; i < frustums; i++) _numbers.push(..._clips[i].elements);
    _numbers.push(
      this.count,
      this.matrices.id,
      this.drawn.id,
      crowd.instanceMatrix.version,
      visibility.version,
    );
    _numbers.push(lists.draws.version, this.version, x, y, z, sphere.radius, hidden, lodCamera.id);
    _numbers.push(
      kinds?.version ?? -1,
      levels?.chosen.version ?? -1,
      poses?.size ?? -1,
      edits?.version ?? -1,
    );
    if (poses !== null) _numbers.push(playback.time.time, playback.time.origin, playback.version);
    if (lists.remember(_numbers)) {
      if (steps.length > 0) renderer.compute(steps);
      return;
    }
    const viewSteps = this.steps.get(renderer, viewKey(this), () => new ViewSteps(this));
    occlusion?.use(frustums === 1 ? hidden : 0, _clips[0], matrixWorld);
    clipPlanes(viewSteps.planes, camera, frustums);
    steps.push(...viewSteps.prepare(this));
    wait(steps, null);
    poses?.poseListed(renderer, crowd, lists);
    computeWaiting(renderer);
  }

  /** Where the list of a mesh is among those of a view. */
  placeOf(list: ListNumber): number {
    return Math.max(0, this.lists.indexOf(list));
  }

  /** What a camera has to draw by; null if it was not prepared. */
  listsOf(camera: Camera): CameraLists | null {
    const { cameras } = this;
    for (let i = 0; i < cameras.length; i++) if (cameras[i].camera === camera) return cameras[i];
    return null;
  }

  async read({ views, crowd }: DrawnCrowd, camera: Camera): Promise<ViewInfo> {
    const { posed, splitter } = views;
    const lists = this.listsOf(camera);
    const totals = lists
      ? new Uint32Array(await this.renderer.getArrayBufferAsync(lists.totals))
      : new Uint32Array(MAX_LISTS);
    const [visible] = totals;
    const levels = splitter?.isUsed === true ? [...totals.subarray(1, 1 + splitter.count)] : [visible];
    const countOf = (list: ListNumber) => totals[this.placeOf(list)];
    const info = { visible, levels, ...drawsOf(views, countOf) };
    return crowd.written === null ? { ...info, posed } : info;
  }

  dispose(): void {
    this.clear();
    this.tidy();
    this.visible.dispose();
    this.kindsOf.dispose();
  }

  private beginFrame(frame: number): void {
    this.frame = frame;
    this.tidy();
    for (const lists of this.cameras) if (frame - lists.frame >= IDLE) lists.dispose();
    this.cameras = this.cameras.filter((lists) => frame - lists.frame < IDLE);
  }

  private resize(capacity: number, room: number, fades: boolean): void {
    if (capacity === this.capacity && room === this.room && fades === this.fades) return;
    this.clear();
    this.capacity = capacity;
    this.room = room;
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

  private clear(): void {
    this.steps.dispose();
    this.retired.push(...this.cameras);
    this.cameras = [];
  }

  private tidy(): void {
    const { retired } = this;
    for (let i = 0; i < retired.length; i++) retired[i].dispose();
    retired.length = 0;
  }

  private listsFor(camera: Camera): CameraLists {
    const { capacity, room, fades, frame, retired } = this;
    let own = this.listsOf(camera) ?? this.cameras.find((spare) => frame - spare.frame > SPARE);
    if (own === undefined) {
      own = new CameraLists(camera, capacity, room, fades, retired);
      this.cameras.push(own);
    }
    own.begin(frame, camera);
    return own;
  }

  /** Writes `_clips` and the character's sphere. Returns how many frustums there are; 0 if all instances are seen. */
  private clip({ views, matrixWorld }: DrawnCrowd, camera: Camera): number {
    if (!views.culls && views.splitter?.isUsed !== true) return 0;
    views.groups.crowd.boundsOfPoses(_box).getBoundingSphere(this.sphere);
    const cameras = camerasOf(camera);
    const count = Math.max(1, cameras.length);
    if (!views.culls || this.sphere.radius < 0 || count > MAX_FRUSTUMS) return 0;
    for (let i = 0; i < count; i++) {
      const { projectionMatrix, matrixWorldInverse } = cameras[i] ?? camera;
      _clips[i].multiplyMatrices(projectionMatrix, matrixWorldInverse).multiply(matrixWorld);
    }
    return count;
  }
}

/** Writes the planes of the frustums that `_clips` has. */
function clipPlanes(planes: readonly Vector4[], camera: Camera, frustums: number): void {
  for (let i = 0; i < frustums; i++) {
    const { coordinateSystem, reversedDepth } = camerasOf(camera)[i] ?? camera;
    _frustum.setFromProjectionMatrix(_clips[i], coordinateSystem, reversedDepth);
    for (let k = 0; k < PLANES; k++) {
      const { normal, constant } = _frustum.planes[k];
      planes[i * PLANES + k].set(normal.x, normal.y, normal.z, constant);
    }
  }
}

/**
 * The lists that meshes of a crowd draw.
 *
 * @param list One that is to be among them.
 */
function listsOf({ splitter, crowd: { members } }: CrowdViews, list: ListNumber = 0): ListNumber[] {
  const lists = new Set([ALL_LEVELS]);
  if (splitter?.isUsed === true) for (let level = 0; level < splitter.count; level++) lists.add(1 << level);
  for (const one of [list, ...members.map((member) => member.list)]) if (one !== 0) lists.add(one);
  return [...lists];
}

/** With kinds in steps, so that one more builds no computations anew. */
const roomFor = ({ length }: readonly ListNumber[], kinds: KindSplitter | null): number =>
  kinds === null ? length : Math.min(MAX_LISTS, Math.ceil(length / 8) * 8);

/** Storage buffers that the computations read and write, and that vertices of a crowd read. */
const COMPUTE_BUFFERS = 8;
const VERTEX_BUFFERS = 5;
/** Bytes of an instance in the largest of the buffers. */
const BYTES = 64;

/** Whether the GPU of a renderer can find out what cameras see of a crowd; else the CPU does it. */
function isUsed(renderer: object, { views, instanceMatrix, crowd }: DrawnCrowd): boolean {
  if (views.occlusion === null && crowd.written === null) return false;
  // Sorting, choosing the nearest, and layers of single instances are the CPU's.
  if (!views.isUsed || views.isStaged) return false;
  // Each mesh may draw a list of its own.
  if (crowd.members.length > (MAX_LISTS - MAX_LEVELS) / 2 && listsOf(views).length > MAX_LISTS) return false;
  // Types do not know the second one yet.
  const limits = (renderer as NodeRenderer).backend.device?.limits as
    | (GPUSupportedLimits & { maxStorageBuffersInVertexStage?: number })
    | undefined;
  return (
    limits !== undefined &&
    limits.maxStorageBuffersPerShaderStage >= COMPUTE_BUFFERS &&
    (limits.maxStorageBuffersInVertexStage ?? VERTEX_BUFFERS) >= VERTEX_BUFFERS &&
    limits.maxComputeInvocationsPerWorkgroup >= WORKGROUP &&
    limits.maxStorageBufferBindingSize >= instanceMatrix.count * BYTES
  );
}

/** What the cameras of each renderer see of each crowd. */
const gpuViews = /*@__PURE__*/ new PerRenderer((renderer) => new GPUViews(renderer as WebGPURenderer));

let nothing: StorageBufferAttribute | null = null;

/** Stands in the place of a list before there is any. */
function emptyBuffer(): StorageBufferAttribute {
  nothing ??= new StorageBufferAttribute(new Float32Array(16), 1);
  return nothing;
}

/** Reads the list of a camera, which the GPU has made. */
class StorageList implements DrawnList {
  /** Where in the buffer the list begins; -1 for the list of all instances. */
  private readonly first = uniform(-1, 'int');
  private readonly ids = storageOf(emptyBuffer(), 'uint').toReadOnly();
  readonly listsRows = false;
  readonly others = texels(noNumbers('rows'));

  /** @param fades Whether entries of the list say which pixels are drawn, too. */
  constructor(private readonly fades: boolean) {}

  entry(drawn: Node<'int'>): Node<'int'> {
    return idOf(this.numberOf(drawn), this.fades);
  }

  fade(drawn: Node<'int'>): Node<'int'> {
    return int(this.numberOf(drawn).shiftRight(uint(ID_BITS)));
  }

  private numberOf(drawn: Node<'int'>): Node<'uint'> {
    const entry = uint(drawn).toVar();
    If(this.first.greaterThanEqual(0), () => {
      entry.assign(this.ids.element(this.first.add(drawn)));
    });
    return entry;
  }

  show(crowd: DrawnCrowd, { renderer, camera }: DrawFrame, rows: PaletteRows | null, all: boolean): void {
    this.first.value = -1;
    this.ids.value = emptyBuffer();
    crowd.geometry.indirect = null;
    lookUp(crowd, this, rows, rows?.rowOf);
    if (all || renderer === null || camera === null) return;
    const seen = gpuViews.of(renderer, crowd);
    const lists = seen.listsOf(camera);
    const place = lists?.places.get(crowd);
    if (lists === null || place === undefined) return;
    this.ids.value = lists.ids;
    this.first.value = seen.placeOf(crowd.list) * lists.capacity;
    crowd.geometry.setIndirect(lists.draws.buffer, place * DRAW_NUMBERS * 4);
  }
}

const idOf = (entry: Node<'uint'>, fades: boolean): Node<'int'> =>
  int(fades ? entry.bitAnd(uint(ID_MASK)) : entry);

/** Lets the GPU make the lists of crowds of which it knows more than the CPU. */
export function enableGPULists(): void {
  registerGPULists({
    isUsed,
    of: (renderer, crowd) => gpuViews.of(renderer, crowd),
    createList: (fades) => new StorageList(fades),
  });
}
