import type { Texture } from 'three';
import type { ComputeNode, WebGPURenderer } from 'three/webgpu';
import { type PoseInputs, PoseSteps, poseKey, type SeenInputs } from '../PoseSteps.js';
import { SharedSteps, type StepsRegistry } from '../SharedSteps.js';
import type { CameraSlot } from './CameraSlot.js';
import { type SeenRates, SeenRows } from './SeenNodes.js';

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
  private readonly steps: SharedSteps<PoseSteps>;
  private rows: SeenRows | null = null;
  private readonly posed = new WeakMap<CameraSlot, Posed>();
  private epoch = 1;
  private origin = 0;
  private clock = 0;
  private lastClock = 0;

  constructor(
    private readonly inputs: PoseInputs,
    registry: StepsRegistry<PoseSteps>,
  ) {
    this.steps = new SharedSteps(registry);
  }

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
    const { inputs } = this;
    const { playback, crowd } = inputs;
    const { poseEdits } = crowd;
    poseEdits?.update();
    this.updateEpoch();
    this.count = count;
    if (count === 0 || !this.remember(slot, count)) return null;
    this.rows ??= new SeenRows(playback.capacity);
    const seen = { rows: this.rows, view: slot.buffers, rates };
    const steps = this.stepsFor(renderer, seen);
    // A renderer that has not got all of a texture must not be sent a part of it.
    playback.actions.prepare(renderer, always);
    if (poseEdits !== null) for (const texture of poseEdits.textures) texture.prepare(renderer, always);
    return steps.prepareSeen(inputs, seen, count, this.epoch, this.lastClock);
  }

  /** How many instances hold the pose of the moment, for all cameras together. */
  async read(renderer: WebGPURenderer): Promise<number> {
    return (await this.rows?.countAt(renderer, this.clock, this.epoch)) ?? 0;
  }

  dispose(): void {
    this.steps.dispose();
    this.rows?.dispose();
    this.rows = null;
  }

  private stepsFor(renderer: WebGPURenderer, seen: SeenInputs): PoseSteps {
    const { inputs } = this;
    return this.steps.get(
      renderer,
      poseKey(inputs, false, seen),
      () => new PoseSteps(inputs, null, true, seen),
    );
  }

  /** When the clock has gone back, nothing can be said of when an instance was posed. */
  private updateEpoch(): void {
    const { clock, time } = this.inputs.playback;
    if (time.origin !== this.origin || clock < this.clock) this.epoch++;
    this.origin = time.origin;
    if (clock !== this.clock) this.lastClock = this.clock;
    this.clock = clock;
  }

  /** Remembers what poses are made of. Returns whether it is something else than the last time. */
  private remember(slot: CameraSlot, count: number): boolean {
    const { clock, actions: texture } = this.inputs.playback;
    const { epoch } = this;
    const { layered: actions } = texture;
    const { version } = actions;
    const edits = this.inputs.crowd.poseEdits?.version ?? 0;
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
