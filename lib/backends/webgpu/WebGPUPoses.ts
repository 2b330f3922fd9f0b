import { StorageBufferAttribute, type WebGPURenderer } from 'three/webgpu';
import type { BoneTexture } from '../../animation/BoneTexture.js';
import type { PoseTracks } from '../../animation/PoseTracks.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import type { PoseRequest } from '../../culling/InstanceList.js';
import { PreviousRows } from '../../instances/PreviousRows.js';
import type { InstancePlayback } from '../../playback/InstancePlayback.js';
import { PaletteRows } from '../PaletteRows.js';
import { PoseDirtyTracker } from '../PoseDirtyTracker.js';
import { createMatrixRows, type MatrixRows, maxMatrixRows } from './MatrixRows.js';
import { isWebGPU, PerRenderer } from './PerRenderer.js';
import {
  computeWaiting,
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
import { placesOf, storedPlaces } from './StoredPlaces.js';

const MATRIX_BYTES = 48;
/** Instances that are posed at once where the CPU lists them: what lies between the steps takes no more memory than that. */
const MOST_AT_ONCE = 4096;

/** Steps of all crowds. Those of WebGL 2 write to the buffers that they were built for, so each crowd has its own. */
const poseSteps: StepsRegistry<PoseSteps> = /*@__PURE__*/ new WeakMap();

/** The poses of the frame before, for motion vectors. */
export class KeptPoses {
  /** Where instances were then. */
  readonly rows: PreviousRows;
  /** The frame in which poses were kept last, and of how many instances. */
  private frame = -1;
  private count = 0;

  constructor(
    readonly palette: MatrixRows,
    private readonly playback: InstancePlayback,
  ) {
    this.rows = new PreviousRows(playback.capacity);
    playback.previousRows.add(this.rows);
  }

  /** How many instances, the first ones, were posed otherwise in the frame before; 0 if none moves. */
  countIn(frame: number): number {
    return frame === this.frame ? this.count : 0;
  }

  /**
   * Call before instances are posed anew.
   *
   * @param posed Instances that are posed.
   * @returns Of how many the poses must be copied first: none but for the first time in a frame.
   */
  keep(renderer: WebGPURenderer, posed: number): number {
    const { rows, palette } = this;
    const { frame } = renderer.info;
    const anew = this.frame !== frame;
    rows.posed(anew);
    rows.texture.prepare(renderer);
    if (!anew) return 0;
    palette.prepare(renderer);
    this.frame = frame;
    this.count = posed;
    return posed;
  }

  dispose(): void {
    this.playback.previousRows.delete(this.rows);
    this.palette.dispose();
    this.rows.dispose();
  }
}

/**
 * The poses of a crowd, and of all that is attached to it, on a renderer: twin of `WebGLPoses`. On WebGPU those are posed that
 * cameras see, in rows that are handed out to them; on the WebGL 2 backend everyone.
 *
 * Two computations follow each other. The first samples and mixes what plays, once for each node of each instance, the second
 * multiplies for each joint what the nodes above it came to.
 */
export class WebGPUPoses implements PoseBuffers {
  readonly counts;
  readonly rows: PaletteRows;
  locals!: MatrixRows;
  segments: MatrixRows | null = null;
  palette!: MatrixRows;
  due!: StorageBufferAttribute;
  list: PoseList | null = null;
  readonly numbers: StorageBufferAttribute;
  readonly times: Float32Array;
  posedCrowd!: DrawnCrowd;
  places!: ReturnType<typeof placesOf>;
  private tracker: PoseDirtyTracker;
  private kept: KeptPoses | null = null;
  private readonly steps: SharedSteps<PoseSteps>;
  /** The first so many instances have a pose. */
  private count = 0;
  /** Whether nobody is posed in the palette that there is. */
  private isEmpty = true;
  /** Whether `due` lists all rows, in order. */
  private isDueInOrder = false;
  /** Rows that there are buffers for. */
  size = -1;
  /** The same with that of nobody. */
  private room = -1;
  /** Instances that are posed at once. */
  private atOnce: number;
  private frame = -1;
  /** What draws of this frame may still read. */
  private readonly retired: { dispose(): void }[] = [];

  constructor(
    private readonly boneTexture: BoneTexture,
    private readonly playback: InstancePlayback,
    private readonly webGPU: boolean,
  ) {
    const { capacity } = playback;
    this.counts = countPoses(boneTexture.data.tracks as PoseTracks);
    this.numbers = createPoseNumbers(this.counts);
    this.times = timesIn(this.numbers);
    this.rows = new PaletteRows(capacity, (texture) => this.retired.push(texture));
    this.tracker = new PoseDirtyTracker(capacity);
    this.steps = new SharedSteps(webGPU ? poseSteps : new WeakMap());
    if (!webGPU) this.rows.setSize(capacity);
    this.atOnce = webGPU ? MOST_AT_ONCE : Infinity;
    this.resize();
  }

  /** What the WebGL 2 backend computes is built for the buffers that it writes, of one size. */
  suits({ crowd: { boneTexture }, playback }: DrawnCrowd): boolean {
    return this.boneTexture === boneTexture && (this.webGPU || this.rows.capacity === playback.capacity);
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

  /** How many instances are posed as they are now. */
  get posedCount(): number {
    return this.tracker.count;
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
    const { rows, tracker, webGPU } = this.fitted();
    crowd.crowd.poseEdits?.update();
    const all = seen === null || this.kept !== null || !webGPU;
    const { askedCount } = tracker;
    if (tracker.moveTo(crowd) && !all && rows.shrink(askedCount)) {
      this.isEmpty = true;
      // The GPU may have listed them until now.
      this.atOnce = MOST_AT_ONCE;
    }
    const places = storedPlaces.of(renderer, crowd);
    places.update(crowd, renderer);
    if (crowd.crowd.written?.places) tracker.clear();
    else places.takeMoved(tracker);
    tracker.begin();
    if (all) tracker.add(null, crowd);
    else {
      if (expected !== null) for (let i = 0; i < expected.length; i++) tracker.add(expected[i], crowd);
      tracker.add(seen, crowd);
    }
    this.grow(renderer, all ? rows.capacity : tracker.askedCount);
    if (this.isEmpty) {
      // Cameras that were prepared before this one may be drawn after it.
      tracker.clear();
      tracker.begin();
      const known = {
        seen: tracker.asked,
        levels: null,
        poseRates: NO_RATES,
        hasPoseRates: false,
        posedIn: 0,
      };
      tracker.add(known, crowd);
      this.isEmpty = false;
      this.count = 0;
    }
    if (tracker.dueCount > 0) this.pose(renderer, crowd, waits);
  }

  /** Has the instances of a list posed, at the next `computeWaiting`. */
  poseListed(renderer: WebGPURenderer, crowd: DrawnCrowd, list: PoseList): void {
    crowd.crowd.poseEdits?.update();
    // The GPU alone knows how many these are.
    this.grow(renderer, this.fitted().rows.capacity, Infinity);
    // What the tracker knows is not so any more.
    this.isEmpty = true;
    wait(this.stepsFor(renderer, crowd, list).prepare(this, 0, 0, 0), this);
  }

  dispose(): void {
    this.numbers.dispose();
    this.steps.dispose();
    this.rows.dispose();
    this.retire();
    for (const thing of this.retired) thing.dispose();
    this.kept?.dispose();
  }

  /** Makes room for as many instances as there are now, in the palette that there is: that goes by who is seen. */
  private fitted(): this {
    const { rows, kept } = this;
    const { capacity } = this.playback;
    if (rows.capacity === capacity) return this;
    rows.resize(capacity);
    this.tracker = new PoseDirtyTracker(capacity);
    this.isEmpty = true;
    if (kept !== null) this.retired.push(kept);
    this.kept = null;
    return this;
  }

  private pose(renderer: WebGPURenderer, crowd: DrawnCrowd, waits: boolean): void {
    const { kept, webGPU, atOnce } = this;
    const { count } = crowd.visibility;
    const due = webGPU ? this.listDue(count) : count;
    let copied = kept?.keep(renderer, this.count) ?? 0;
    const steps = this.stepsFor(renderer, crowd, null);
    for (let first = 0; first < due; first += atOnce) {
      wait(steps.prepare(this, first, Math.min(due - first, atOnce), copied), this);
      copied = 0;
      if (!waits || !this.canWait || due > atOnce) computeWaiting(renderer);
    }
    this.count = count;
  }

  /** The steps that pose a crowd next, once all that they read and write is prepared. */
  private stepsFor(renderer: WebGPURenderer, crowd: DrawnCrowd, list: PoseList | null): PoseSteps {
    const { rows, counts, kept, webGPU } = this;
    this.posedCrowd = crowd;
    this.places = placesOf(renderer, crowd);
    this.list = list;
    rows.rowOf.prepare(renderer);
    rows.instanceOf.texture.prepare(renderer);
    prepareUploads(renderer, crowd);
    this.locals.prepare(renderer);
    this.segments?.prepare(renderer);
    this.palette.prepare(renderer);
    const key = poseKey(crowd, counts, kept !== null);
    return this.steps.get(renderer, key, () => new PoseSteps(this, webGPU));
  }

  /** Whether all that tells its steps from those of other crowds is in buffers and textures: uniforms are of one crowd alone. */
  private get canWait(): boolean {
    return this.playback.over === null && this.posedCrowd.crowd.poseEdits === null;
  }

  /** Makes room for so many. */
  private grow(renderer: WebGPURenderer, count: number, atOnce = this.atOnce): void {
    const { rows } = this;
    if (count > rows.size) rows.setSize(rows.sizeFor(count));
    if (rows.size === this.size && withNobody(rows) === this.room && atOnce === this.atOnce) return;
    this.atOnce = atOnce;
    checkRoom(renderer, this, atOnce);
    this.resize();
  }

  /** Lists the rows that are to be posed. Returns how many these are. */
  private listDue(count: number): number {
    const { due, rows, tracker } = this;
    const { array } = due;
    if (rows.size === rows.capacity && tracker.dueCount >= count) {
      if (!this.isDueInOrder) {
        for (let row = 0; row < array.length; row++) array[row] = row;
        sendFirst(due, array.length);
      }
      this.isDueInOrder = true;
      return count;
    }
    let listed = 0;
    let differs = false;
    for (let word = 0; word < tracker.due.length; word++) {
      for (let rest = tracker.due[word]; rest !== 0; rest &= rest - 1) {
        const row = rows.rowFor(word * 32 + 31 - Math.clz32(rest & -rest), tracker);
        if (array[listed] !== row) {
          array[listed] = row;
          differs = true;
        }
        listed++;
      }
    }
    if (!differs) return listed;
    this.isDueInOrder = false;
    sendFirst(due, listed);
    return listed;
  }

  private resize(): void {
    const { counts, webGPU } = this;
    if (this.size >= 0) this.retire();
    const { size } = this.rows;
    this.size = size;
    this.isEmpty = true;
    const entries = Math.min(size, this.atOnce) * counts.entries;
    this.locals = createMatrixRows(entries, webGPU);
    if (counts.layout.hasLongChains) this.segments = createMatrixRows(entries, webGPU);
    this.room = withNobody(this.rows);
    this.palette = createMatrixRows(this.room * counts.columns, webGPU);
    this.due = new StorageBufferAttribute(new Uint32Array(Math.max(1, size)), 1);
    this.isDueInOrder = false;
  }

  private retire(): void {
    const { due, segments } = this;
    this.retired.push(this.locals, this.palette, due);
    if (segments !== null) this.retired.push(segments);
  }
}

/** Has renderers upload the first numbers of a buffer, and those that wait already. */
function sendFirst(buffer: StorageBufferAttribute, count: number): void {
  const { updateRanges } = buffer;
  if (updateRanges.length === 0) buffer.addUpdateRange(0, count);
  else updateRanges[0].count = Math.max(updateRanges[0].count, count);
  buffer.needsUpdate = true;
}

const NO_RATES = /*@__PURE__*/ new Float32Array(1);

/** A renderer that has not got all of a texture must not be sent a part of it. */
function prepareUploads(renderer: WebGPURenderer, { playback, crowd: { poseEdits } }: DrawnCrowd): void {
  playback.texels.texture.prepare(renderer);
  if (poseEdits !== null) for (const texture of poseEdits.textures) texture.prepare(renderer);
}

/** Rows that palettes have. Where some instance has none, it has the last: all its vertices are at one point. */
const withNobody = ({ size, capacity }: PaletteRows): number => (size < capacity ? size + 1 : size);

function checkRoom(
  renderer: WebGPURenderer,
  { counts: { entries, columns, joints }, rows }: WebGPUPoses,
  atOnce: number,
): void {
  const size = withNobody(rows);
  // What lies between the steps is of those that are posed at once.
  const width = Math.max(columns, atOnce < size ? 0 : entries);
  const room = Math.floor(maxMatrixRows(renderer) / width);
  if (size <= room) return;
  throw new Error(
    `SkinnedInstancedMesh: this device has room for poses of ${room} instances of ${joints} joints, not of ${size}; make several crowds, or give WebGPURenderer requiredLimits: maxBufferSize and maxStorageBufferBindingSize of ${size * width * MATRIX_BYTES}.`,
  );
}

/** The poses of crowds. */
export const webGPUPoses = /*@__PURE__*/ new PerRenderer(
  (renderer, { playback, crowd: { boneTexture } }) =>
    new WebGPUPoses(boneTexture, playback, isWebGPU(renderer)),
);
