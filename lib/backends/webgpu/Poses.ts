import type { Texture } from 'three';
import type { WebGPURenderer } from 'three/webgpu';
import type { Palette } from '../../crowd/Palette.js';
import type { JointEdits } from '../../edits/JointEdits.js';
import type { InstancePlayback } from '../../playback/InstancePlayback.js';
import { createPalette } from './createPalette.js';
import { KeptPoses } from './KeptPoses.js';
import { createMatrixRows, type MatrixRows } from './MatrixRows.js';
import { columnsOf, entriesOf, PoseSteps, type TrackTexture } from './PoseSteps.js';
import { SeenPoses } from './views/SeenPoses.js';

/** What the poses on a renderer were made of. */
interface Posed {
  clock: number;
  /** What the clock is relative to: it goes back to zero now and then. */
  origin: number;
  count: number;
  actions: Texture;
  version: number;
  edits: number;
}

/** Poses of a crowd for renderers of one kind of backend. */
export class Poses {
  readonly palette: MatrixRows;
  private readonly locals: MatrixRows;
  private kept: KeptPoses | null = null;
  private steps: PoseSteps | null = null;
  private posesOfSeen: SeenPoses | null = null;
  private readonly posed = new WeakMap<WebGPURenderer, Posed>();

  constructor(
    private readonly tracks: TrackTexture,
    private readonly playback: InstancePlayback,
    private readonly edits: JointEdits,
    private readonly kind: Palette,
    readonly webGPU: boolean,
  ) {
    this.locals = createMatrixRows(playback.capacity * entriesOf(tracks), webGPU);
    this.palette = createPalette(this.paletteSize, webGPU, kind);
  }

  /** The poses of the frame before. They are kept from the first time on that someone asks for them. */
  get before(): KeptPoses {
    if (this.kept === null) {
      this.kept = new KeptPoses(createPalette(this.paletteSize, this.webGPU, this.kind), this.playback);
      this.steps?.dispose();
      this.steps = null;
    }
    return this.kept;
  }

  /** Poses only what cameras see, on WebGPU; null if all instances have to be posed. */
  get seen(): SeenPoses | null {
    if (this.kept !== null) return null;
    const { tracks, playback, edits, locals, palette } = this;
    this.posesOfSeen ??= new SeenPoses(tracks, playback, edits, locals, palette);
    return this.posesOfSeen;
  }

  /**
   * Poses the first `count` instances, if anything has changed since they last were.
   *
   * @returns Whether it has.
   */
  run(renderer: WebGPURenderer, count: number): boolean {
    const { playback, edits, kept, locals, palette } = this;
    edits.update();
    const last = this.posed.get(renderer);
    if (count === 0 || (last !== undefined && !this.hasChanged(last, count))) return false;
    // In the first frame of motion vectors, what cameras saw in the one before was posed as seen.
    const copied = kept?.keep(renderer, last?.count ?? this.posesOfSeen?.count ?? 0) ?? 0;
    const before = kept?.palette ?? null;
    if (this.steps !== null && this.steps.edited !== edits.isUsed) {
      this.steps.dispose();
      this.steps = null;
    }
    this.steps ??= new PoseSteps(this.tracks, playback, locals, palette, before, this.webGPU, edits);
    // A renderer that has not got all of a texture must not be sent a part of it.
    playback.actions.prepare(renderer, always);
    edits.prepare(renderer, always);
    locals.prepare(renderer);
    palette.prepare(renderer);
    // When the clock has gone back, nothing can be said of the time between.
    const { clock, time, rates } = playback;
    const spreads = last !== undefined && rates.inUse && clock >= last.clock && time.origin === last.origin;
    renderer.compute(this.steps.prepare(count, copied, spreads ? last : null));
    this.remember(renderer, last, count);
    return true;
  }

  dispose(): void {
    this.steps?.dispose();
    this.posesOfSeen?.dispose();
    this.locals.dispose();
    this.palette.dispose();
    this.kept?.dispose();
  }

  private get paletteSize(): number {
    return this.playback.capacity * columnsOf(this.tracks);
  }

  private hasChanged({ clock, count, actions, version, edits }: Posed, now: number): boolean {
    const { playback } = this;
    if (edits !== this.edits.version) return true;
    const { layered } = playback.actions;
    return clock !== playback.clock || count !== now || actions !== layered || version !== layered.version;
  }

  private remember(renderer: WebGPURenderer, last: Posed | undefined, count: number): void {
    const { clock, time } = this.playback;
    const { origin } = time;
    const { layered: actions } = this.playback.actions;
    const { version } = actions;
    const { version: edits } = this.edits;
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
