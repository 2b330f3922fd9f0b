import { clamp, Fn, float, floor, If, int, select } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { LOOP_MODES, REST_FRAME } from '../lib/constants.js';
import { ACTION_TEXELS, actionsRowBits, actionsTexels, firstAction } from '../lib/playback/instanceLayout.js';
import { MAX_ACTIONS } from '../lib/playback/SlotOrder.js';
import { frameAt } from './frameAt.tsl.js';
import type { ActionsNodes, MixNodes } from './mixTracks.tsl.js';
import type { TexelNode } from './TexelNode.js';
import { emptyArray } from './tsl.js';

/** What a crowd plays. */
export interface PlayedTexels {
  /** The actions of all instances, see `ActionTexels`. */
  actions: TexelNode;
  clock: Node<'float'>;
}

const VEC4 = (name: string) => ({ name, type: 'vec4' });

/** How much is done of what begins at `start` and is done by so much a second; all of it at a rate of 0. */
const fadeDone = (clock: Node<'float'>, start: Node<'float'>, rate: Node<'float'>): Node<'float'> =>
  select(rate.equal(0), float(1), clamp(clock.sub(start).mul(rate), 0, 1));

/** The frame of a clip that an action shows; negative where it shows the rest pose. Actions hold a clip's number plus 1. */
const actionFrame = /*@__PURE__*/ Fn(
  ([clip, timing, ease, clock]: [Node<'vec4'>, Node<'vec4'>, Node<'float'>, Node<'float'>]) => {
    const count = floor(clip.y.mul(1 / LOOP_MODES)).toVar();
    const loop = clip.y.sub(count.mul(LOOP_MODES)).toVar();
    const time = clip.z.add(clip.w.mul(ease).mul(ease)).toVar();
    // Frames are counted from 1 in any clip, so that 0 is free to mean the rest pose.
    const { frame0, alpha } = frameAt(clock, float(1), count, time, loop, timing.x, timing.y, true);
    return select(frame0.equal(REST_FRAME), float(-1), frame0.sub(1).add(alpha));
  },
  {
    name: 'actionFrame',
    type: 'float',
    inputs: [VEC4('clip'), VEC4('timing'), { name: 'ease', type: 'float' }, { name: 'clock', type: 'float' }],
  },
);

/**
 * What an instance plays, in the order in which it was started: the order in which three.js mixes the actions of a mixer.
 * Twin of `playedActions.glsl.ts`. Builds on the current stack.
 */
export function playedActions(
  instance: Node<'int'>,
  { actions: texels, clock }: PlayedTexels,
  action: MixNodes['action'],
): ActionsNodes {
  const row = instance.shiftRight(actionsRowBits(1)).toVar();
  const start = instance
    .bitAnd(2 ** actionsRowBits(1) - 1)
    .mul(actionsTexels(1))
    .add(firstAction(1))
    .toVar();
  const actions = emptyArray(MAX_ACTIONS);
  const count = int(0).toVar();
  const readFrom = (place: number): void => {
    if (place === MAX_ACTIONS) return;
    const at = start.add(place * ACTION_TEXELS).toVar();
    const clip = texels.rowTexels(at, row, 1)[0].toVar();
    // The first that is none ends them.
    If(clip.x.greaterThan(0.5), () => {
      const [timing, weights] = texels.rowTexels(at.add(1).toVar(), row, 2).map((texel) => texel.toVar());
      const done = fadeDone(clock, timing.z, timing.w).toVar();
      const weight = weights.x.add(weights.y.sub(weights.x).mul(done)).toVar();
      If(weight.greaterThan(0), () => {
        const warped = fadeDone(clock, weights.z, weights.w.abs()).toVar();
        const ease = select(weights.w.greaterThan(0), warped, warped.oneMinus()).toVar();
        const frame = actionFrame(clip, timing, ease, clock).toVar();
        If(frame.greaterThanEqual(0), () => {
          actions.element(count).assign(action(int(clip.x).sub(1), frame, weight));
          count.addAssign(1);
        });
      });
      readFrom(place + 1);
    });
  };
  readFrom(0);
  return { actions, count };
}
