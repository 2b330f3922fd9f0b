import type { Texture } from 'three';
import type { WebGPURenderer } from 'three/webgpu';
import type { EditedCrowd } from '../../crowd/CrowdFeature.js';
import type { InstancePlayback } from '../../playback/InstancePlayback.js';
import { KeptPoses } from './KeptPoses.js';
import { createMatrixRows, type MatrixRows } from './MatrixRows.js';
import { columnsOf, entriesOf, type PoseInputs, PoseSteps, poseKey, type TrackTexture } from './PoseSteps.js';
import { SharedSteps, type StepsRegistry } from './SharedSteps.js';
import { SeenPoses } from './views/SeenPoses.js';
import { SeenRows } from './views/SeenRows.js';

/** What the poses on a renderer were made of. */
interface Posed {
  clock: number;
  /** When its epoch began. */
  origin: number;
  count: number;
  actions: Texture;
  version: number;
  edits: number;
}

/** Steps of all crowds. Those of WebGL 2 write to the buffers that they were built for, so each crowd has its own. */
const poseSteps: StepsRegistry<PoseSteps> = /*@__PURE__*/ new WeakMap();

/** Poses of a crowd for renderers of one kind of backend. */
export class Poses {
  readonly rows: SeenRows;
  private kept: KeptPoses | null = null;
  private readonly inputs: PoseInputs;
  private readonly steps: SharedSteps<PoseSteps>;
  private posesOfSeen: SeenPoses | null = null;
  private posed = new WeakMap<WebGPURenderer, Posed>();

  constructor(
    private readonly tracks: TrackTexture,
    private readonly playback: InstancePlayback,
    private readonly crowd: EditedCrowd,
    readonly webGPU: boolean,
  ) {
    const { capacity } = playback;
    this.rows = new SeenRows({ capacity, entries: entriesOf(tracks), columns: columnsOf(tracks) }, webGPU);
    this.inputs = { tracks, playback, crowd, rows: this.rows };
    this.steps = new SharedSteps(webGPU ? poseSteps : new WeakMap());
  }

  get palette(): MatrixRows {
    return this.rows.palette;
  }

  /** The poses of the frame before. They are kept from the first time on that someone asks for them. */
  get before(): KeptPoses {
    if (this.kept === null) {
      this.kept = new KeptPoses(createMatrixRows(this.paletteSize, this.webGPU), this.playback);
    }
    return this.kept;
  }

  /** Poses only what cameras see, on WebGPU; null if all instances have to be posed. */
  get seen(): SeenPoses | null {
    if (this.kept !== null) return null;
    this.posesOfSeen ??= new SeenPoses(this.inputs, poseSteps);
    return this.posesOfSeen;
  }

  /**
   * Poses the first `count` instances, if anything has changed since they last were.
   *
   * @returns Whether it has.
   */
  run(renderer: WebGPURenderer, count: number): boolean {
    const { playback, kept, rows } = this;
    const { poseEdits } = this.crowd;
    poseEdits?.update();
    rows.beginFrame(renderer.info.frame);
    const { version } = rows;
    rows.makeWhole();
    // What cameras saw was posed in other rows.
    const isNew = rows.version !== version;
    if (isNew) this.posed = new WeakMap();
    const last = this.posed.get(renderer);
    if (count === 0 || (last !== undefined && !this.hasChanged(last, count))) return false;
    // In the first frame of motion vectors, what cameras saw in the one before was posed as seen.
    const copied = kept?.keep(renderer, last?.count ?? (isNew ? 0 : this.posesOfSeen?.count) ?? 0) ?? 0;
    const before = kept?.palette ?? null;
    const { inputs } = this;
    const key = poseKey(inputs, before !== null, null);
    const make = () => new PoseSteps(inputs, before, this.webGPU, null);
    const steps = this.steps.get(renderer, key, make);
    // A renderer that has not got all of a texture must not be sent a part of it.
    playback.actions.prepare(renderer, always);
    if (poseEdits !== null) for (const texture of poseEdits.textures) texture.prepare(renderer, always);
    rows.locals.prepare(renderer);
    rows.palette.prepare(renderer);
    // When the clock has gone back, nothing can be said of the time between.
    const { clock, time, texels } = playback;
    const spreads =
      last !== undefined && texels.hasRates && clock >= last.clock && time.origin === last.origin;
    renderer.compute(steps.prepare(inputs, before, count, copied, spreads ? last : null));
    this.remember(renderer, last, count);
    return true;
  }

  dispose(): void {
    this.steps.dispose();
    this.posesOfSeen?.dispose();
    this.rows.dispose();
    this.kept?.dispose();
  }

  private get paletteSize(): number {
    return this.playback.capacity * columnsOf(this.tracks);
  }

  private hasChanged({ clock, origin, count, actions, version, edits }: Posed, now: number): boolean {
    const { playback } = this;
    if (edits !== (this.crowd.poseEdits?.version ?? 0)) return true;
    const { layered } = playback.actions;
    if (origin !== playback.time.origin) return true;
    return clock !== playback.clock || count !== now || actions !== layered || version !== layered.version;
  }

  private remember(renderer: WebGPURenderer, last: Posed | undefined, count: number): void {
    const { clock, time } = this.playback;
    const { origin } = time;
    const { layered: actions } = this.playback.actions;
    const { version } = actions;
    const edits = this.crowd.poseEdits?.version ?? 0;
    if (last === undefined) this.posed.set(renderer, { clock, origin, count, actions, version, edits });
    else {
      last.edits = edits;
      last.clock = clock;
      last.origin = origin;
      last.count = count;
      last.actions = actions;
      last.version = version;
    }
  }
}

/** WebGPURenderer neither loses textures nor says which it has. */
const always = (): boolean => true;
