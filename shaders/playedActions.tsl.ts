import { Break, clamp, Fn, float, floor, If, int, Loop, max, select, vec2 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { CLOCK_EPOCH, LOOP_MODES, REST_FRAME } from '../lib/constants.js';
import {
  ACTION_TEXELS,
  actionsRowBits,
  actionsTexels,
  firstAction,
  HEADER_EPOCH,
  MAX_ACTIONS,
} from '../lib/playback/instanceLayout.js';
import { frameAt } from './frameAt.tsl.js';
import type { TransformMix } from './mixTracks.tsl.js';
import type { TexelNode } from './TexelNode.js';
import { componentsOf, layoutOf } from './tsl.js';

/** What a crowd plays. */
export interface PlayedTexels {
  /** The actions of all instances, see `ActionTexels`. */
  actions: Pick<TexelNode, 'rowTexels'>;
  /** Seconds since the epoch began, and its number. */
  clock: Node<'vec2'>;
  /** Layers over the base; null if there are none. */
  over: {
    /** How much of each shows on an entry. */
    shares(entry: Node<'int'>, clock: Node<'float'>, ramps: readonly Node<'vec4'>[]): Node<'vec4'>;
    /** Reads the layer of an action off its clip. */
    take(clip: Node<'vec4'>): Node<'int'>;
  } | null;
  /** How many layers there are, with the base. */
  layers: number;
}

/** How much is done of what begins at `start` and is done by so much a second; all of it at a rate of 0. */
export const fadeDone = (clock: Node<'float'>, start: Node<'float'>, rate: Node<'float'>): Node<'float'> =>
  select(rate.equal(0), float(1), clamp(clock.sub(start).mul(rate), 0, 1));

/** How a number goes from one to another. */
export const rampAt = (clock: Node<'float'>, { x, y, z, w }: Node<'vec4'>): Node<'float'> =>
  x.add(y.sub(x).mul(fadeDone(clock, z, w)));

/** When an instance is shown, by the texel before its actions. Builds on the current stack. */
export function playedClock(clock: Node<'vec2'>, header: Node<'vec4'>) {
  const age = clock.y.sub([header.x, header.y, header.z, header.w][HEADER_EPOCH]).toVar();
  // Seconds since the epoch began, epochs since the one from which the instance's times count, and seconds since then.
  return {
    clock: clock.x,
    age: age as Node<'float'>,
    since: clock.x.add(age.mul(CLOCK_EPOCH)).toVar() as Node<'float'>,
  };
}

/**
 * The frames that an action shows: those of its clip count from `start`, 0 is the rest pose. Call it where a stack is being
 * built.
 */
export function actionFrames(
  clip: Node<'vec4'>,
  timing: Node<'vec4'>,
  { clock, age, since }: ReturnType<typeof playedClock>,
  start: Node<'float'>,
  interpolate: boolean,
) {
  const count = floor(clip.y.mul(1 / LOOP_MODES)).toVar();
  const loop = clip.y.sub(count.mul(LOOP_MODES)).toVar();
  const total = clip.z.add(timing.x.mul(clock)).toVar();
  const turns = float(0).toVar();
  If(clip.w.notEqual(0), () => {
    const warped = fadeDone(since, timing.z, timing.w.abs()).toVar();
    const ease = select(timing.w.greaterThan(0), warped, warped.oneMinus()).toVar();
    total.assign(clip.z.add(timing.x.mul(since)).add(clip.w.mul(ease).mul(ease)));
  }).ElseIf(age.notEqual(0), () => {
    // Whole turns are left out of the drift, exactly; how many these are need not be exact to be rounded.
    const turn = max(count.mul(2).sub(2), 1).toVar();
    const drift = age.mul(timing.z).toVar();
    drift.subAssign(floor(drift.div(turn)).mul(turn));
    drift.addAssign(age.mul(timing.w));
    total.addAssign(drift);
    turns.assign(floor(age.mul(CLOCK_EPOCH).mul(timing.x).sub(drift).div(turn).add(0.5)));
  });
  return frameAt(total, turns, start, count, loop, timing.x, timing.y, interpolate);
}

/** The frame of a clip that an action shows; negative where it shows the rest pose. Actions hold a clip's number plus 1. */
const actionFrame = /*@__PURE__*/ Fn(
  ([clip, timing, at]: [Node<'vec4'>, Node<'vec4'>, Node<'vec2'>]) => {
    const { x: clock, y: age } = at;
    const played = { clock, age, since: clock.add(age.mul(CLOCK_EPOCH)).toVar() };
    // Frames are counted from 1 in any clip, so that 0 is free to mean the rest pose.
    const { frame0, alpha } = actionFrames(clip, timing, played, float(1), true);
    return select(frame0.equal(REST_FRAME), float(-1), frame0.sub(1).add(alpha));
  },
  /*@__PURE__*/ layoutOf('actionFrame', 'float', { clip: 'vec4', timing: 'vec4', at: 'vec2' }),
);

/** Where the texels of an instance begin, in which row of them. Builds on the current stack. */
export function playedTexel(instance: Node<'int'>, layers: number): Record<'first' | 'row', Node<'int'>> {
  const bits = actionsRowBits(layers);
  return {
    first: instance
      .bitAnd(2 ** bits - 1)
      .mul(actionsTexels(layers))
      .toVar(),
    row: instance.shiftRight(bits).toVar(),
  };
}

/**
 * Mixes what an instance plays, as far as it shows on an entry, layer by layer, in each in the order in which it was started: the
 * order in which three.js mixes the actions of a mixer. Twin of `playedActions.glsl.ts`. Builds on the current stack.
 *
 * @param mixOf See `mixTracks`.
 * @returns See `TransformMix.values`.
 */
export function mixActions(
  instance: Node<'int'>,
  entry: Node<'int'>,
  { actions: texels, clock, over, layers }: PlayedTexels,
  mixOf: (entry: Node<'int'>) => TransformMix,
): TransformMix['values'] {
  const { first, row } = playedTexel(instance, layers);
  const texelsAt = (at: Node<'int'>, count: number): Node<'vec4'>[] =>
    texels.rowTexels(at, row, count).map((texel) => texel.toVar());

  const played = playedClock(clock, texelsAt(first, 1)[0]);
  const ramps = over === null ? [] : texelsAt(first.add(1).toVar(), layers - 1);
  const shares = over?.shares(entry, played.since, ramps) ?? null;
  const mixed = mixOf(entry);
  const layer = int(0).toVar();
  const share = float(1).toVar();
  const at = first.add(firstAction(layers)).toVar();
  Loop(MAX_ACTIONS * layers, () => {
    const [clip] = texelsAt(at, 1);
    // The first that is none ends them.
    If(clip.x.lessThan(0.5), () => {
      Break();
    });
    if (over !== null && shares !== null) {
      const its = over.take(clip);
      If(its.notEqual(layer), () => {
        mixed.endLayer(share);
        layer.assign(its);
        share.assign(componentsOf(shares).element(its.sub(1)));
      });
    }
    If(share.greaterThan(0), () => {
      const [timing, weights] = texelsAt(at.add(1).toVar(), 2);
      const weight = rampAt(played.since, weights).toVar();
      If(weight.greaterThan(0), () => {
        const frame = actionFrame(clip, timing, vec2(played.clock, played.age)).toVar();
        If(frame.greaterThanEqual(0), () => {
          mixed.add(int(clip.x).sub(1), frame, weight);
        });
      });
    });
    at.addAssign(ACTION_TEXELS);
  });
  mixed.endLayer(share);
  return mixed.values;
}
