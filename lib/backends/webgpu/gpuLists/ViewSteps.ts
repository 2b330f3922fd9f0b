import { type Sphere, Vector4 } from 'three';
import {
  Fn,
  If,
  instanceIndex,
  int,
  invocationLocalIndex,
  select,
  uint,
  uniform,
  uniformArray,
} from 'three/tsl';
import type { ComputeNode, Node, StorageBufferAttribute } from 'three/webgpu';
import { type Elements, type StorageOf, storageOf, While } from '../../../../shaders/tsl.js';
import { POSE_WORKGROUP } from '../PoseSteps.js';
import type { CameraLists } from './CameraLists.js';
import { countLists, isBitSet, type ListNodes, WORKGROUP, writeBits, writeLists } from './compactLists.js';
import { type CameraOcclusion, instanceSphere, isSeen, PLANES } from './cullInstances.js';
import { DRAW_END, DRAW_INSTANCES, DRAW_LIST, DRAW_NUMBERS } from './DrawTable.js';
import { KindNodes, type StoredWords } from './KindNodes.js';
import { LevelNodes } from './LevelNodes.js';

/** Workgroups that every device takes in a row. */
const MAX_GROUPS = 65535;

/** More than there are lists, which have a bit each. */
const MAX_LISTS = 64;

/** The most cameras of an array of which each has a frustum of its own; what more of them see is all. */
export const MAX_FRUSTUMS = 8;

/** Tells crowds apart that need computations of their own. */
export function viewKey(
  { lists, fades }: CameraLists,
  hasLevels: boolean,
  occlusion: CameraOcclusion | null,
  hasKinds: boolean,
): number {
  const key = ((occlusion?.id ?? 0) * MAX_LISTS + lists) * 2 + (fades ? 1 : 0);
  return (key * 2 + (hasLevels ? 1 : 0)) * 2 + (hasKinds ? 1 : 0);
}

/**
 * The computations that find what a camera sees, and write the arguments of its draws. All cameras of a renderer that look at
 * crowds of the same `viewKey` share them, since they take long to build.
 */
export class ViewSteps {
  /** Planes of the camera's frustums in the crowd's space, six for each. */
  readonly planes: Vector4[] = Array.from({ length: MAX_FRUSTUMS * PLANES }, () => new Vector4());

  private readonly steps: ComputeNode[];
  private readonly count = uniform(0, 'int');
  private readonly draws = uniform(0, 'int');
  /** None if whatever is drawn at all is seen. */
  private readonly frustums = uniform(0, 'int');
  private readonly sphere = uniform(new Vector4());
  private readonly matrices: StorageOf<'vec4'>;
  private readonly drawn: StorageOf<'uint'>;
  /** Of a crowd with levels of detail, which has a list for each after the one of all. */
  readonly levels: LevelNodes | null;
  /** Of a crowd of several kinds. */
  readonly kinds: KindNodes | null;
  private readonly capacity = uniform(0, 'int');
  private readonly words = uniform(0, 'int');
  private readonly nodes: ListNodes & Record<'bits' | 'ids', StorageOf<'uint'>>;
  private readonly totals: StorageOf<'uint'>;
  private readonly args: StorageOf<'uint'>;
  private readonly poseSizes: readonly StorageOf<'uint'>[];
  private readonly poseMembers = [uniform(0, 'int'), uniform(0, 'int')];

  /**
   * @param instances Those of one of the crowds.
   * @param buffers Of one of its cameras.
   * @param states See `LevelNodes`; null if there is one level of detail.
   * @param occlusion Null if nothing hides instances.
   * @param kinds Null if all instances are of one kind.
   */
  constructor(
    instances: { readonly matrices: StorageBufferAttribute; readonly drawn: StorageBufferAttribute },
    buffers: CameraLists,
    states: StorageBufferAttribute | null,
    private readonly occlusion: CameraOcclusion | null,
    kinds: StoredWords | null,
  ) {
    const levels = states === null ? null : new LevelNodes(states, buffers.fades);
    this.levels = levels;
    const { lists, bits, ids } = buffers;
    this.kinds = kinds === null ? null : new KindNodes(kinds, lists);
    const { capacity, words } = this;
    this.matrices = storageOf(instances.matrices, 'vec4').toReadOnly();
    this.drawn = storageOf(instances.drawn, 'uint').toReadOnly();
    this.nodes = { capacity, lists, words, bits: storageOf(bits, 'uint'), ids: storageOf(ids, 'uint') };
    this.totals = storageOf(buffers.totals, 'uint');
    this.args = storageOf(buffers.draws.buffer, 'uint');
    this.poseSizes = [storageOf(buffers.poseSizes[0], 'uint'), storageOf(buffers.poseSizes[1], 'uint')];

    const classify = Fn(() => {
      writeBits(this.nodes, this.listsOf(int(instanceIndex).toVar()));
    });
    const list = Fn(() => {
      const counted = countLists(this.nodes);
      const bitOf = this.kinds === null ? undefined : (of: number) => (this.kinds as KindNodes).bitOf(of);
      writeLists(this.nodes, counted, levels?.fades === true ? (id) => levels.fadesOf(id, bitOf) : null);
      this.writeDraws(counted);
    });
    this.steps = [classify(), list()].map((step) => step.computeKernel([WORKGROUP]));
  }

  /**
   * What to compute, one step after another. Set planes and levels before.
   *
   * @param instances Those of the crowd.
   * @param buffers Get what is computed.
   * @param count Instances in use.
   * @param frustums How many of `planes` count, in sixes; 0 if all instances are seen.
   * @param sphere Around whatever an instance of the identity matrix may look like.
   * @param members What the steps of the pose pass compute of an instance, see `PoseSteps`; 0 if there is no pass.
   */
  prepare(
    instances: { readonly matrices: StorageBufferAttribute; readonly drawn: StorageBufferAttribute },
    buffers: CameraLists,
    count: number,
    frustums: number,
    { center, radius }: Sphere,
    members: readonly [number, number],
  ): ComputeNode[] {
    const { nodes } = this;
    this.capacity.value = buffers.capacity;
    this.words.value = buffers.words;
    nodes.bits.value = buffers.bits;
    nodes.ids.value = buffers.ids;
    this.totals.value = buffers.totals;
    this.args.value = buffers.draws.buffer;
    for (let i = 0; i < this.poseSizes.length; i++) {
      this.poseSizes[i].value = buffers.poseSizes[i];
      this.poseMembers[i].value = members[i];
    }
    this.matrices.value = instances.matrices;
    this.drawn.value = instances.drawn;
    this.draws.value = buffers.draws.count;

    const groups = Math.max(1, Math.ceil(count / WORKGROUP));
    this.count.value = count;
    this.frustums.value = frustums;
    this.sphere.value.set(center.x, center.y, center.z, radius);
    const { steps } = this;
    // In invocations, which three.js divides into workgroups.
    steps[0].dispatchSize = steps[1].dispatchSize = groups * WORKGROUP;
    return steps;
  }

  dispose(): void {
    for (const step of this.steps) step.dispose();
  }

  /** The lists that an instance is in, a bit for each. */
  private listsOf(id: Node<'int'>): Node<'uint'> {
    const lists = uint(0).toVar();
    If(id.lessThan(this.count), () => {
      If(isBitSet(this.drawn.element(id.shiftRight(5)), uint(id).bitAnd(uint(31))), () => {
        const first = id.mul(4).toVar();
        const columns = [0, 1, 2, 3].map((i) => this.matrices.element(first.add(i)).toVar());
        const planes = uniformArray(this.planes, 'vec4') as unknown as Elements<'vec4'>;
        const sphere = instanceSphere(columns, this.sphere);
        If(this.frustums.equal(0).or(isSeen(planes, this.frustums, sphere)), () => {
          const byLevel = this.levels?.choose(id, sphere) ?? uint(1);
          const chosen = this.kinds?.expand(id, byLevel) ?? byLevel;
          if (this.occlusion === null) lists.assign(chosen);
          else {
            // Hidden instances have levels too, so that these go on as if they were seen.
            If(this.occlusion.hides(sphere).not(), () => {
              lists.assign(chosen);
            });
          }
        });
      });
    });
    return lists;
  }

  /** Writes how many instances each draw has, and how long the lists are. Each is known to the workgroup whose instances end it. */
  private writeDraws({ first, countBefore }: ReturnType<typeof countLists>): void {
    const { args, count, nodes, totals } = this;
    const local = int(invocationLocalIndex);
    const next = first.add(WORKGROUP).toVar();
    const isLast = next.greaterThanEqual(count).toVar();
    If(isLast.and(local.lessThan(nodes.lists)), () => {
      const total = countBefore(local, count);
      totals.element(local).assign(total);
      If(local.equal(0), () => {
        this.poseSizes.forEach((size, i) => {
          const invocations = int(total).mul(this.poseMembers[i]);
          const groups = invocations
            .add(POSE_WORKGROUP - 1)
            .div(POSE_WORKGROUP)
            .toVar();
          const rows = groups
            .add(MAX_GROUPS - 1)
            .div(MAX_GROUPS)
            .toVar();
          size.element(int(0)).assign(uint(select(rows.greaterThan(1), int(MAX_GROUPS), groups)));
          size.element(int(1)).assign(uint(rows));
          size.element(int(2)).assign(uint(1));
        });
      });
    });
    const draw = local.toVar();
    While(draw.lessThan(this.draws), () => {
      const at = draw.mul(DRAW_NUMBERS).toVar();
      const list = int(args.element(at.add(DRAW_LIST))).toVar();
      const asked = int(args.element(at.add(DRAW_END))).toVar();
      const end = select(asked.lessThan(count), asked, count).toVar();
      If(end.greaterThanEqual(first).and(isLast.or(end.lessThan(next))), () => {
        args.element(at.add(DRAW_INSTANCES)).assign(countBefore(list, end));
      });
      draw.addAssign(WORKGROUP);
    });
  }
}
