import { Vector4 } from 'three';
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
import { type Elements, storageOf, While } from '../../../../shaders/tsl.js';
import { NodesInTurn } from '../PerRenderer.js';
import { POSE_WORKGROUP } from '../PoseSteps.js';
import type { ListedView } from './CameraLists.js';
import { countLists, isBitSet, WORKGROUP, writeBits, writeLists } from './compactLists.js';
import { instanceSphere, isSeen, PLANES } from './cullInstances.js';
import { DRAW_END, DRAW_INSTANCES, DRAW_LIST, DRAW_NUMBERS } from './DrawTable.js';
import { MAX_LISTS, SplitNodes } from './SplitNodes.js';

/** Workgroups that every device takes in a row. */
const MAX_GROUPS = 65535;

/** The most cameras of an array of which each has a frustum of its own; what more of them see is all. */
export const MAX_FRUSTUMS = 8;

/** Tells crowds apart that need computations of their own. */
export function viewKey({ buffers: { lists, fades }, occlusion, levels, kinds }: ListedView): number {
  const key = ((occlusion?.id ?? 0) * (MAX_LISTS + 1) + lists) * 2 + (fades ? 1 : 0);
  return (key * 2 + (levels === null ? 0 : 1)) * 2 + (kinds === null ? 0 : 1);
}

/**
 * The computations that find what a camera sees, and write the arguments of its draws. All cameras of a renderer that look at
 * crowds of the same `viewKey` share them, since they take long to build.
 */
export class ViewSteps {
  /** Planes of the camera's frustums in the crowd's space, six for each. */
  readonly planes: Vector4[] = Array.from({ length: MAX_FRUSTUMS * PLANES }, () => new Vector4());
  private readonly steps: ComputeNode[];
  private readonly nodes = new NodesInTurn<ListedView>();

  /** @param first One of the views. */
  constructor(first: ListedView) {
    const { nodes } = this;
    const number = (of: (view: ListedView) => number) => nodes.add(uniform(0, 'int'), of);
    const uints = (of: (view: ListedView) => StorageBufferAttribute) =>
      nodes.add(storageOf(of(first), 'uint'), of);
    const { occlusion } = first;
    const { lists } = first.buffers;
    const split = new SplitNodes(nodes, first);
    const capacity = number(({ buffers }) => buffers.capacity);
    const words = number(({ buffers }) => buffers.words);
    const bits = uints(({ buffers }) => buffers.bits);
    const ids = uints(({ buffers }) => buffers.ids);
    const written = { lists, capacity, words, bits, ids };
    const count = number((view) => view.count);

    const matrices = nodes.add(storageOf(first.matrices, 'vec4').toReadOnly(), (view) => view.matrices);
    const drawn = nodes.add(storageOf(first.drawn, 'uint').toReadOnly(), (view) => view.drawn);
    const frustums = number((view) => view.frustums);
    const around = uniform(new Vector4());
    nodes.call(({ sphere: { center, radius } }) => {
      around.value.set(center.x, center.y, center.z, radius);
    });
    const classify = () => {
      const id = int(instanceIndex).toVar();
      const mask = uint(0).toVar();
      const isDrawn = isBitSet(drawn.element(id.shiftRight(5)), uint(id).bitAnd(uint(31)));
      If(id.lessThan(count).and(isDrawn), () => {
        const column = id.mul(4).toVar();
        const columns = [0, 1, 2, 3].map((i) => matrices.element(column.add(i)).toVar());
        const planes = uniformArray(this.planes, 'vec4') as unknown as Elements<'vec4'>;
        const sphere = instanceSphere(columns, around);
        If(frustums.equal(0).or(isSeen(planes, frustums, sphere)), () => {
          // Hidden instances have levels too, so that these go on as if they were seen.
          mask.assign(split.listsOf(id, sphere));
          if (occlusion !== null) {
            If(occlusion.hides(sphere), () => {
              mask.assign(uint(0));
            });
          }
        });
      });
      writeBits(written, mask);
    };

    const totals = uints(({ buffers }) => buffers.totals);
    const args = uints(({ buffers }) => buffers.draws.buffer);
    const draws = number(({ buffers }) => buffers.draws.count);
    const poseSizes = (['entries', 'columns'] as const).map((members, i) => ({
      size: uints(({ buffers }) => buffers.poseSizes[i]),
      members: number(({ posed }) => posed?.[members] ?? 0),
    }));
    // How many instances each draw has, and how long lists are, is known to the workgroup whose instances end it.
    const list = () => {
      const counted = countLists(written);
      writeLists(written, counted, (id) => split.fadesOf(id));
      const { first, countBefore } = counted;
      const local = int(invocationLocalIndex);
      const next = first.add(WORKGROUP).toVar();
      const isLast = next.greaterThanEqual(count).toVar();
      If(isLast.and(local.lessThan(lists)), () => {
        const total = countBefore(local, count);
        totals.element(local).assign(total);
        If(local.equal(0), () => {
          for (const { size, members } of poseSizes) {
            const groups = divideUp(int(total).mul(members), POSE_WORKGROUP);
            const rows = divideUp(groups, MAX_GROUPS);
            size.element(int(0)).assign(uint(select(rows.greaterThan(1), int(MAX_GROUPS), groups)));
            size.element(int(1)).assign(uint(rows));
            size.element(int(2)).assign(uint(1));
          }
        });
      });
      const draw = local.toVar();
      While(draw.lessThan(draws), () => {
        const at = draw.mul(DRAW_NUMBERS).toVar();
        const list = int(args.element(at.add(DRAW_LIST))).toVar();
        const asked = int(args.element(at.add(DRAW_END))).toVar();
        const end = select(asked.lessThan(count), asked, count).toVar();
        If(end.greaterThanEqual(first).and(isLast.or(end.lessThan(next))), () => {
          args.element(at.add(DRAW_INSTANCES)).assign(countBefore(list, end));
        });
        draw.addAssign(WORKGROUP);
      });
    };
    this.steps = [classify, list].map((step) => Fn(step)().computeKernel([WORKGROUP]));
  }

  /** What to compute for a view, one step after another. Set planes before. */
  prepare(view: ListedView): readonly ComputeNode[] {
    this.nodes.use(view);
    const groups = Math.max(1, Math.ceil(view.count / WORKGROUP));
    // In invocations, which three.js divides into workgroups.
    for (const step of this.steps) step.dispatchSize = groups * WORKGROUP;
    return this.steps;
  }

  dispose(): void {
    for (const step of this.steps) step.dispose();
  }
}

const divideUp = (count: Node<'int'>, by: number): Node<'int'> =>
  count
    .add(by - 1)
    .div(by)
    .toVar();
