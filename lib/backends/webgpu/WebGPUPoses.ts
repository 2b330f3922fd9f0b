import type { StorageBufferAttribute, WebGPURenderer } from 'three/webgpu';
import type { BoneTexture } from '../../animation/BoneTexture.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import type { PoseRequest } from '../../culling/InstanceList.js';
import { PreviousRows } from '../../instances/PreviousRows.js';
import type { InstancePlayback } from '../../playback/InstancePlayback.js';
import { PoseDirtyTracker } from '../PoseDirtyTracker.js';
import { createMatrixRows, type MatrixRows } from './MatrixRows.js';
import { isWebGPU, PerRenderer, SharedSteps, type StepsRegistry } from './PerRenderer.js';
import { PoseBuffers, type PoseList } from './PoseBuffers.js';
import { computeWaiting, PoseSteps, poseKey, wait } from './PoseSteps.js';
import { placesOf, storedPlaces } from './StoredPlaces.js';

/** Steps of all crowds. Those of WebGL 2 write to the buffers that they were built for, so each crowd has its own. */
const poseSteps: StepsRegistry<PoseSteps> = /*@__PURE__*/ new WeakMap();

/** The poses of the frame before, for motion vectors. */
export class KeptPoses extends PreviousRows {
  /** The frame in which poses were kept last, and of how many instances. */
  private frame = -1;
  private count = 0;

  constructor(
    readonly palette: MatrixRows,
    private readonly playback: InstancePlayback,
  ) {
    super(playback.capacity);
    playback.previousRows.add(this);
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
    const { frame } = renderer.info;
    const anew = this.frame !== frame;
    this.posed(anew);
    this.texture.prepare(renderer);
    if (!anew) return 0;
    this.palette.prepare(renderer);
    this.frame = frame;
    this.count = posed;
    return posed;
  }

  override dispose(): void {
    this.playback.previousRows.delete(this);
    this.palette.dispose();
    super.dispose();
  }
}

/**
 * The poses of a crowd, and of all that is attached to it, on a renderer: twin of `WebGLPoses`. On WebGPU those are posed that
 * cameras see, in rows that are handed out to them; on the WebGL 2 backend everyone.
 *
 * Two computations follow each other. The first samples and mixes what plays, once for each node of each instance, the second
 * multiplies for each joint what the nodes above it came to.
 */
export class WebGPUPoses extends PoseBuffers {
  private readonly boneTexture: BoneTexture;
  private readonly playback: InstancePlayback;
  private tracker: PoseDirtyTracker;
  private kept: KeptPoses | null = null;
  private readonly steps: SharedSteps<PoseSteps>;
  /** The first so many instances have a pose. */
  private count = 0;
  private frame = -1;

  constructor(crowd: DrawnCrowd, webGPU: boolean) {
    super(crowd, webGPU);
    this.boneTexture = crowd.crowd.boneTexture;
    this.playback = crowd.playback;
    this.tracker = new PoseDirtyTracker(this.playback.capacity);
    this.steps = new SharedSteps(webGPU ? poseSteps : new WeakMap());
  }

  /** What the WebGL 2 backend computes is built for the buffers that it writes, of one size. */
  suits({ crowd: { boneTexture, columns }, playback }: DrawnCrowd): boolean {
    const isSame = this.boneTexture === boneTexture && this.counts.followed === columns;
    return isSame && (this.webGPU || this.rows.capacity === playback.capacity);
  }

  /** The palette of the frame before. It is kept from the first time on that someone asks for it, and everyone is posed then. */
  get keptPoses(): KeptPoses {
    const { playback, counts, webGPU } = this;
    this.kept ??= new KeptPoses(createMatrixRows(playback.capacity * counts.columns, webGPU), playback);
    this.before = this.kept.palette;
    return this.kept;
  }

  /** How many instances are posed as they are now. */
  get posedCount(): number {
    return this.tracker.count;
  }

  /**
   * Poses those instances that are wanted, and are not posed yet as they are now. Call it in `onBeforeRender`.
   *
   * @param requested What cameras are about to draw; null for all.
   * @param waits Whether it is left to `computeWaiting` to compute them, if that can be.
   * @throws If the device has no room for so many.
   */
  update(
    renderer: WebGPURenderer,
    crowd: DrawnCrowd,
    requested: readonly PoseRequest[] | null,
    waits = false,
  ): void {
    this.begin(renderer);
    const { rows, tracker } = this;
    crowd.crowd.poseEdits?.update();
    const all = requested === null || this.kept !== null || !this.webGPU;
    const { askedCount } = tracker;
    if (tracker.moveTo(crowd) && !all) this.shrink(askedCount);
    const places = storedPlaces.of(renderer, crowd);
    places.update(crowd, renderer);
    if (crowd.crowd.written?.places) tracker.clear();
    else places.takeMoved(tracker);
    tracker.begin();
    if (all) tracker.add(null, crowd);
    else for (let i = 0; i < requested.length; i++) tracker.add(requested[i], crowd);
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
    this.begin(renderer);
    crowd.crowd.poseEdits?.update();
    // The GPU alone knows how many these are.
    this.grow(renderer, this.rows.capacity, Infinity);
    // What the tracker knows is not so any more.
    this.isEmpty = true;
    const steps = this.stepsFor(renderer, crowd, list);
    this.tell(0, 0, 0);
    wait(steps.prepare(this), this);
  }

  override dispose(): void {
    this.steps.dispose();
    super.dispose();
    this.kept?.dispose();
  }

  /**
   * Frees what the frame before may have read, and makes room for as many instances as there are now, in the palette that there is: that
   * goes by who is seen.
   */
  private begin({ info: { frame } }: WebGPURenderer): void {
    const { rows, kept, retired } = this;
    if (frame !== this.frame) {
      for (let i = 0; i < retired.length; i++) retired[i].dispose();
      retired.length = 0;
    }
    this.frame = frame;
    const { capacity } = this.playback;
    if (rows.capacity === capacity) return;
    rows.resize(capacity);
    this.tracker = new PoseDirtyTracker(capacity);
    this.isEmpty = true;
    if (kept !== null) retired.push(kept);
    this.kept = this.before = null;
  }

  private pose(renderer: WebGPURenderer, crowd: DrawnCrowd, waits: boolean): void {
    const { kept, webGPU, atOnce } = this;
    const { count } = crowd.visibility;
    const due = webGPU ? this.listDue(count) : count;
    let copied = kept?.keep(renderer, this.count) ?? 0;
    const steps = this.stepsFor(renderer, crowd, null);
    for (let first = 0; first < due; first += atOnce) {
      this.tell(first, Math.min(due - first, atOnce), copied);
      wait(steps.prepare(this), this);
      copied = 0;
      if (!waits || due > atOnce) computeWaiting(renderer);
    }
    this.count = count;
  }

  /** The steps that pose a crowd next, once all that they read and write is prepared. */
  private stepsFor(renderer: WebGPURenderer, crowd: DrawnCrowd, list: PoseList | null): PoseSteps {
    this.posedCrowd = crowd;
    this.places = placesOf(renderer, crowd);
    this.list = list;
    this.prepareBuffers(renderer);
    prepareUploads(renderer, crowd);
    return this.steps.get(renderer, poseKey(this), () => new PoseSteps(this, this.webGPU));
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

/** The poses of crowds. */
export const webGPUPoses = /*@__PURE__*/ new PerRenderer(
  (renderer, crowd) => new WebGPUPoses(crowd, isWebGPU(renderer)),
);
