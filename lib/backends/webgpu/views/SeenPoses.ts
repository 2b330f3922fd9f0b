import type { Texture } from 'three';
import type { ComputeNode, WebGPURenderer } from 'three/webgpu';
import type { JointEdits } from '../../../edits/JointEdits.js';
import type { InstancePlayback } from '../../../playback/InstancePlayback.js';
import type { MatrixRows } from '../MatrixRows.js';
import { PoseSteps, type TrackTexture } from '../PoseSteps.js';
import type { CameraSlot } from './CameraSlot.js';
import { SeenNodes, type SeenRates } from './SeenNodes.js';

/** What a camera's poses were made of. */
interface Posed {
  clock: number;
  epoch: number;
  count: number;
  /** Of the camera's view. */
  view: number;
  actions: Texture;
  version: number;
  edits: number;
}

/**
 * Poses those instances of a crowd that some camera of the frame sees, each once, on WebGPU. What nobody sees costs nothing,
 * and is posed as soon as it comes into view.
 */
export class SeenPoses {
  /** Instances in use when some were last posed. */
  count = 0;
  private steps: PoseSteps | null = null;
  private nodes: SeenNodes | null = null;
  private readonly posed = new WeakMap<CameraSlot, Posed>();
  private epoch = 1;
  private origin = 0;
  private clock = 0;
  private lastClock = 0;

  constructor(
    private readonly tracks: TrackTexture,
    private readonly playback: InstancePlayback,
    private readonly edits: JointEdits,
    private readonly locals: MatrixRows,
    private readonly palette: MatrixRows,
  ) {}

  /**
   * @param count Instances in use.
   * @param slot The camera, and what it sees.
   * @param rates How often instances at each level of detail are posed; null for all of them in every frame.
   * @returns What to compute; null if nothing has changed.
   */
  prepare(
    renderer: WebGPURenderer,
    count: number,
    slot: CameraSlot,
    rates: SeenRates | null,
  ): ComputeNode[] | null {
    const { playback, edits } = this;
    edits.update();
    this.updateEpoch();
    this.count = count;
    if (count === 0 || !this.remember(slot, count)) return null;
    if (this.steps !== null && this.steps.edited !== edits.isUsed) this.drop();
    if (this.nodes !== null && !this.nodes.suits(rates, slot.buffers)) this.dispose();
    if (this.steps === null) {
      const { tracks, locals, palette } = this;
      this.nodes ??= new SeenNodes(playback.capacity, slot.buffers, rates);
      this.steps = new PoseSteps(tracks, playback, locals, palette, null, true, edits, this.nodes);
    }
    // A renderer that has not got all of a texture must not be sent a part of it.
    playback.actions.prepare(renderer, always);
    edits.prepare(renderer, always);
    return this.steps.prepareSeen(count, slot.buffers, this.epoch, rates, this.lastClock);
  }

  /** How many instances hold the pose of the moment, for all cameras together. */
  async read(renderer: WebGPURenderer): Promise<number> {
    return (await this.nodes?.countAt(renderer, this.clock, this.epoch)) ?? 0;
  }

  dispose(): void {
    this.drop();
    this.nodes?.dispose();
    this.nodes = null;
  }

  private drop(): void {
    this.steps?.dispose();
    this.steps = null;
  }

  /** When the clock has gone back, nothing can be said of when an instance was posed. */
  private updateEpoch(): void {
    const { clock, time } = this.playback;
    if (time.origin !== this.origin || clock < this.clock) this.epoch++;
    this.origin = time.origin;
    if (clock !== this.clock) this.lastClock = this.clock;
    this.clock = clock;
  }

  /** Remembers what poses are made of. Returns whether it is something else than the last time. */
  private remember(slot: CameraSlot, count: number): boolean {
    const { clock, actions: texture } = this.playback;
    const { epoch } = this;
    const { layered: actions } = texture;
    const { version } = actions;
    const { version: edits } = this.edits;
    const { version: view } = slot;
    const last = this.posed.get(slot);
    if (last === undefined) {
      this.posed.set(slot, { clock, epoch, count, view, actions, version, edits });
      return true;
    }
    const same =
      last.clock === clock &&
      last.epoch === epoch &&
      last.count === count &&
      last.view === view &&
      last.actions === actions &&
      last.version === version &&
      last.edits === edits;
    last.clock = clock;
    last.epoch = epoch;
    last.count = count;
    last.view = view;
    last.actions = actions;
    last.version = version;
    last.edits = edits;
    return !same;
  }
}

/** WebGPURenderer neither loses textures nor says which it has. */
const always = (): boolean => true;
