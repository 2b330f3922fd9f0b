import { Vector2, Vector3 } from 'three';
import { Fn, If, int, uint, uniform } from 'three/tsl';
import type { ComputeNode, IndirectStorageBufferAttribute, Node, StorageBufferAttribute } from 'three/webgpu';
import { noNumbers, numberAt } from '../../../shaders/instanceIndex.tsl.js';
import { composeStep, type PoseEditNodes, sampleStep, segmentStep } from '../../../shaders/posePass.tsl.js';
import { type TexelNode, texels } from '../../../shaders/TexelNode.js';
import { trackTexels } from '../../../shaders/trackTexel.tsl.js';
import { type StoredUints, uintsIn } from '../../../shaders/tsl.js';
import type { PosedCrowd } from '../../animation/PoseSource.js';
import type { PoseTracks } from '../../animation/PoseTracks.js';
import { type TrackLayout, trackLayout } from '../../animation/trackTexels.js';
import { nodesOf } from './featureNodes.js';
import type { MatrixRows, RowsReader, RowsWriter } from './MatrixRows.js';
import type { PaletteRows } from './PaletteRows.js';
import type { ActionsReader, StoredOnGPU } from './StoredOnGPU.js';

/** Invocations of a workgroup. */
export const POSE_WORKGROUP = 64;

/** What there is of a character to be posed. */
export interface PoseCounts {
  layout: TrackLayout;
  nodes: number;
  joints: number;
  /** What the first step computes of an instance: its nodes, then groups of four morph targets. */
  entries: number;
  /** What the second step computes: its joints, then the same groups. */
  columns: number;
}

export function countPoses(tracks: PoseTracks): PoseCounts {
  const { length: nodes } = tracks.parents;
  const { length: joints } = tracks.jointNodes;
  const groups = tracks.morphRest.length / 4;
  return { layout: trackLayout(tracks), nodes, joints, entries: nodes + groups, columns: joints + groups };
}

/** Where poses go. */
export interface PoseBuffers {
  /** What the first step writes and the second reads. */
  readonly locals: MatrixRows;
  /** What the segments of long chains come to; null where no chain is long. */
  readonly segments: MatrixRows | null;
  /** What the second writes and vertices read. */
  readonly palette: MatrixRows;
  /** The palette of the frame before; null where nobody asks for motion vectors. */
  readonly before: MatrixRows | null;
  /** A bit for each row: whether it is to be posed. */
  readonly due: StorageBufferAttribute;
}

/** A list of instances that the GPU has made. */
export interface PoseList {
  readonly ids: StorageBufferAttribute;
  /** The first says how long it is. */
  readonly totals: StorageBufferAttribute;
  /** Workgroups of both steps. */
  readonly poseSizes: readonly [IndirectStorageBufferAttribute, IndirectStorageBufferAttribute];
  /** The instance of an entry. */
  idOf(entry: Node<'uint'>): Node<'int'>;
  /** Tells lists of different entries apart: 1 or 2. */
  readonly kind: number;
}

/** Where the GPU itself writes what a crowd plays. */
export const storedActions = ({ crowd: { written } }: PosedCrowd): StoredOnGPU | null =>
  (written as StoredOnGPU | null)?.actions ? (written as StoredOnGPU) : null;

/** Tells crowds apart that need steps of their own. */
export function poseKey(
  crowd: PosedCrowd,
  counts: PoseCounts,
  before: boolean,
  list: PoseList | null,
): number {
  const { playback, boneTexture } = crowd;
  let key = playback.layers.length;
  key = key * 2 + (crowd.crowd.poseEdits === null ? 0 : 1);
  key = key * 2 + (storedActions(crowd) === null ? 0 : 1);
  key = key * 2 + (boneTexture.shortKeys === null ? 0 : 1);
  key = key * 2 + (counts.entries === counts.nodes ? 0 : 1);
  key = key * 2 + (counts.layout.hasLongChains ? 1 : 0);
  key = key * 2 + (before ? 1 : 0);
  key = key * 3 + (list?.kind ?? 0);
  return key * 16 + (boneTexture.type % 16);
}

/** Poses a member of an instance, in a row of the palette. */
type PoseMember = (instance: Node<'int'>, row: Node<'int'>, member: Node<'int'>) => void;

/** The computations that pose crowds of the same `poseKey`, which each crowd has read and write its own buffers. */
export class PoseSteps {
  private readonly sample: ComputeNode;
  private readonly compose: ComputeNode;
  private readonly steps: ComputeNode[];
  /** These after the palette was copied for the next frame. */
  private readonly stepsOfNewFrame: ComputeNode[];
  private readonly clock = uniform(new Vector2());
  private readonly starts = uniform(new Vector3(), 'ivec3');
  private readonly counts = {
    nodes: uniform(0, 'int'),
    joints: uniform(0, 'int'),
    entries: uniform(0, 'int'),
    columns: uniform(0, 'int'),
  };
  private readonly actions: ActionsReader;
  private readonly masks: TexelNode | null;
  private readonly edits: PoseEditNodes | null;
  private readonly tracks: { keys: TexelNode; shortKeys: TexelNode | null }[] = [];
  private readonly writers: readonly [RowsWriter, RowsWriter];
  private readonly locals: RowsReader;
  /** Between the two steps, where chains are long and no pose is edited. */
  private readonly segment: { step: ComputeNode; from: RowsReader; to: RowsWriter } | null;
  private readonly keeping: { from: RowsReader; to: RowsWriter } | null;
  /** Whether `due` counts, and whether rows are handed out, see `PaletteRows`. */
  private readonly isPart = uniform(0, 'int');
  private readonly isPooled = uniform(0, 'int');
  private readonly due: StoredUints;
  private readonly instanceOf = texels(noNumbers('rows'));
  private readonly list: { ids: StoredUints; totals: StoredUints } | null;

  /**
   * @param crowd One of the crowds.
   * @param webGPU Whether invocations may leave out what is not due. On the WebGL 2 backend each has to write something.
   */
  constructor(
    crowd: PosedCrowd,
    { entries, nodes }: PoseCounts,
    { locals, segments, palette, before, due }: PoseBuffers,
    webGPU: boolean,
    list: PoseList | null,
  ) {
    const { playback, boneTexture } = crowd;
    const { clock, counts, instanceOf } = this;
    const { poseEdits } = crowd.crowd;
    const layers = playback.layers.length;
    this.actions = storedActions(crowd)?.createReader() ?? texels(playback.actions.layered);
    this.masks = playback.over && texels(playback.over.masks);
    this.edits = poseEdits && nodesOf('JointEdits')(poseEdits.textures, clock.x, counts.nodes);
    this.writers = [locals.writer(), palette.writer()];
    const reduced = poseEdits === null ? segments : null;
    this.locals = (reduced ?? locals).reader();
    this.keeping = before && { from: palette.reader(), to: before.writer() };
    this.due = uintsIn(due).toReadOnly();
    this.list = list && {
      ids: uintsIn(list.ids).toReadOnly(),
      totals: uintsIn(list.totals).toReadOnly(),
    };

    const over = this.masks && nodesOf('AnimationLayers')(this.masks);
    const played = { actions: this.actions, clock, layers, over };
    const size = { nodes: counts.nodes, joints: counts.joints, morphs: entries > nodes };
    const each = (members: Node<'int'>, pose: PoseMember) => {
      const index = int(palette.invocation).toVar();
      const row = index.div(members).toVar();
      const member = index.sub(row.mul(members)).toVar();
      if (list !== null && this.list !== null) {
        const { ids, totals } = this.list;
        If(row.lessThan(int(totals.element(int(0)))), () => {
          const instance = list.idOf(ids.element(row)).toVar();
          pose(instance, instance, member);
        });
      } else if (webGPU) {
        const bit = this.due.element(row.shiftRight(5)).shiftRight(uint(row).bitAnd(uint(31)));
        If(this.isPart.equal(0).or(bit.bitAnd(uint(1)).notEqual(uint(0))), () => {
          const instance = row.toVar();
          If(this.isPooled.notEqual(0), () => {
            instance.assign(int(numberAt(instanceOf, row)));
          });
          pose(instance, row, member);
        });
      } else pose(row, row, member);
    };
    // Anew in each step: three.js keeps a function's code, but not the textures that it reads.
    const readTracks = () => {
      const keys = texels(boneTexture);
      const shortKeys = boneTexture.shortKeys && texels(boneTexture.shortKeys);
      this.tracks.push({ keys, shortKeys });
      return trackTexels(keys, this.starts, shortKeys);
    };

    const sample = Fn(() => {
      const local = sampleStep(readTracks(), played, size, this.edits);
      each(counts.entries, (instance, row, entry) => {
        this.writers[0].write(local(instance, entry), row.mul(counts.entries).add(entry).toVar());
      });
    });
    const compose = Fn(() => {
      const skinning = composeStep(readTracks(), size, this.edits, reduced !== null);
      each(counts.columns, (instance, row, column) => {
        const first = row.mul(counts.entries).toVar();
        const localOf = (entry: Node<'int'>) => this.locals.read(first.add(entry).toVar());
        this.writers[1].write(
          skinning(instance, column, localOf),
          row.mul(counts.columns).add(column).toVar(),
        );
      });
    });
    const computed = (step: ReturnType<typeof sample>) =>
      list === null ? step.compute(1) : step.computeKernel([POSE_WORKGROUP]);
    this.sample = computed(sample());
    this.compose = computed(compose());
    this.segment = null;
    if (reduced !== null) {
      const from = locals.reader();
      const to = reduced.writer();
      const segment = Fn(() => {
        const multiplied = segmentStep(readTracks(), size);
        each(counts.entries, (_, row, entry) => {
          const first = row.mul(counts.entries).toVar();
          const localOf = (other: Node<'int'>) => from.read(first.add(other).toVar());
          to.write(multiplied(entry, localOf), first.add(entry).toVar());
        });
      });
      this.segment = { step: computed(segment()), from, to };
    }
    this.steps = [this.sample, ...(this.segment === null ? [] : [this.segment.step]), this.compose];
    this.stepsOfNewFrame = this.steps;
    const { keeping } = this;
    if (keeping === null) return;
    const keep = Fn(() => {
      keeping.to.write(keeping.from.read(int(palette.invocation).toVar()));
    });
    this.stepsOfNewFrame = [keep().compute(1), ...this.steps];
  }

  /**
   * What to compute, one step after another.
   *
   * @param count Rows that are looked at.
   * @param isPart Whether `due` says which of them are posed.
   * @param kept Instances whose poses are kept first; 0 for none.
   */
  prepare(
    crowd: PosedCrowd,
    counts: PoseCounts,
    buffers: PoseBuffers,
    rows: PaletteRows,
    count: number,
    isPart: boolean,
    kept: number,
  ): ComputeNode[] {
    this.use(crowd, counts, buffers);
    this.isPart.value = isPart ? 1 : 0;
    this.isPooled.value = rows.instanceOf === null ? 0 : 1;
    this.instanceOf.value = rows.instanceOf?.layered ?? noNumbers('rows');
    this.due.value = buffers.due;
    this.sample.count = count * counts.entries;
    if (this.segment !== null) this.segment.step.count = count * counts.entries;
    this.compose.count = count * counts.columns;
    if (kept === 0) return this.steps;
    this.stepsOfNewFrame[0].count = kept * counts.columns;
    return this.stepsOfNewFrame;
  }

  /** The same for the instances of a list. */
  prepareList(crowd: PosedCrowd, counts: PoseCounts, buffers: PoseBuffers, list: PoseList): ComputeNode[] {
    this.use(crowd, counts, buffers);
    if (this.list !== null) {
      this.list.ids.value = list.ids;
      this.list.totals.value = list.totals;
    }
    // Types do not know that the GPU may say how much is computed.
    for (const step of this.steps)
      Object.assign(step, { dispatchSize: list.poseSizes[step === this.compose ? 1 : 0] });
    return this.steps;
  }

  dispose(): void {
    for (const step of this.stepsOfNewFrame) step.dispose();
  }

  private use(
    crowd: PosedCrowd,
    counts: PoseCounts,
    { locals, segments, palette, before }: PoseBuffers,
  ): void {
    const { playback, boneTexture } = crowd;
    const { poseEdits } = crowd.crowd;
    const { layout } = counts;
    this.clock.value.set(playback.clock, playback.time.epoch);
    this.starts.value.set(layout.nodes, layout.joints, layout.clips);
    this.counts.nodes.value = counts.nodes;
    this.counts.joints.value = counts.joints;
    this.counts.entries.value = counts.entries;
    this.counts.columns.value = counts.columns;
    this.actions.value = storedActions(crowd)?.actions ?? playback.actions.layered;
    if (this.masks !== null && playback.over !== null) this.masks.value = playback.over.masks;
    if (poseEdits !== null) this.edits?.use(poseEdits.textures);
    for (let i = 0; i < this.tracks.length; i++) {
      const { keys, shortKeys } = this.tracks[i];
      keys.value = boneTexture;
      if (shortKeys !== null && boneTexture.shortKeys !== null) shortKeys.value = boneTexture.shortKeys;
    }
    this.writers[0].use(locals);
    this.writers[1].use(palette);
    this.segment?.from.use(locals);
    this.segment?.to.use(segments as MatrixRows);
    this.locals.use(this.segment === null ? locals : (segments as MatrixRows));
    if (before === null) return;
    this.keeping?.from.use(palette);
    this.keeping?.to.use(before);
  }
}
