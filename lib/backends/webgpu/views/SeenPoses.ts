import type { Texture } from 'three';
import type { ComputeNode, WebGPURenderer } from 'three/webgpu';
import { type PoseInputs, PoseSteps, poseKey } from '../PoseSteps.js';
import { SharedSteps, type StepsRegistry } from '../SharedSteps.js';
import type { CameraSlot } from './CameraSlot.js';

/** What a camera's poses were made of. */
interface Posed {
  clock: number;
  epoch: number;
  count: number;
  /** Of the camera's view. */
  view: number;
  /** When it was given its rows. */
  turn: number;
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
  /** Cameras that draw the crowd in a frame of a renderer. */
  private readonly drawn: CameraSlot[] = [];
  private info: object | null = null;
  private frame = -1;
  /** Whether a turn of the rows has begun in this frame. */
  private hasBegun = false;
  /** Of the rows. */
  private version = 0;
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
   * @param drawnBits Bits of the instances that are drawn at all.
   * @param whole Whether each instance shall have the row of its own number.
   * @returns What to compute; null if nothing has changed.
   */
  prepare(
    renderer: WebGPURenderer,
    count: number,
    slot: CameraSlot,
    drawnBits: Uint32Array,
    whole: boolean,
  ): ComputeNode[] | null {
    const { inputs, drawn } = this;
    const { rows } = inputs;
    inputs.crowd.poseEdits?.update();
    if (renderer.info !== this.info || renderer.info.frame !== this.frame) this.beginFrame(renderer);
    if (!drawn.includes(slot)) drawn.push(slot);
    const { version } = this;
    if (whole) rows.makeWhole();
    this.updateEpoch();
    this.count = count;
    const hasChanged = this.hasChanged(slot, count);
    if (count === 0 || (!hasChanged && this.posed.get(slot)?.turn === rows.turn)) return null;
    if (hasChanged && !this.hasBegun) {
      // A camera for which nothing has changed keeps its rows for one turn more, and only then has them confirmed.
      this.hasBegun = true;
      rows.beginTurn();
    }
    rows.see(renderer, slot.seen, drawnBits);
    if (rows.version !== version) {
      this.updateEpoch();
      // What was posed for other cameras of the frame is lost, and they may be drawn after this.
      for (let i = 0; i < drawn.length; i++) {
        if (drawn[i] !== slot) renderer.compute(this.stepsFor(renderer, drawn[i], count));
      }
    }
    return this.stepsFor(renderer, slot, count);
  }

  /** How many instances hold the pose of the moment, for all cameras together. */
  async read(renderer: WebGPURenderer): Promise<number> {
    return this.inputs.rows.countAt(renderer, this.clock, this.epoch);
  }

  dispose(): void {
    this.steps.dispose();
    this.drawn.length = 0;
  }

  private beginFrame(renderer: WebGPURenderer): void {
    // Not the renderer, which would be held by a crowd that it draws no more.
    this.info = renderer.info;
    this.frame = renderer.info.frame;
    this.hasBegun = false;
    this.drawn.length = 0;
    this.inputs.rows.beginFrame(this.frame);
  }

  /** What poses whom a camera sees. */
  private stepsFor(renderer: WebGPURenderer, slot: CameraSlot, count: number): ComputeNode[] {
    const { inputs } = this;
    const { playback, crowd } = inputs;
    const { poseEdits } = crowd;
    this.remember(slot, count);
    const seen = { view: slot.buffers, rates: slot.rates };
    const make = () => new PoseSteps(inputs, null, true, seen);
    const steps = this.steps.get(renderer, poseKey(inputs, false, seen), make);
    // A renderer that has not got all of a texture must not be sent a part of it.
    playback.actions.prepare(renderer, always);
    if (poseEdits !== null) for (const texture of poseEdits.textures) texture.prepare(renderer, always);
    return steps.prepareSeen(inputs, seen, count, this.epoch, this.lastClock);
  }

  /** When the clock has gone back, nothing can be said of when an instance was posed. Nor where its pose was lost. */
  private updateEpoch(): void {
    const { playback, rows } = this.inputs;
    const { clock, time } = playback;
    if (time.origin !== this.origin || clock < this.clock || rows.version !== this.version) this.epoch++;
    this.version = rows.version;
    this.origin = time.origin;
    if (clock !== this.clock) this.lastClock = this.clock;
    this.clock = clock;
  }

  /** Whether poses of a camera are made of something else than the last time. */
  private hasChanged(slot: CameraSlot, count: number): boolean {
    const last = this.posed.get(slot);
    if (last === undefined) return true;
    const { playback, crowd } = this.inputs;
    const { layered } = playback.actions;
    return (
      last.clock !== playback.clock ||
      last.epoch !== this.epoch ||
      last.count !== count ||
      last.view !== slot.version ||
      last.actions !== layered ||
      last.version !== layered.version ||
      last.edits !== (crowd.poseEdits?.version ?? 0)
    );
  }

  private remember(slot: CameraSlot, count: number): void {
    const { playback, crowd, rows } = this.inputs;
    const { clock } = playback;
    const { layered: actions } = playback.actions;
    const { version } = actions;
    const { epoch } = this;
    const edits = crowd.poseEdits?.version ?? 0;
    const { version: view } = slot;
    const { turn } = rows;
    const last = this.posed.get(slot);
    if (last === undefined) {
      this.posed.set(slot, { clock, epoch, count, view, turn, actions, version, edits });
      return;
    }
    last.clock = clock;
    last.epoch = epoch;
    last.count = count;
    last.view = view;
    last.turn = turn;
    last.actions = actions;
    last.version = version;
    last.edits = edits;
  }
}

/** WebGPURenderer neither loses textures nor says which it has. */
const always = (): boolean => true;
