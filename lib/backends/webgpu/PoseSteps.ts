import { Vector2, Vector3, Vector4 } from 'three';
import { Fn, If, int, ivec2, OnObjectUpdate, struct, uint, uniform } from 'three/tsl';
import {
  type ComputeNode,
  type IndirectStorageBufferAttribute,
  type Node,
  StorageBufferAttribute,
  type WebGPURenderer,
} from 'three/webgpu';
import { noNumbers, numberAt } from '../../../shaders/instanceIndex.tsl.js';
import { composeStep, type PoseEditNodes, sampleStep, segmentStep } from '../../../shaders/posePass.tsl.js';
import { type TexelNode, texels } from '../../../shaders/TexelNode.js';
import { trackTexels } from '../../../shaders/trackTexel.tsl.js';
import {
  type Rows,
  rowsOf,
  type StorageOf,
  type Structs,
  storageOf,
  structsIn,
} from '../../../shaders/tsl.js';
import type { PoseTracks } from '../../animation/PoseTracks.js';
import { trackLayout } from '../../animation/trackTexels.js';
import { ID_MASK } from '../../constants.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import type { PaletteRows } from '../PaletteRows.js';
import { nodesOf } from './featureNodes.js';
import type { MatrixRows, RowsNodes } from './MatrixRows.js';
import { type ActionsReader, type placesOf, placesReader, type StoredOnGPU } from './StoredPlaces.js';

/** Invocations of a workgroup. */
export const POSE_WORKGROUP = 64;

export function countPoses(tracks: PoseTracks) {
  const { length: nodes } = tracks.parents;
  const { length: joints } = tracks.jointNodes;
  const groups = tracks.morphRest.length / 4;
  // Behind them is the inverse of the instance's matrix.
  const columns = joints + groups + 1;
  return { layout: trackLayout(tracks), nodes, joints, entries: nodes + groups, columns };
}

/** What steps are told of a crowd, as the bytes lie in `PoseBuffers.numbers`. */
const PoseNumbers = /*@__PURE__*/ struct(
  {
    /** How many rows of `due` are posed; it comes first, as in `PoseList.totals`. */
    due: 'int',
    /** Whether rows are handed out, see `PaletteRows`. */
    isPooled: 'int',
    clock: 'vec2',
    /** Its `PoseCounts`: nodes, entries, joints and columns. */
    counts: 'ivec4',
    starts: 'ivec3',
    /** Rows whose poses are kept first. */
    kept: 'int',
    /** The place of the first in `due`. */
    first: 'int',
  },
  'PoseNumbers',
);
/** Numbers in these, with what fills up the last vector. */
const NUMBERS = 16;
const DUE = 0;
const IS_POOLED = 1;
const CLOCK = 2;
const COUNTS = 4;
const STARTS = 8;
const KEPT = 11;
const FIRST = 12;

export function createPoseNumbers({
  nodes,
  entries,
  joints,
  columns,
  layout,
}: ReturnType<typeof countPoses>): StorageBufferAttribute {
  const numbers = new Int32Array(NUMBERS);
  numbers.set([nodes, entries, joints, columns, layout.nodes, layout.joints, layout.clips], COUNTS);
  return new StorageBufferAttribute(numbers, 1);
}

export const timesIn = ({ array }: StorageBufferAttribute): Float32Array =>
  new Float32Array(array.buffer, CLOCK * 4, 2);

/** Where poses go. */
export interface PoseBuffers {
  readonly counts: ReturnType<typeof countPoses>;
  readonly rows: PaletteRows;
  /** The crowd that is posed. */
  readonly posedCrowd: DrawnCrowd;
  /** Where its instances stand. */
  readonly places: ReturnType<typeof placesOf>;
  readonly numbers: StorageBufferAttribute;
  /** The part of these that is the clock. */
  readonly times: Float32Array;
  /** What the first step writes and the second reads. */
  readonly locals: MatrixRows;
  /** What the segments of long chains come to; null where no chain is long. */
  readonly segments: MatrixRows | null;
  /** What the second writes and vertices read. */
  readonly palette: MatrixRows;
  /** The palette of the frame before; null where nobody asks for motion vectors. */
  readonly before: MatrixRows | null;
  /** The rows that are posed, as the CPU lists them. */
  readonly due: StorageBufferAttribute;
  /** The list that takes its place; null for none. */
  readonly list: PoseList | null;
}

/** A list that the GPU has made, of instances whose rows have their numbers. */
export interface PoseList {
  /** In the lower `ID_BITS` of each. */
  readonly ids: StorageBufferAttribute;
  /** The first says how long it is. */
  readonly totals: StorageBufferAttribute;
  /** Workgroups of both steps. */
  readonly poseSizes: readonly [IndirectStorageBufferAttribute, IndirectStorageBufferAttribute];
}

/** Where the GPU itself writes what a crowd plays. */
export const storedActions = ({ crowd: { written } }: DrawnCrowd): StoredOnGPU | null =>
  (written as StoredOnGPU | null)?.actions ? (written as StoredOnGPU) : null;

/** Tells crowds apart that need steps of their own. */
export function poseKey(crowd: DrawnCrowd, counts: ReturnType<typeof countPoses>, before: boolean): number {
  const { playback } = crowd;
  const { boneTexture, bodies, poseEdits } = crowd.crowd;
  let key = playback.layers.length;
  key = key * 2 + (poseEdits === null ? 0 : 1);
  key = key * 2 + (bodies === null ? 0 : 1);
  key = key * 2 + (storedActions(crowd) === null ? 0 : 1);
  key = key * 2 + (boneTexture.shortKeys === null ? 0 : 1);
  key = key * 2 + (counts.layout.hasLongChains ? 1 : 0);
  key = key * 2 + (before ? 1 : 0);
  return key * 16 + (boneTexture.type % 16);
}

/** Steps that wait, and for each that poses a crowd, which one. */
const waiting: ComputeNode[] = [];
const turns: PoseBuffers[] = [];
let waits = 0;
let turnsWaiting = 0;
/** Which of these is computed; -1 if none. */
let turn = -1;

/**
 * Lets steps wait until `computeWaiting`: to submit them takes longer than all else.
 *
 * @param buffers Of the crowd that they pose; null if they do something else.
 */
export function wait(steps: readonly ComputeNode[], buffers: PoseBuffers | null): void {
  for (let i = 0; i < steps.length; i++) {
    waiting[waits++] = steps[i];
    if (buffers !== null) turns[turnsWaiting++] = buffers;
  }
}

/** Computes what waits, in one submission. */
export function computeWaiting(renderer: WebGPURenderer): void {
  if (waits === 0) return;
  // Set to what it was, a length takes away what the array has allocated.
  if (waiting.length !== waits) waiting.length = waits;
  waits = turnsWaiting = turn = 0;
  try {
    renderer.compute(waiting);
  } finally {
    turn = -1;
  }
}

/** Poses a member of an instance; `place` is that of the instance among those that are posed at once. */
type PoseMember = (instance: Node<'int'>, member: Node<'int'>, place: Node<'int'>) => Rows;

/** The computations that pose crowds of the same `poseKey`, which each crowd has read and write its own buffers. */
export class PoseSteps {
  private readonly sample: ComputeNode;
  private readonly compose: ComputeNode;
  private readonly steps: ComputeNode[];
  /** These after the palette was copied for the next frame. */
  private readonly stepsOfNewFrame: ComputeNode[];
  private readonly numbers: Structs;
  /** The same on the WebGL 2 backend, whose computations cannot read buffers by number. */
  private readonly uniforms = {
    clock: uniform(new Vector2()),
    starts: uniform(new Vector3(), 'ivec3'),
    counts: uniform(new Vector4(), 'ivec4'),
  };
  private readonly actions: ActionsReader;
  private readonly places: ReturnType<typeof placesReader>;
  private readonly masks: TexelNode | null;
  private readonly edits: PoseEditNodes | null;
  private readonly keys: TexelNode;
  private readonly shortKeys: TexelNode | null;
  private readonly bodies: TexelNode | null;
  private readonly writers: readonly [RowsNodes, RowsNodes];
  private readonly locals: RowsNodes;
  /** Between the two steps, where chains are long and no pose is edited. */
  private readonly segment: { step: ComputeNode; from: RowsNodes; to: RowsNodes } | null;
  private readonly keeping: { from: RowsNodes; to: RowsNodes } | null;
  /** The rows that are posed, and how many there are. */
  private readonly ids: StorageOf<'uint'>;
  private readonly totals: StorageOf<'uint'>;
  private readonly instanceOf = texels(noNumbers('rows'));

  /**
   * @param crowd One of the crowds.
   * @param webGPU Whether invocations may write by a list. On the WebGL 2 backend each writes the row of its number.
   */
  constructor(
    { posedCrowd: crowd, places, locals, segments, palette, before, due, numbers }: PoseBuffers,
    private readonly webGPU: boolean,
  ) {
    const { playback } = crowd;
    const { instanceOf } = this;
    this.numbers = structsIn(numbers, PoseNumbers, 1).toReadOnly();
    const told = <T = 'int'>(name: string) => this.numbers.element(int(0)).get<T>(name);
    const { clock, starts, counts } = webGPU
      ? { clock: told<'vec2'>('clock'), starts: told<'ivec3'>('starts'), counts: told<'ivec4'>('counts') }
      : this.uniforms;
    const { boneTexture, bodies, poseEdits } = crowd.crowd;
    const layers = playback.layers.length;
    this.actions = storedActions(crowd)?.createReader() ?? texels(playback.texels.texture.layered);
    this.places = placesReader(places);
    this.masks = playback.over && texels(playback.over.masks);
    this.edits = poseEdits && nodesOf('JointEdits')(poseEdits.textures, clock.x, counts.x);
    this.writers = [locals.nodes(true), palette.nodes(true)];
    const reduced = poseEdits === null ? segments : null;
    this.locals = (reduced ?? locals).nodes(false);
    this.keeping = before && { from: palette.nodes(false), to: before.nodes(true) };
    this.ids = storageOf(due, 'uint').toReadOnly();
    this.totals = storageOf(numbers, 'uint').toReadOnly();

    const over = this.masks && nodesOf('AnimationLayers')(this.masks);
    const played = { actions: this.actions, clock, layers, over };
    const each = (members: Node<'int'>, writer: RowsNodes, pose: PoseMember) => {
      const index = int(palette.invocation).toVar();
      const place = index.div(members).toVar();
      const member = index.sub(place.mul(members)).toVar();
      const write = (instance: Node<'int'>, row: Node<'int'>) => {
        const rows = pose(instance, member, place);
        writer.write(rows, (writer === this.writers[1] ? row : place).mul(members).add(member).toVar());
      };
      if (webGPU) {
        If(place.lessThan(int(this.totals.element(int(0)))), () => {
          const row = int(this.ids.element(place.add(told('first'))).bitAnd(uint(ID_MASK))).toVar();
          const instance = row.toVar();
          If(told('isPooled').notEqual(0), () => {
            instance.assign(int(numberAt(instanceOf, row)));
          });
          write(instance, row);
        });
      } else write(place, place);
    };
    this.keys = texels(boneTexture);
    this.shortKeys = boneTexture.shortKeys && texels(boneTexture.shortKeys);
    this.bodies = bodies && texels(bodies);
    // Anew in each step: three.js keeps a function's code, but not the textures that it reads.
    const readTracks = () => ({
      ...trackTexels(this.keys, starts, this.shortKeys),
      passLayout: counts,
      HAS_BODIES: this.bodies !== null,
      ...(this.bodies && nodesOf('CrowdKinds')(this.bodies, played, counts)),
    });
    // Texts know texels of textures by two numbers, of which the second is 0 in buffers.
    const firstOf = (place: Node<'int'>) => ivec2(place.mul(counts.y), 0).toVar();
    const localsIn = (from: RowsNodes) => (at: Node<'ivec2'>) => from.read(at.x.toVar());

    // Whose turn it is: crowds share the steps.
    const next = (step: () => ComputeNode) => {
      OnObjectUpdate(() => this.begin(step()));
    };
    const sample = Fn(() => {
      next(() => this.sample);
      const local = sampleStep(readTracks(), played, this.edits);
      each(counts.y, this.writers[0], local);
    });
    const compose = Fn(() => {
      next(() => this.compose);
      const placing = (instance: Node<'int'>) => rowsOf(this.places.read(instance));
      const skinning = composeStep(
        readTracks(),
        localsIn(this.locals),
        placing,
        this.edits,
        reduced !== null,
      );
      each(counts.w, this.writers[1], (instance, column, place) =>
        skinning(instance, column, firstOf(place)),
      );
    });
    const computed = (step: ReturnType<typeof sample>) =>
      webGPU ? step.computeKernel([POSE_WORKGROUP]) : step.compute(1);
    this.sample = computed(sample());
    this.compose = computed(compose());
    this.segment = null;
    if (reduced !== null) {
      const from = locals.nodes(false);
      const to = reduced.nodes(true);
      const segment = Fn(() => {
        next(() => (this.segment as { step: ComputeNode }).step);
        const multiplied = segmentStep(readTracks(), localsIn(from));
        each(counts.y, to, (_, entry, place) => multiplied(entry, firstOf(place)));
      });
      this.segment = { step: computed(segment()), from, to };
    }
    this.steps = [this.sample, ...(this.segment === null ? [] : [this.segment.step]), this.compose];
    this.stepsOfNewFrame = this.steps;
    const { keeping } = this;
    if (keeping === null) return;
    const keep = Fn(() => {
      next(() => this.stepsOfNewFrame[0]);
      const index = int(palette.invocation).toVar();
      const copy = () => keeping.to.write(keeping.from.read(index));
      if (webGPU) If(index.lessThan(told('kept').mul(counts.w)), copy);
      else copy();
    });
    this.stepsOfNewFrame = [computed(keep()), ...this.steps];
  }

  /**
   * What to compute, one step after another.
   *
   * @param first Place of the first row that is posed, among those that are due.
   * @param due How many are posed.
   * @param kept Instances whose poses are kept first; 0 for none.
   */
  prepare(buffers: PoseBuffers, first: number, due: number, kept: number): readonly ComputeNode[] {
    const { posedCrowd, numbers, times, rows } = buffers;
    const { time } = posedCrowd.playback;
    const array = numbers.array as Int32Array;
    array[DUE] = due;
    array[IS_POOLED] = rows.inOrder ? 0 : 1;
    times[0] = time.time;
    times[1] = time.epoch;
    array[KEPT] = kept;
    array[FIRST] = first;
    numbers.needsUpdate = true;
    return kept === 0 ? this.steps : this.stepsOfNewFrame;
  }

  dispose(): void {
    for (const step of this.stepsOfNewFrame) step.dispose();
  }

  /** Lets a step compute the poses of the crowd whose turn it is. Called once it is built, before its buffers are bound. */
  private begin(step: ComputeNode): void {
    if (turn < 0) return;
    const buffers = turns[turn++];
    this.use(buffers);
    const { list } = buffers;
    const invocations = this.invocations(step, buffers);
    // three.js lets the GPU say how many, other than its types say.
    const size = list?.poseSizes[step === this.compose ? 1 : 0] ?? invocations;
    Object.assign(step, this.webGPU ? { dispatchSize: size } : { count: invocations });
  }

  private invocations(step: ComputeNode, { counts, numbers: { array } }: PoseBuffers): number {
    const isKept = step !== this.compose && this.steps.indexOf(step) < 0;
    return array[isKept ? KEPT : DUE] * (isKept || step === this.compose ? counts.columns : counts.entries);
  }

  private use(buffers: PoseBuffers): void {
    const { posedCrowd, places, numbers, due, list, rows, locals, segments, palette, before } = buffers;
    const { playback } = posedCrowd;
    const { boneTexture, bodies, poseEdits } = posedCrowd.crowd;
    const { uniforms } = this;
    if (this.webGPU) this.numbers.value = numbers;
    else {
      const { array } = numbers;
      uniforms.counts.value.fromArray(array, COUNTS);
      uniforms.starts.value.fromArray(array, STARTS);
      uniforms.clock.value.set(playback.time.time, playback.time.epoch);
    }
    this.ids.value = list?.ids ?? due;
    this.totals.value = list?.totals ?? numbers;
    this.instanceOf.value = rows.instanceOf.texture.layered;
    this.places.node.value = places;
    this.actions.value = storedActions(posedCrowd)?.actions ?? playback.texels.texture.layered;
    if (this.masks !== null && playback.over !== null) this.masks.value = playback.over.masks;
    if (poseEdits !== null) this.edits?.use(poseEdits.textures);
    this.keys.value = boneTexture;
    if (this.shortKeys !== null && boneTexture.shortKeys !== null)
      this.shortKeys.value = boneTexture.shortKeys;
    if (this.bodies !== null && bodies !== null) this.bodies.value = bodies;
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
