import { Vector4 } from 'three';
import { Fn, If, int, ivec2, ivec3, ivec4, OnObjectUpdate, uint, uniform } from 'three/tsl';
import type { ComputeNode, Node, Texture, WebGPURenderer } from 'three/webgpu';
import { noNumbers, numberAt } from '../../../shaders/instanceIndex.tsl.js';
import { composeStep, sampleStep, segmentStep } from '../../../shaders/posePass.tsl.js';
import { layeredOf, type TexelNode, texels } from '../../../shaders/TexelNode.js';
import { trackTexels } from '../../../shaders/trackTexel.tsl.js';
import { type Rows, rowsOf, storageOf } from '../../../shaders/tsl.js';
import type { PoseEditor } from '../../animation/PoseSource.js';
import { ID_MASK } from '../../constants.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { nodesOf } from './featureNodes.js';
import type { MatrixRows, RowsNodes } from './MatrixRows.js';
import { NodesInTurn } from './PerRenderer.js';
import type { PoseBuffers } from './PoseBuffers.js';
import { actionsOf, columnsIn, readerOf } from './StoredPlaces.js';

/** Invocations of a workgroup. */
export const POSE_WORKGROUP = 64;

/** Tells crowds apart that need steps of their own. */
export function poseKey({ posedCrowd: { playback, crowd }, counts, before }: PoseBuffers): number {
  const { boneTexture, bodies, poseEdits, written } = crowd;
  let key = playback.layers.length;
  key = key * 2 + (poseEdits === null ? 0 : 1);
  key = key * 2 + (bodies === null ? 0 : 1);
  key = key * 2 + (written?.plays ? 1 : 0);
  key = key * 2 + (boneTexture.shortKeys === null ? 0 : 1);
  key = key * 2 + (counts.layout.hasLongChains ? 1 : 0);
  key = key * 2 + (before === null ? 0 : 1);
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
  private readonly steps: ComputeNode[] = [];
  /** Before these, where the palette is copied for the next frame first. */
  private readonly keep: ComputeNode[] = [];
  private readonly nodes = new NodesInTurn<PoseBuffers>();

  /**
   * @param first Of one of the crowds.
   * @param webGPU Whether invocations may write by a list. On the WebGL 2 backend each writes the row of its number.
   */
  constructor(
    first: PoseBuffers,
    private readonly webGPU: boolean,
  ) {
    const { nodes } = this;
    const { posedCrowd: crowd, palette, before } = first;
    const { poseEdits } = crowd.crowd;
    const read = (textureOf: (crowd: DrawnCrowd) => Texture | null | undefined): TexelNode | null => {
      const texture = textureOf(crowd);
      return texture ? nodes.add(texels(texture), ({ posedCrowd }) => textureOf(posedCrowd)) : null;
    };
    const rowsIn = (rowsOf: (buffers: PoseBuffers) => MatrixRows | null, written: boolean) => {
      const rows = (rowsOf(first) as MatrixRows).nodes(written);
      nodes.call((buffers) => rows.use(rowsOf(buffers) as MatrixRows));
      return rows;
    };
    const numbers = nodes.add(storageOf(first.numbers, 'vec4').toReadOnly(), (of) => of.numbers);
    const told = (vector: number): Node<'vec4'> => {
      if (webGPU) return numbers.element(int(vector));
      // Computations of the WebGL 2 backend cannot read buffers by number.
      const four = uniform(new Vector4());
      nodes.call((of) => {
        four.value.fromArray(of.numbers.array, vector * 4);
      });
      return four as unknown as Node<'vec4'>;
    };
    const [clock, counts, starts] = [told(0).zw, ivec4(told(1)), ivec3(told(2).xyz)];
    const actions = nodes.add(readerOf(actionsOf(crowd)), (of) => actionsOf(of.posedCrowd));
    const places = nodes.add(readerOf(first.places), (of) => of.places);
    const masks = read(({ playback }) => playback.over?.masks);
    const keys = read((drawn) => drawn.crowd.boneTexture) as TexelNode;
    const shortKeys = read((drawn) => drawn.crowd.boneTexture.shortKeys);
    const bodies = read((drawn) => drawn.crowd.bodies);
    const edited = poseEdits?.textures.map((_, i) =>
      read((drawn) => layeredOf((drawn.crowd.poseEdits as PoseEditor).textures[i])),
    );
    const edits = edited ? nodesOf('JointEdits')(edited as TexelNode[], clock.x, counts.x) : null;
    // The rows that are posed, and how many there are.
    const ids = storageOf(first.due, 'uint').toReadOnly();
    const totals = storageOf(first.numbers, 'uint', first.numbers.array.length).toReadOnly();
    nodes.add(ids, ({ list, due }) => list?.ids ?? due);
    nodes.add(totals, (of) => of.list?.totals ?? of.numbers);
    const instanceOf = nodes.add(texels(noNumbers('rows')), ({ rows }) => layeredOf(rows.instanceOf.texture));

    const over = masks && nodesOf('AnimationLayers')(masks);
    const played = { actions, clock, layers: crowd.playback.layers.length, over };
    // Anew in each step: three.js keeps a function's code, but not the textures that it reads.
    const readTracks = () => ({
      ...trackTexels(keys, starts, shortKeys),
      passLayout: counts,
      HAS_BODIES: bodies !== null,
      ...(bodies && nodesOf('CrowdKinds')(bodies, played, counts)),
    });
    // Texts know texels of textures by two numbers, of which the second is 0 in buffers.
    const firstOf = (place: Node<'int'>) => ivec2(place.mul(counts.y), 0).toVar();
    const localsIn = (from: RowsNodes) => (at: Node<'ivec2'>) => from.read(at.x.toVar());

    const index = () => int(palette.invocation).toVar();
    /** Where posed members go: to the row of the instance, or else to its place. */
    const each = (members: Node<'int'>, writer: RowsNodes, toRow: boolean, pose: PoseMember) => {
      const number = index();
      const place = number.div(members).toVar();
      const member = number.sub(place.mul(members)).toVar();
      const write = (instance: Node<'int'>, row: Node<'int'>) => {
        const rows = pose(instance, member, place);
        writer.write(rows, (toRow ? row : place).mul(members).add(member).toVar());
      };
      if (webGPU) {
        If(place.lessThan(int(totals.element(int(0)))), () => {
          const row = int(ids.element(place.add(int(told(3).x))).bitAnd(uint(ID_MASK))).toVar();
          const instance = row.toVar();
          If(told(0).y.notEqual(0), () => {
            instance.assign(int(numberAt(instanceOf, row)));
          });
          write(instance, row);
        });
      } else write(place, place);
    };

    const sampled = rowsIn(({ locals }) => locals, true);
    this.steps.push(
      this.step('entries', 'posedNow', () =>
        each(counts.y, sampled, false, sampleStep(readTracks(), played, edits)),
      ),
    );
    // Where chains are long and no pose is edited.
    const hasSegments = first.segments !== null && edits === null;
    let locals = rowsIn((of) => of.locals, false);
    if (hasSegments) {
      const from = locals;
      const to = rowsIn(({ segments }) => segments, true);
      locals = rowsIn(({ segments }) => segments, false);
      const segment = () => {
        const multiplied = segmentStep(readTracks(), localsIn(from));
        each(counts.y, to, false, (_, entry, place) => multiplied(entry, firstOf(place)));
      };
      this.steps.push(this.step('entries', 'posedNow', segment));
    }
    const posed = rowsIn((of) => of.palette, true);
    const compose = () => {
      const placing = (instance: Node<'int'>) => rowsOf(columnsIn(places, instance));
      const skinning = composeStep(readTracks(), localsIn(locals), placing, edits, hasSegments);
      each(counts.w, posed, true, (instance, column, place) => skinning(instance, column, firstOf(place)));
    };
    this.steps.push(this.step('columns', 'posedNow', compose));
    if (before === null) return;
    const from = rowsIn((of) => of.palette, false);
    const to = rowsIn((of) => of.before, true);
    const keep = () => {
      const number = index();
      const copy = () => to.write(from.read(number));
      if (webGPU) If(number.lessThan(int(told(2).w).mul(counts.w)), copy);
      else copy();
    };
    this.keep.push(this.step('columns', 'keptNow', keep), ...this.steps);
  }

  /** What to compute, one step after another, once `buffers` were told of it. */
  prepare({ keptNow }: PoseBuffers): readonly ComputeNode[] {
    return keptNow === 0 ? this.steps : this.keep;
  }

  dispose(): void {
    for (const step of new Set([...this.steps, ...this.keep])) step.dispose();
  }

  /**
   * A step that poses the crowd whose turn it is.
   *
   * @param members What is computed of each instance.
   * @param count Of how many instances.
   */
  private step(
    members: 'entries' | 'columns',
    count: 'posedNow' | 'keptNow',
    build: () => void,
  ): ComputeNode {
    const { webGPU } = this;
    const shader = Fn(() => {
      // Called once it is built, before its buffers are bound.
      OnObjectUpdate(() => {
        if (turn < 0) return;
        const buffers = turns[turn++];
        this.nodes.use(buffers);
        const { list, counts } = buffers;
        const invocations = buffers[count] * counts[members];
        // three.js lets the GPU say how many, other than its types say.
        const size = list?.poseSizes[members === 'columns' ? 1 : 0] ?? invocations;
        Object.assign(step, webGPU ? { dispatchSize: size } : { count: invocations });
      });
      build();
    });
    const step: ComputeNode = webGPU ? shader().computeKernel([POSE_WORKGROUP]) : shader().compute(1);
    return step;
  }
}
