import { type Texture, Vector3 } from 'three';
import { Fn, If, int, uniform } from 'three/tsl';
import type { ComputeNode, Node } from 'three/webgpu';
import type { EditNodes } from '../../../shaders/jointEdits.tsl.js';
import { mixTracks } from '../../../shaders/mixTracks.tsl.js';
import { playedActions } from '../../../shaders/playedActions.tsl.js';
import { composeStep, isDue, isStale, type PoseSize, sampleStep } from '../../../shaders/posePass.tsl.js';
import { type TexelNode, texels } from '../../../shaders/TexelNode.js';
import { trackTexels } from '../../../shaders/trackTexel.tsl.js';
import type { JointEdits } from '../../edits/JointEdits.js';
import type { InstancePlayback } from '../../playback/InstancePlayback.js';
import type { TrackLayout } from '../../tracks/trackTexels.js';
import type { MatrixRows } from './MatrixRows.js';
import { POSE_WORKGROUP, type PoseMember, type SeenNodes, type SeenRates } from './views/SeenNodes.js';
import type { ViewBuffers } from './views/ViewBuffers.js';

/** The tracks of a character, as `trackTexels` packs them. */
export interface TrackTexture extends PoseSize {
  texture: Texture;
  /** Keys of 16 bits; null if there are none. */
  shortKeys: Texture | null;
  layout: TrackLayout;
}

/** What the first step computes of an instance: its nodes, then groups of four morph targets. */
export const entriesOf = ({ nodes, groups }: PoseSize): number => nodes + groups;

/** What the second step computes of an instance: its joints, then groups of four morph targets. */
export const columnsOf = ({ joints, groups }: PoseSize): number => joints + groups;

/** The computations that pose a crowd, and what they read of it. */
export class PoseSteps {
  private readonly steps: ComputeNode[];
  private readonly stepsOfNewFrame: ComputeNode[];
  private readonly actions: TexelNode;
  private readonly masks: TexelNode | null;
  private readonly editNodes: EditNodes | null;
  private readonly livePerRow = uniform(1, 'int');
  private readonly clock = uniform(0);
  private readonly posed = { lastClock: uniform(0), posedCount: uniform(0, 'int') };

  /**
   * @param locals What the first step writes, and the second reads.
   * @param palette What the second step writes, and vertices read.
   * @param before Where the palette is kept for the next frame.
   * @param edits Changes to single instances. If there is none yet, the steps do not look for any.
   * @param webGPU Whether instances that are not due may be left out. The WebGL 2 backend poses all of them.
   * @param seen Those that a camera sees, if only they shall be posed. Whether they are due is known then.
   */
  constructor(
    private readonly tracks: TrackTexture,
    private readonly playback: InstancePlayback,
    locals: MatrixRows,
    palette: MatrixRows,
    before: MatrixRows | null,
    webGPU: boolean,
    private readonly edits: JointEdits,
    private readonly seen: SeenNodes | null = null,
  ) {
    const { texture, shortKeys, layout } = tracks;
    const { capacity } = playback;
    const entries = entriesOf(tracks);
    const columns = columnsOf(tracks);
    this.actions = texels(playback.actions.layered);
    const layers = playback.layers.count;
    this.masks = layers > 1 ? texels(playback.layers.masks) : null;
    this.editNodes = this.createEditNodes();
    const { actions, clock, masks, editNodes } = this;
    const starts = uniform(new Vector3(layout.nodes, layout.joints, layout.clips), 'ivec3');
    // Anew in each step: three.js keeps a function's code, but not the textures that it reads.
    const readTracks = () => trackTexels(texels(texture), starts, shortKeys && texels(shortKeys));

    const played = { actions, clock, masks, layers };
    // Without storage buffers each invocation has to write something.
    const ifDue = (instance: Node<'int'>, pose: () => void) => {
      if (webGPU) If(isDue(instance, played, this.posed, editNodes), pose);
      else pose();
    };

    /** Builds what is done for each member of each instance that is due; `at` is the number of what it writes. */
    const each = (rows: MatrixRows, members: number, pose: PoseMember) => {
      if (seen !== null) {
        seen.each(members, pose);
        return;
      }
      const { instance, member } = split(rows.invocation, members);
      ifDue(instance, () => pose(instance, member));
    };

    const sample = Fn(() => {
      const nodes = readTracks();
      const mixing = mixTracks(nodes);
      each(locals, entries, (instance, member, at) => {
        const playing = playedActions(instance, member, played, mixing.action);
        locals.write(sampleStep(nodes, mixing, tracks, editNodes)(instance, member, playing), null, at);
      });
    });
    const compose = Fn(() => {
      each(palette, columns, (instance, member, at) => {
        const first = instance.mul(entries).toVar();
        const { read } = locals.reader();
        const entryRows = (entry: Node<'int'>) => read(first.add(entry).toVar());
        const rows = composeStep(readTracks(), tracks, editNodes)(instance, member, entryRows);
        palette.write(rows, tracks.groups === 0 ? null : member.lessThan(tracks.joints), at);
      });
    });
    if (seen !== null) {
      const mark = Fn(() => {
        seen.mark((instance, posedAt, rate) => isStale(instance, played, posedAt, editNodes, rate), clock);
      });
      this.steps = [mark(), sample(), compose()].map((step) => step.computeKernel([POSE_WORKGROUP]));
      this.stepsOfNewFrame = this.steps;
      return;
    }
    this.steps = [sample().compute(capacity * entries), compose().compute(capacity * columns)];
    this.stepsOfNewFrame = [...this.steps];
    if (before !== null) {
      const keep = Fn(() => {
        before.copy(palette);
      });
      this.stepsOfNewFrame.unshift(keep().compute(capacity * columns));
    }
  }

  /**
   * What to compute, one step after another.
   *
   * @param count Instances.
   * @param kept Instances whose poses are to be kept before; 0 for none.
   * @param last When they were posed last, and how many; null if all are due.
   */
  prepare(count: number, kept: number, last: { clock: number; count: number } | null): ComputeNode[] {
    this.updateNodes();
    this.posed.lastClock.value = last?.clock ?? 0;
    this.posed.posedCount.value = last?.count ?? 0;
    const [sample, compose] = this.steps;
    sample.count = count * entriesOf(this.tracks);
    compose.count = count * columnsOf(this.tracks);
    if (kept === 0) return this.steps;
    this.stepsOfNewFrame[0].count = kept * columnsOf(this.tracks);
    return this.stepsOfNewFrame;
  }

  /**
   * What to compute if only instances are posed that a camera sees.
   *
   * @param count Instances.
   * @param view What the camera sees.
   * @param epoch Another number whenever the clock does not go on from where it was.
   * @param rates Those of levels of detail, if they have any.
   * @param lastClock Seconds of the clock before it was last moved.
   */
  prepareSeen(
    count: number,
    view: ViewBuffers,
    epoch: number,
    rates: SeenRates | null,
    lastClock: number,
  ): ComputeNode[] {
    const { seen, steps } = this;
    this.updateNodes();
    seen?.use(count, view, epoch, rates, lastClock);
    steps[0].dispatchSize = count;
    setSize(steps[1], view.poseSizes[0]);
    setSize(steps[2], view.poseSizes[1]);
    return steps;
  }

  /** Whether the steps look for edits. */
  get edited(): boolean {
    return this.editNodes !== null;
  }

  dispose(): void {
    for (const step of this.stepsOfNewFrame) step.dispose();
  }

  private updateNodes(): void {
    const { clock, actions, layers } = this.playback;
    this.clock.value = clock;
    if (this.masks !== null) this.masks.value = layers.masks;
    this.actions.value = actions.layered;
    this.updateEdits();
  }

  private createEditNodes(): EditNodes | null {
    const { headers, edits, live } = this.edits;
    if (headers === null || edits === null || live === null) return null;
    return {
      headers: texels(headers.layered),
      edits: texels(edits.layered),
      live: texels(live.layered),
      livePerRow: this.livePerRow,
      clock: this.clock,
    };
  }

  /** Any of the textures may have become another one. */
  private updateEdits(): void {
    const { headers, edits, live } = this.edits;
    const { editNodes } = this;
    if (editNodes === null || headers === null || edits === null || live === null) return;
    editNodes.headers.value = headers.layered;
    editNodes.edits.value = edits.layered;
    editNodes.live.value = live.layered;
    this.livePerRow.value = live.perRow;
  }
}

/** Lets the GPU itself say how much is computed, which the types do not know. */
function setSize(step: { dispatchSize: unknown }, size: ViewBuffers['poseSizes'][number]): void {
  step.dispatchSize = size;
}

/** The instance that an invocation is about, and which of its so many members. */
function split(invocation: Node<'uint'>, members: number): Record<'instance' | 'member', Node<'int'>> {
  const index = int(invocation).toVar();
  const instance = index.div(members).toVar();
  return { instance, member: index.sub(instance.mul(members)).toVar() };
}
