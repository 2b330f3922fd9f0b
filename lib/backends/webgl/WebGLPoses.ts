import type { WebGLRenderer } from 'three';
import { trackSource } from '../../animation/trackSource.js';
import { PARAM_ROWS } from '../../constants.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { type DrawTextures, noFloats } from '../../core/CrowdSkeleton.js';
import { InstanceList, type PoseRequest, SMALL } from '../../culling/InstanceList.js';
import type { InstancePlayback } from '../../playback/InstancePlayback.js';
import { PaletteRows, SHARE_IN_USE } from '../PaletteRows.js';
import { PoseDirtyTracker } from '../PoseDirtyTracker.js';
import type { MatrixTexture } from './MatrixTexture.js';
import { keptOf, MAX_ROWS, runPasses, WebGLPosePass } from './WebGLPosePass.js';

/** Of a row that is not posed. */
const NONE = -1;

/** Asks for all instances. */
const ALL: readonly null[] = [null];

/** The poses of all that share one playback: a crowd and what is attached to it. */
export class WebGLPoses {
  private tracker!: PoseDirtyTracker;
  private pass: WebGLPosePass | null = null;
  /** Whether the programs were made that pose the crowd once something is edited. */
  private isReadyForEdits = false;

  readonly rows = new PaletteRows(0);
  /** The instance that is posed next in each row, as a list and as the pass reads it. */
  private due: Float32Array = new Float32Array(0);
  private dueList = new InstanceList(0);

  constructor(capacity: number) {
    this.resize(capacity);
  }

  /** Makes room for another number of instances, in the palette that there is: that goes by who is seen. */
  resize(capacity: number): void {
    this.tracker = new PoseDirtyTracker(capacity);
    this.rows.resize(capacity);
    this.begin();
  }

  /** How many instances were posed at this moment. */
  get count(): number {
    return this.tracker.count;
  }

  /** Puts what shaders read of it where three.js binds it; no palette before the crowd was first posed. */
  bindTextures(crowd: DrawnCrowd, textures: DrawTextures): void {
    const { pass } = this;
    const { inOrder, instanceOf } = this.rows;
    textures.instances = inOrder ? noFloats : instanceOf.texture.plain;
    if (!pass?.palette) return;
    [textures.row0, textures.row1, textures.row2] = pass.palette.target.textures;
    const { elements } = crowd.bindMatrix;
    trackSource.setParameters(crowd, elements);
    elements[PARAM_ROWS] = Math.log2(pass.perRow) + 32 * pass.first;
  }

  /** Has a renderer make the programs that pose a crowd. */
  compile(renderer: WebGLRenderer, crowd: DrawnCrowd): void {
    this.passFor(crowd).compile(renderer);
    this.prepareEdits(renderer, crowd);
  }

  /**
   * Poses those instances for a renderer that are wanted, and are not posed yet as they are now; at the next `runPasses` unless it
   * is in the middle of drawing.
   *
   * @param requested What cameras are about to draw; null for all.
   * @throws If the device has no room for so many.
   */
  update(
    renderer: WebGLRenderer,
    crowd: DrawnCrowd,
    requested: readonly (PoseRequest | null)[] | null,
    isDrawing: boolean,
    matrices: MatrixTexture,
  ): void {
    const pass = this.passFor(crowd);
    // It may be one of those that wait, where a crowd is drawn in the middle of its own draw.
    if (isDrawing) runPasses(renderer, true);
    this.prepareEdits(renderer, crowd);
    const { palette } = pass;
    if (palette && pass.posedIn !== keptOf(renderer, palette.target).__webglFramebuffer) this.tracker.clear();
    const { askedCount } = this.tracker;
    if (this.tracker.moveTo(crowd) && this.rows.shrink(askedCount)) this.begin();
    const { tracker, rows } = this;
    matrices.takeMoved(tracker);
    const requests = requested ?? ALL;
    this.ask(requests, crowd);
    if (tracker.askedCount > rows.size) {
      this.grow(pass, renderer.capabilities.maxTextureSize);
      this.ask(requests, crowd);
    }
    if (tracker.dueCount === 0) return;
    const { due, dueList } = this;
    let firstDue = rows.size;
    let lastDue = 0;
    for (let word = 0; word < tracker.due.length; word++) {
      for (let rest = tracker.due[word]; rest !== 0; rest &= rest - 1) {
        const id = word * 32 + 31 - Math.clz32(rest & -rest);
        const row = rows.rowFor(id, tracker);
        due[row] = id;
        if (row < firstDue) firstDue = row;
        if (row > lastDue) lastDue = row;
      }
    }
    // To pose a small palette whole once a quarter is asked for takes less than a new list of who is due.
    const posesAll =
      tracker.posedAt === null && due.length < SMALL && tracker.askedCount > due.length * SHARE_IN_USE;
    dueList.assign(posesAll ? rows.instanceOf.data : due, due.length);
    due.fill(NONE);
    dueList.texture.prepare(renderer);
    rows.instanceOf.texture.prepare(renderer);
    const { perRow } = pass;
    const end = Math.floor(lastDue / perRow) + 1;
    for (let row = Math.floor(firstDue / perRow); row < end; row += MAX_ROWS) {
      const count = Math.min(end - row, MAX_ROWS);
      pass.wait(renderer, crowd, dueList, row, count, matrices.texture);
      if (isDrawing) runPasses(renderer, true);
    }
  }

  dispose(): void {
    this.pass?.dispose();
    this.pass = null;
    this.setSize(0);
  }

  /** Where nothing is edited yet that may be, has those programs made while others are used. */
  private prepareEdits(renderer: WebGLRenderer, crowd: DrawnCrowd): void {
    const { poseEdits } = crowd.crowd;
    if (this.isReadyForEdits || poseEdits === null) return;
    this.isReadyForEdits = true;
    if (!poseEdits.isUsed) new WebGLPosePass(crowd, true).compile(renderer);
  }

  /** The pass that there is, or a new one if the crowd is not as it was. */
  private passFor(crowd: DrawnCrowd): WebGLPosePass {
    if (this.pass?.suits(crowd)) return this.pass;
    this.pass?.dispose();
    this.pass = new WebGLPosePass(crowd, crowd.crowd.poseEdits?.isUsed === true);
    this.setSize(0);
    return this.pass;
  }

  /** Finds out which of those that are asked for have to be posed. */
  private ask(requests: readonly (PoseRequest | null)[], crowd: DrawnCrowd): void {
    this.tracker.begin();
    for (let i = 0; i < requests.length; i++) this.tracker.add(requests[i], crowd);
  }

  /** Makes room for all who are asked for. */
  private grow(pass: WebGLPosePass, maxTextureSize: number): void {
    const size = this.rows.sizeFor(this.tracker.askedCount);
    pass.setSize(size, maxTextureSize);
    this.setSize(size);
  }

  private setSize(size: number): void {
    this.rows.setSize(size);
    this.begin();
  }

  /** Rows are those of the beginning, where nobody is posed. */
  private begin(): void {
    const { size } = this.rows;
    this.dueList.dispose();
    this.dueList = new InstanceList(size);
    this.due = new Float32Array(size).fill(NONE);
    this.tracker.clear();
  }
}

const known = /*@__PURE__*/ new WeakMap<InstancePlayback, WebGLPoses>();

/** The poses of a crowd, which it shares with all that has the same playback; they go when that is disposed. */
export function posesOf({ playback }: DrawnCrowd): WebGLPoses {
  let poses = known.get(playback);
  if (poses === undefined) {
    disposeWith(playback);
    poses = new WebGLPoses(playback.capacity);
    known.set(playback, poses);
  } else if (poses.rows.capacity !== playback.capacity) poses.resize(playback.capacity);
  return poses;
}

/** Disposes poses with what their instances play. That has other textures once there is room for another number of instances. */
function disposeWith(playback: InstancePlayback): void {
  const actions = playback.texels.texture.plain;
  actions.addEventListener('dispose', function dispose() {
    actions.removeEventListener('dispose', dispose);
    if (playback.mixes && playback.texels.texture.plain !== actions) {
      disposeWith(playback);
      return;
    }
    known.get(playback)?.dispose();
    known.delete(playback);
  });
}
