import { clamp, Fn, float, floor, If, int, min, select } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { frameAt } from '../../../shaders/frameAt.tsl.js';
import type { ActionsNodes, PosePassNodes } from '../../../shaders/posePass.tsl.js';
import type { SlotNodes } from '../../../shaders/skinningMatrix.tsl.js';
import type { TexelNode } from '../../../shaders/TexelNode.js';
import { emptyArray } from '../../../shaders/tsl.js';
import { INSTANCES_PER_ROW, LOOP_MODES, REST_FRAME } from '../../constants.js';
import { FADES_STRIDE, OLDEST_FADE, SLOT_STRIDE } from '../../playback/instanceLayout.js';

/** Slots of an instance, each of which may play a clip. */
export const MOST_ACTIONS = 3;

/** Playback state of a crowd. */
export interface PlaybackTexels {
  /** The newest slots. */
  state: TexelNode;
  /** The older slots. */
  fades: TexelNode;
  clock: Node<'float'>;
}

/** The frame of a clip that a slot shows; negative where it shows the rest pose. Slots hold a clip's number plus 1. */
const slotFrame = /*@__PURE__*/ Fn(
  ([clip, timing, ease, clock]: [Node<'vec4'>, Node<'vec4'>, Node<'float'>, Node<'float'>]) => {
    const count = floor(clip.y.mul(1 / LOOP_MODES)).toVar();
    const loop = clip.y.sub(count.mul(LOOP_MODES)).toVar();
    const time = clip.z.add(clip.w.mul(ease).mul(ease)).toVar();
    // Frames are counted from 1 in any clip, so that 0 is free to mean the rest pose; an empty slot starts there.
    const start = min(clip.x, 1).toVar();
    const { frame0, alpha } = frameAt(clock, start, count, time, loop, timing.x, timing.y, true);
    return select(frame0.equal(REST_FRAME), float(-1), frame0.sub(1).add(alpha));
  },
  {
    name: 'slotFrame',
    type: 'float',
    inputs: [
      { name: 'clip', type: 'vec4' },
      { name: 'timing', type: 'vec4' },
      { name: 'ease', type: 'float' },
      { name: 'clock', type: 'float' },
    ],
  },
);

/**
 * What an instance plays, oldest first: the order in which three.js mixes the actions of a mixer. Twin of
 * `InstancePlayback.pose`. Builds on the current stack.
 */
export function playedActions(
  instance: Node<'int'>,
  { state, fades, clock }: PlaybackTexels,
  action: PosePassNodes['action'],
): ActionsNodes {
  const played = emptyArray(MOST_ACTIONS);
  const count = int(0).toVar();
  const add = ({ clip, timing }: SlotNodes, ease: Node<'float'>, weight: Node<'float'>) => {
    If(weight.greaterThan(0), () => {
      const frame = slotFrame(clip, timing, ease, clock).toVar();
      If(frame.greaterThanEqual(0), () => {
        played.element(count).assign(action(int(clip.x).sub(1), frame, weight));
        count.addAssign(1);
      });
    });
  };
  const olderWeight = ({ timing }: SlotNodes) => clamp(timing.z.sub(clock.mul(timing.w)), 0, 1).toVar();

  const newest = slotOf(state, instance, SLOT_STRIDE, 0);
  const faded = olderWeight(newest);
  If(faded.greaterThan(0), () => {
    const second = slotOf(fades, instance, FADES_STRIDE, 0);
    const oldest = slotOf(fades, instance, FADES_STRIDE, OLDEST_FADE / 4);
    const left = faded.mul(olderWeight(second)).toVar();
    add(oldest, float(0), left);
    add(second, faded.oneMinus().toVar(), faded.sub(left).toVar());
  });
  add(newest, faded, faded.oneMinus().toVar());

  const actions = Array.from({ length: MOST_ACTIONS }, (_, i) => played.element(int(i)));
  return { actions, count };
}

/** Reads a slot of an instance out of an `InstanceTexture`; `offset` in texels from where the instance begins. */
function slotOf(texture: TexelNode, instance: Node<'int'>, stride: number, offset: number): SlotNodes {
  const row = instance.shiftRight(Math.log2(INSTANCES_PER_ROW)).toVar();
  const x = instance
    .bitAnd(INSTANCES_PER_ROW - 1)
    .mul(stride / 4)
    .add(offset)
    .toVar();
  const [clip, timing] = texture.rowTexels(x, row, 2).map((texel) => texel.toVar());
  return { clip, timing };
}
