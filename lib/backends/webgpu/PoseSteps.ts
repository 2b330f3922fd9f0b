import { type Texture, Vector2, Vector3 } from 'three';
import { Fn, If, int, uniform } from 'three/tsl';
import type { ComputeNode, Node } from 'three/webgpu';
import type { layerNodes as LayerNodes } from '../../../shaders/layers.tsl.js';
import {
  type CreatePoseEditNodes,
  composeStep,
  isDue,
  isStale,
  type PoseEditNodes,
  sampleStep,
} from '../../../shaders/posePass.tsl.js';
import { type TexelNode, texels } from '../../../shaders/TexelNode.js';
import { type TrackTexelNodes, trackTexels } from '../../../shaders/trackTexel.tsl.js';
import type { TrackLayout } from '../../animation/trackTexels.js';
import type { EditedCrowd } from '../../crowd/CrowdFeature.js';
import type { InstancePlayback } from '../../playback/InstancePlayback.js';
import type { MatrixRows, RowsReader, RowsWriter } from './MatrixRows.js';
import { notImported } from './SharedSteps.js';
import { POSE_WORKGROUP, type PoseMember, SeenNodes, type SeenRates } from './views/SeenNodes.js';
import type { SeenRows } from './views/SeenRows.js';
import type { ActionsReader, StoredOnGPU } from './views/StoredInstances.js';
import type { ViewBuffers } from './views/ViewBuffers.js';

/** The tracks of a character, as `trackTexels` packs them. */
export interface TrackTexture {
  texture: Texture;
  /** Keys of 16 bits; null if there are none. */
  shortKeys: Texture | null;
  layout: TrackLayout;
  /** Nodes that joints hang on. */
  nodes: number;
  joints: number;
  /** Groups of four morph targets. */
  groups: number;
}

/** What the first step computes of an instance: its nodes, then groups of four morph targets. */
export const entriesOf = ({ nodes, groups }: TrackTexture): number => nodes + groups;

/** What the second step computes of an instance: its joints, then groups of four morph targets. */
export const columnsOf = ({ joints, groups }: TrackTexture): number => joints + groups;

/** What a crowd is posed from, and where its poses go. */
export interface PoseInputs {
  readonly tracks: TrackTexture;
  readonly playback: InstancePlayback;
  /** As long as nothing edits its poses, the steps do not look for edits. */
  readonly crowd: EditedCrowd;
  /** `locals` is what the first step writes, and the second reads; `palette` what the second writes, and vertices read. */
  readonly rows: SeenRows;
}

/** What a camera sees, if only that is to be posed. */
export interface SeenInputs {
  readonly view: ViewBuffers;
  /** Those of levels of detail, if they have any. */
  readonly rates: SeenRates | null;
}

/** Tells crowds apart that need computations of their own. */
export function poseKey(
  { tracks, playback, crowd }: PoseInputs,
  keepsBefore: boolean,
  seen: SeenInputs | null,
): number {
  const rates = seen?.rates ?? null;
  let key = playback.layers.length;
  key = key * 2 + (crowd.poseEdits === null ? 0 : 1);
  key = key * 2 + (storedActions(crowd) === null ? 0 : 1);
  key = key * 2 + (tracks.shortKeys === null ? 0 : 1);
  key = key * 2 + (tracks.groups === 0 ? 0 : 1);
  key = key * 2 + (keepsBefore ? 1 : 0);
  key = key * 2 + (seen === null ? 0 : 1);
  key = key * 2 + (seen?.view.fades === true ? 1 : 0);
  key = key * 3 + (rates === null ? 0 : rates.states === null ? 1 : 2);
  return key * 16 + (tracks.texture.type % 16);
}

/** Where the GPU itself writes what a crowd plays. */
const storedActions = ({ written }: EditedCrowd): StoredOnGPU | null => {
  const stored = written as StoredOnGPU | null;
  return stored === null || stored.actions === null ? null : stored;
};

let createEditNodes: CreatePoseEditNodes | null = null;

/** Lets steps pose crowds whose poses are edited. */
export function registerPoseEditNodes(create: CreatePoseEditNodes): void {
  createEditNodes = create;
}

/** @throws If the page has not imported it. */
const editNodesFor: CreatePoseEditNodes = (...parameters) => {
  if (createEditNodes !== null) return createEditNodes(...parameters);
  return notImported('joint edits', 'JointEdits');
};

let createLayerNodes: typeof LayerNodes | null = null;

/** Lets steps pose crowds that have layers over the base. */
export function registerLayerNodes(create: typeof LayerNodes): void {
  createLayerNodes = create;
}

/** @throws If the page has not imported it. */
const overNodes: typeof LayerNodes = (...parameters) => {
  if (createLayerNodes !== null) return createLayerNodes(...parameters);
  return notImported('layers', 'AnimationLayers');
};

/** A texture that a step reads as tracks, and that with keys of 16 bits. */
interface ReadTracks {
  tracks: TexelNode;
  shortKeys: TexelNode | null;
}

/** The computations that pose crowds which have the same `poseKey`, and what they read of the one that is posed. */
export class PoseSteps {
  private readonly steps: ComputeNode[];
  private readonly stepsOfNewFrame: ComputeNode[];
  private readonly actions: ActionsReader;
  private readonly masks: TexelNode | null;
  private readonly editNodes: PoseEditNodes | null;
  private readonly clock = uniform(new Vector2());
  private readonly posed = { lastClock: uniform(0), posedCount: uniform(0, 'int') };
  private readonly starts = uniform(new Vector3(), 'ivec3');
  private readonly size = {
    nodes: uniform(0, 'int'),
    joints: uniform(0, 'int'),
    entries: uniform(0, 'int'),
    columns: uniform(0, 'int'),
  };
  private readonly writers: readonly [RowsWriter, RowsWriter];
  private readonly localsReader: RowsReader;
  /** What copies the palette for the next frame. */
  private readonly keeping: { from: RowsReader; to: RowsWriter } | null;
  private readonly seen: SeenNodes | null;
  private readonly track: ReadTracks[] = [];
  private texture: Texture;
  private shortKeys: Texture | null;

  /**
   * @param inputs Of one of the crowds.
   * @param before Where the palette is kept for the next frame.
   * @param webGPU Whether instances that are not due may be left out. The WebGL 2 backend poses all of them.
   * @param seen What a camera sees, if only that shall be posed. Whether it is due is known then.
   */
  constructor(
    { tracks, playback, crowd, rows: { locals, palette }, rows: seenRows }: PoseInputs,
    before: MatrixRows | null,
    webGPU: boolean,
    seen: SeenInputs | null,
  ) {
    const layers = playback.layers.length;
    this.texture = tracks.texture;
    this.shortKeys = tracks.shortKeys;
    this.actions = storedActions(crowd)?.createReader() ?? texels(playback.actions.layered);
    this.masks = playback.over && texels(playback.over.masks);
    this.editNodes = crowd.poseEdits && editNodesFor(crowd.poseEdits.textures, this.clock.x, this.size.nodes);
    this.writers = [locals.writer(), palette.writer()];
    this.localsReader = locals.reader();
    this.keeping = before === null ? null : { from: palette.reader(), to: before.writer() };
    this.seen = seen === null ? null : new SeenNodes(seenRows, seen.view, seen.rates);

    const { actions, clock, masks, editNodes, size } = this;
    const played = { actions, clock, layers, over: masks && overNodes(masks) };
    const poseSize = { nodes: size.nodes, joints: size.joints, morphs: tracks.groups > 0 };
    // Without storage buffers each invocation has to write something.
    const ifDue = (instance: Node<'int'>, pose: () => void) => {
      if (webGPU) If(isDue(instance, played, this.posed, editNodes), pose);
      else pose();
    };

    /** Builds what is done for each member of each instance that is due. */
    const each = (rows: MatrixRows, members: Node<'int'>, pose: PoseMember) => {
      if (this.seen !== null) {
        this.seen.each(members, pose);
        return;
      }
      const { instance, member } = split(rows.invocation, members);
      ifDue(instance, () => pose(instance, member));
    };

    const sample = Fn(() => {
      const step = sampleStep(this.readTracks(0), played, poseSize, editNodes);
      each(locals, size.entries, (instance, member, seenAt) => {
        this.writers[0].write(step(instance, member), seenAt?.place.mul(size.entries).add(member).toVar());
      });
    });
    const compose = Fn(() => {
      each(palette, size.columns, (instance, member, seenAt) => {
        const first = (seenAt?.place ?? instance).mul(size.entries).toVar();
        const entryRows = (entry: Node<'int'>) => this.localsReader.read(first.add(entry).toVar());
        const rows = composeStep(this.readTracks(1), poseSize, editNodes)(instance, member, entryRows);
        this.writers[1].write(rows, seenAt?.row.mul(size.columns).add(member).toVar());
      });
    });
    if (this.seen !== null) {
      const mark = Fn(() => {
        this.seen?.mark(
          (instance, posedAt, rate) => isStale(instance, played, posedAt, editNodes, rate),
          clock.x,
        );
      });
      this.steps = [mark(), sample(), compose()].map((step) => step.computeKernel([POSE_WORKGROUP]));
      this.stepsOfNewFrame = this.steps;
      return;
    }
    this.steps = [sample().compute(1), compose().compute(1)];
    this.stepsOfNewFrame = [...this.steps];
    const { keeping } = this;
    if (keeping !== null) {
      const keep = Fn(() => {
        keeping.to.write(keeping.from.read(int(palette.invocation).toVar()));
      });
      this.stepsOfNewFrame.unshift(keep().compute(1));
    }
  }

  /**
   * What to compute, one step after another.
   *
   * @param before See the constructor.
   * @param count Instances.
   * @param kept Instances whose poses are to be kept before; 0 for none.
   * @param last When they were posed last, and how many; null if all are due.
   */
  prepare(
    inputs: PoseInputs,
    before: MatrixRows | null,
    count: number,
    kept: number,
    last: { clock: number; count: number } | null,
  ): ComputeNode[] {
    this.use(inputs);
    if (before !== null) {
      this.keeping?.from.use(inputs.rows.palette);
      this.keeping?.to.use(before);
    }
    this.posed.lastClock.value = last?.clock ?? 0;
    this.posed.posedCount.value = last?.count ?? 0;
    const [sample, compose] = this.steps;
    sample.count = count * entriesOf(inputs.tracks);
    compose.count = count * columnsOf(inputs.tracks);
    if (kept === 0) return this.steps;
    this.stepsOfNewFrame[0].count = kept * columnsOf(inputs.tracks);
    return this.stepsOfNewFrame;
  }

  /**
   * What to compute if only instances are posed that a camera sees. See `SeenNodes.use`.
   *
   * @param count Instances.
   */
  prepareSeen(
    inputs: PoseInputs,
    { view, rates }: SeenInputs,
    count: number,
    epoch: number,
    lastClock: number,
  ): ComputeNode[] {
    const { steps } = this;
    this.use(inputs);
    this.seen?.use(count, inputs.rows, view, epoch, rates, lastClock);
    steps[0].dispatchSize = count;
    setSize(steps[1], view.poseSizes[0]);
    setSize(steps[2], view.poseSizes[1]);
    return steps;
  }

  dispose(): void {
    for (const step of this.stepsOfNewFrame) step.dispose();
  }

  /** Has the steps pose a crowd. */
  private use({ tracks, playback, crowd, rows: { locals, palette } }: PoseInputs): void {
    const { size } = this;
    const { clock, time, actions, over } = playback;
    this.clock.value.set(clock, time.epoch);
    if (this.masks !== null && over !== null) this.masks.value = over.masks;
    this.actions.value = storedActions(crowd)?.actions ?? actions.layered;
    if (crowd.poseEdits !== null) this.editNodes?.use(crowd.poseEdits.textures);
    this.starts.value.set(tracks.layout.nodes, tracks.layout.joints, tracks.layout.clips);
    size.nodes.value = tracks.nodes;
    size.joints.value = tracks.joints;
    size.entries.value = entriesOf(tracks);
    size.columns.value = columnsOf(tracks);
    this.writers[0].use(locals);
    this.writers[1].use(palette);
    this.localsReader.use(locals);
    this.texture = tracks.texture;
    this.shortKeys = tracks.shortKeys;
    for (let i = 0; i < this.track.length; i++) {
      this.track[i].tracks.value = tracks.texture;
      const { shortKeys } = this.track[i];
      if (shortKeys !== null && tracks.shortKeys !== null) shortKeys.value = tracks.shortKeys;
    }
  }

  /** Anew in each build of a step: three.js keeps a function's code, but not the textures that it reads. */
  private readTracks(step: number): TrackTexelNodes {
    const tracks = texels(this.texture);
    const shortKeys = this.shortKeys && texels(this.shortKeys);
    this.track[step] = { tracks, shortKeys };
    return trackTexels(tracks, this.starts, shortKeys);
  }
}

/** Lets the GPU itself say how much is computed, which the types do not know. */
function setSize(step: { dispatchSize: unknown }, size: ViewBuffers['poseSizes'][number]): void {
  step.dispatchSize = size;
}

/** The instance that an invocation is about, and which of its so many members. */
function split(invocation: Node<'uint'>, members: Node<'int'>): Record<'instance' | 'member', Node<'int'>> {
  const index = int(invocation).toVar();
  const instance = index.div(members).toVar();
  return { instance, member: index.sub(instance.mul(members)).toVar() };
}
