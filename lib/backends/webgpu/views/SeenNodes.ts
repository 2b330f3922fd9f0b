import { If, instanceIndex, int, uint, uniform, vec2 } from 'three/tsl';
import { type Node, StorageBufferAttribute } from 'three/webgpu';
import type { PosedAtNodes } from '../../../../shaders/posePass.tsl.js';
import { pairsIn, type StoredPairs, type StoredUints, uintsIn } from '../../../../shaders/tsl.js';
import { disposeAttribute } from '../../../utils/disposeAttribute.js';
import type { ViewBuffers } from './ViewBuffers.js';

/** Invocations of a workgroup of the pose pass. */
export const POSE_WORKGROUP = 64;

/** Poses a member of an instance. `at` is the number of what it writes, if that is not the number of the invocation. */
export type PoseMember = (instance: Node<'int'>, member: Node<'int'>, at?: Node<'int'>) => void;

/** Lets the pose pass go through the instances that a camera sees, and remember when each was posed. */
export class SeenNodes {
  /** When each instance was posed: seconds of the clock, and of which epoch. */
  private readonly posedAt: StorageBufferAttribute;
  /** For each instance, 1 if it has to be posed for this camera. */
  private readonly marks: StorageBufferAttribute;
  private readonly posedAtNode: StoredPairs;
  private readonly count = uniform(0, 'int');
  private readonly epoch = uniform(0);
  private readonly bits: StoredUints;
  private readonly ids: StoredUints;
  private readonly totals: StoredUints;

  /** @param view What a camera sees; `use` lets it be that of another one. */
  constructor(capacity: number, view: ViewBuffers) {
    this.posedAt = new StorageBufferAttribute(new Float32Array(Math.max(1, capacity) * 2), 2);
    this.marks = new StorageBufferAttribute(new Uint32Array(Math.max(1, capacity)), 1);
    this.posedAtNode = pairsIn(this.posedAt);
    this.bits = uintsIn(view.bits).toReadOnly();
    this.ids = uintsIn(view.ids).toReadOnly();
    this.totals = uintsIn(view.totals).toReadOnly();
  }

  use(count: number, { bits, ids, totals }: ViewBuffers, epoch: number): void {
    this.count.value = count;
    this.epoch.value = epoch;
    this.bits.value = bits;
    this.ids.value = ids;
    this.totals.value = totals;
  }

  /** Marks who is seen and has to be posed. One invocation for each instance. */
  mark(isStale: (instance: Node<'int'>, posedAt: PosedAtNodes) => Node<'bool'>, clock: Node<'float'>): void {
    const { count, bits, epoch, posedAtNode } = this;
    const marks = uintsIn(this.marks);
    const id = int(instanceIndex).toVar();
    If(id.lessThan(count), () => {
      // The first list has all that are seen.
      const word = bits.element(id.shiftRight(5));
      If(
        word
          .shiftRight(uint(id).bitAnd(uint(31)))
          .bitAnd(uint(1))
          .notEqual(uint(0)),
        () => {
          const last = posedAtNode.element(id).toVar();
          const stale = isStale(id, { clock: last.x, isKnown: last.y.equal(epoch) });
          marks.element(id).assign(uint(stale));
          If(stale, () => {
            posedAtNode.element(id).assign(vec2(clock, epoch));
          });
        },
      );
    });
  }

  /** Builds what is done for each of the `members` of each instance that is marked. */
  each(members: number, pose: PoseMember): void {
    const marks = uintsIn(this.marks).toReadOnly();
    const index = int(instanceIndex).toVar();
    const place = index.div(members).toVar();
    If(place.lessThan(int(this.totals.element(int(0)))), () => {
      const instance = int(this.ids.element(place)).toVar();
      If(marks.element(instance).notEqual(uint(0)), () => {
        const member = index.sub(place.mul(members)).toVar();
        pose(instance, member, instance.mul(members).add(member).toVar());
      });
    });
  }

  dispose(): void {
    disposeAttribute(this.posedAt);
    disposeAttribute(this.marks);
  }
}
