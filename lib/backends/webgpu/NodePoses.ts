import { type ComputeNode, StorageBufferAttribute, type WebGPURenderer } from 'three/webgpu';
import type { BoneTexture } from '../../animation/BoneTexture.js';
import type { PoseTracks } from '../../animation/PoseTracks.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import type { PoseRequest } from '../../culling/InstanceList.js';
import type { InstancePlayback } from '../../playback/InstancePlayback.js';
import { PaletteRows } from '../PaletteRows.js';
import { PoseDirtyTracker } from '../PoseDirtyTracker.js';
import { KeptPoses } from './KeptPoses.js';
import { createMatrixRows, type MatrixRows, maxMatrixRows } from './MatrixRows.js';
import {
  countPoses,
  createPoseNumbers,
  type PoseBuffers,
  type PoseList,
  PoseSteps,
  poseKey,
  timesIn,
  wait,
} from './PoseSteps.js';
import { SharedSteps, type StepsRegistry } from './SharedSteps.js';
import { storedPlacesOf } from './StoredPlaces.js';

const MATRIX_BYTES = 48;

let _due = /*@__PURE__*/ new Uint32Array(0);

/** What was posed on a renderer. */
interface Posed {
  tracker: PoseDirtyTracker;
  /** Which buffers hold it, see `NodePoses.generation`. */
  generation: number;
  /** The first so many instances have a pose. */
  count: number;
  /** The number of changes of where instances stand that are in it. */
  changes: number;
}

/** Steps of all crowds. Those of WebGL 2 write to the buffers that they were built for, so each crowd has its own. */
const poseSteps: StepsRegistry<PoseSteps> = /*@__PURE__*/ new WeakMap();

/**
 * The poses of all that share one playback, on renderers of one kind of backend: twin of `WebGLPoses`. On WebGPU those are posed that
 * cameras see, in rows that are handed out to them; on the WebGL 2 backend everyone.
 *
 * Two computations follow each other. The first samples and mixes what plays, once for each node of each instance, the second
 * multiplies for each joint what the nodes above it came to.
 */
export class NodePoses implements PoseBuffers {
  readonly counts;
  readonly rows: PaletteRows;
  locals!: MatrixRows;
  segments: MatrixRows | null = null;
  palette!: MatrixRows;
  due!: StorageBufferAttribute;
  readonly numbers = createPoseNumbers();
  readonly times = timesIn(this.numbers);
  posedCrowd!: DrawnCrowd;
  /** The last frame in which it was drawn, see `poseAhead`; -1 while that does not know it. */
  turn = -1;
  private kept: KeptPoses | null = null;
  private readonly steps: SharedSteps<PoseSteps>;
  private posed = new WeakMap<WebGPURenderer, Posed>();
  /** Goes up with each other palette. */
  private generation = 0;
  /** Rows that there are buffers for. */
  size = -1;
  /** The same with that of nobody. */
  private room = -1;
  private frame = -1;
  /** Who posed them first, and whether others did too: of what they see nothing is known here. */
  private first: WeakRef<WebGPURenderer> | null = null;
  private isShared = false;
  /** What draws of this frame may still read. */
  private readonly retired: { dispose(): void }[] = [];

  constructor(
    readonly boneTexture: BoneTexture,
    private readonly playback: InstancePlayback,
    readonly webGPU: boolean,
  ) {
    this.counts = countPoses(boneTexture.data.tracks as PoseTracks);
    this.rows = new PaletteRows(playback.capacity, (texture) => this.retired.push(texture));
    this.steps = new SharedSteps(webGPU ? poseSteps : new WeakMap());
    this.fit();
    this.resize();
  }

  /** Makes room for as many instances as there are now, in the palette that there is: that goes by who is seen. */
  fit(): void {
    const { playback, rows, webGPU } = this;
    const { capacity } = playback;
    if (rows.capacity !== capacity) {
      rows.resize(capacity);
      this.posed = new WeakMap();
      if (this.kept !== null) this.retired.push(this.kept);
      this.kept = null;
    }
    if (!webGPU) rows.setSize(capacity);
  }

  /** The palette of the frame before. It is kept from the first time on that someone asks for it, and everyone is posed then. */
  get keptPoses(): KeptPoses {
    const { playback, counts, webGPU } = this;
    this.kept ??= new KeptPoses(createMatrixRows(playback.capacity * counts.columns, webGPU), playback);
    return this.kept;
  }

  get before(): MatrixRows | null {
    return this.kept?.palette ?? null;
  }

  /** How many instances a renderer has posed as they are now. */
  posedCount(renderer: WebGPURenderer): number {
    return this.posed.get(renderer)?.tracker.count ?? 0;
  }

  /** @returns Whether this is the first time in a frame. */
  beginFrame({ info: { frame } }: WebGPURenderer): boolean {
    if (frame === this.frame) return false;
    this.frame = frame;
    for (let i = 0; i < this.retired.length; i++) this.retired[i].dispose();
    this.retired.length = 0;
    return true;
  }

  /**
   * Poses those instances that are wanted, and are not posed yet as they are now. Call it in `onBeforeRender`.
   *
   * @param expected What other cameras of the frame are likely to see.
   * @param seen What is about to be drawn; null for all.
   * @param waits Whether it is left to `computeWaiting` to compute them, if that can be.
   * @throws If the device has no room for so many.
   */
  update(
    renderer: WebGPURenderer,
    crowd: DrawnCrowd,
    expected: readonly PoseRequest[] | null,
    seen: PoseRequest | null,
    waits = false,
  ): void {
    const { playback, rows, webGPU } = this;
    const { capacity } = playback;
    const { poseEdits } = crowd.crowd;
    poseEdits?.update();
    this.first ??= new WeakRef(renderer);
    if (this.first.deref() !== renderer) this.isShared = true;
    const all = seen === null || this.kept !== null || !webGPU;
    const isWhole = all || this.isShared;

    let posed = this.posed.get(renderer);
    if (posed === undefined) {
      posed = { tracker: new PoseDirtyTracker(capacity), generation: -1, count: 0, changes: -1 };
      this.posed.set(renderer, posed);
    }
    const { tracker } = posed;
    const { askedCount } = tracker;
    if (tracker.moveTo(crowd) && !isWhole && rows.shrink(askedCount)) this.generation++;
    this.takeMoved(renderer, crowd, posed);
    tracker.begin();
    if (all) tracker.add(null, crowd);
    else {
      if (expected !== null) for (let i = 0; i < expected.length; i++) tracker.add(expected[i], crowd);
      tracker.add(seen, crowd);
    }
    this.grow(renderer, isWhole ? capacity : tracker.askedCount);
    if (posed.generation !== this.generation) {
      // Cameras that were prepared before this one may be drawn after it.
      tracker.clear();
      tracker.begin();
      tracker.add({ ...NO_RATES, seen: tracker.asked }, crowd);
      posed.generation = this.generation;
      posed.count = 0;
    }
    if (tracker.dueCount > 0) this.pose(renderer, crowd, posed, waits);
  }

  /** What poses the instances of a list. */
  stepsForList(renderer: WebGPURenderer, crowd: DrawnCrowd, list: PoseList): ComputeNode[] {
    crowd.crowd.poseEdits?.update();
    this.grow(renderer, this.playback.capacity);
    this.posedCrowd = crowd;
    // What the tracker knows is not so any more.
    this.generation++;
    const make = () => new PoseSteps(this, true, list);
    const steps = this.steps.get(renderer, poseKey(crowd, this.counts, false, list), make);
    prepareUploads(renderer, crowd);
    this.prepareRows(renderer);
    return steps.prepareList(this, list);
  }

  dispose(): void {
    this.turn = -1;
    this.numbers.dispose();
    this.steps.dispose();
    this.rows.dispose();
    this.retire();
    for (const thing of this.retired) thing.dispose();
    this.kept?.dispose();
  }

  private pose(renderer: WebGPURenderer, crowd: DrawnCrowd, posed: Posed, waits: boolean): void {
    this.posedCrowd = crowd;
    const { rows, counts, kept, webGPU } = this;
    const { tracker } = posed;
    const { count } = crowd.visibility;
    const hasAll = rows.size === rows.capacity;
    const isPart = !hasAll || tracker.dueCount < count;
    if (isPart && webGPU) this.writeDue(tracker);
    rows.rowOf.prepare(renderer);
    rows.instanceOf.texture.prepare(renderer);
    const copied = kept?.keep(renderer, posed.count) ?? 0;
    const key = poseKey(crowd, counts, kept !== null, null);
    const steps = this.steps.get(renderer, key, () => new PoseSteps(this, webGPU, null));
    prepareUploads(renderer, crowd);
    this.prepareRows(renderer);
    const looked = hasAll ? count : rows.size;
    const nodes = steps.prepare(this, looked, isPart, copied);
    if (waits && this.canWait) wait(nodes, this);
    else renderer.compute(nodes);
    posed.count = count;
  }

  /** Whether all that tells its steps from those of other crowds is in buffers and textures: uniforms are of one crowd alone. */
  private get canWait(): boolean {
    return this.webGPU && this.playback.over === null && this.posedCrowd.crowd.poseEdits === null;
  }

  private prepareRows(renderer: WebGPURenderer): void {
    this.locals.prepare(renderer);
    this.segments?.prepare(renderer);
    this.palette.prepare(renderer);
  }

  /** Finds out which instances were moved since the last time: these are posed again. */
  private takeMoved(renderer: WebGPURenderer, crowd: DrawnCrowd, posed: Posed): void {
    const { tracker, changes } = posed;
    const places = storedPlacesOf(crowd, this.webGPU);
    places.update(crowd, renderer);
    posed.changes = places.changes;
    if (changes + 1 === places.changes) tracker.move(places.moved);
    else if (changes !== places.changes || crowd.crowd.written?.places) tracker.clear();
  }

  /** Makes room for so many. */
  private grow(renderer: WebGPURenderer, count: number): void {
    const { rows } = this;
    if (count > rows.size) rows.setSize(rows.sizeFor(count));
    if (rows.size === this.size && withNobody(rows) === this.room) return;
    checkRoom(renderer, this);
    this.resize();
  }

  /** Says which rows are to be posed, a bit for each. */
  private writeDue(tracker: PoseDirtyTracker): void {
    const { array } = this.due;
    if (_due.length < array.length) _due = new Uint32Array(array.length);
    else _due.fill(0);
    for (let word = 0; word < tracker.due.length; word++) {
      for (let rest = tracker.due[word]; rest !== 0; rest &= rest - 1) {
        const row = this.rows.rowFor(word * 32 + 31 - Math.clz32(rest & -rest), tracker);
        _due[row >> 5] |= 1 << (row & 31);
      }
    }
    for (let i = 0; i < array.length; i++) {
      if (array[i] === _due[i]) continue;
      array[i] = _due[i];
      this.due.needsUpdate = true;
    }
  }

  private resize(): void {
    const { counts, webGPU } = this;
    if (this.size >= 0) this.retire();
    const { size } = this.rows;
    this.size = size;
    this.generation++;
    this.locals = createMatrixRows(size * counts.entries, webGPU);
    if (counts.layout.hasLongChains) this.segments = createMatrixRows(size * counts.entries, webGPU);
    this.room = withNobody(this.rows);
    this.palette = createMatrixRows(this.room * counts.columns, webGPU);
    this.due = new StorageBufferAttribute(new Uint32Array(Math.max(1, Math.ceil(size / 32))), 1);
  }

  private retire(): void {
    const { due, segments } = this;
    this.retired.push(this.locals, this.palette, due);
    if (segments !== null) this.retired.push(segments);
  }
}

const NO_RATES = {
  levels: null,
  poseRates: /*@__PURE__*/ new Float32Array(1),
  hasPoseRates: false,
  version: -2,
};

/** A renderer that has not got all of a texture must not be sent a part of it. */
function prepareUploads(renderer: WebGPURenderer, { playback, crowd: { poseEdits } }: DrawnCrowd): void {
  playback.actions.prepare(renderer);
  if (poseEdits !== null) for (const texture of poseEdits.textures) texture.prepare(renderer);
}

/** Rows that palettes have. Where some instance has none, it has the last: all its vertices are at one point. */
const withNobody = ({ size, capacity }: PaletteRows): number => (size < capacity ? size + 1 : size);

function checkRoom(
  renderer: WebGPURenderer,
  { counts: { entries, columns, joints }, rows }: NodePoses,
): void {
  const width = Math.max(entries, columns);
  const room = Math.floor(maxMatrixRows(renderer) / width);
  const size = withNobody(rows);
  if (size <= room) return;
  throw new Error(
    `SkinnedInstancedMesh: this device has room for poses of ${room} instances of ${joints} joints, not of ${size}; make several crowds, or give WebGPURenderer requiredLimits: maxBufferSize and maxStorageBufferBindingSize of ${size * width * MATRIX_BYTES}.`,
  );
}

const known = {
  webGPU: /*@__PURE__*/ new WeakMap<InstancePlayback, NodePoses>(),
  webGL: /*@__PURE__*/ new WeakMap<InstancePlayback, NodePoses>(),
};

const isWebGPU = (renderer: object): boolean =>
  (renderer as { backend: { isWebGPUBackend?: boolean } }).backend.isWebGPUBackend === true;

/** The poses of a crowd on a renderer; they go with what its instances play. */
export function posesOf(renderer: object, { playback, crowd: { boneTexture } }: DrawnCrowd): NodePoses {
  const webGPU = isWebGPU(renderer);
  const all = webGPU ? known.webGPU : known.webGL;
  const last = all.get(playback);
  if (last?.boneTexture === boneTexture) {
    if (last.rows.capacity !== playback.capacity) last.fit();
    return last;
  }
  last?.dispose();
  const poses = new NodePoses(boneTexture, playback, webGPU);
  all.set(playback, poses);
  disposeWith(playback, poses, all);
  return poses;
}

/** Disposes poses with what their instances play. That has other textures once there is room for another number of instances. */
function disposeWith(
  playback: InstancePlayback,
  poses: NodePoses,
  all: WeakMap<InstancePlayback, NodePoses>,
): void {
  const actions = playback.actions.layered;
  actions.addEventListener('dispose', function dispose() {
    actions.removeEventListener('dispose', dispose);
    // What the WebGL 2 backend computes is built for the buffers that it writes, of one size.
    if (poses.webGPU && all.get(playback) === poses && playback.actions.layered !== actions) {
      disposeWith(playback, poses, all);
      return;
    }
    poses.dispose();
    if (all.get(playback) === poses) all.delete(playback);
  });
}
