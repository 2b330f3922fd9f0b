import { Break, float, floor, If, int, Loop, max, min, mod, select, uint, vec2, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { CLOCK_EPOCH, LOOP_CLAMP, LOOP_FIRST, LOOP_MODES, REPEAT_FOREVER } from '../lib/constants.js';
import { ACTION_TEXELS, MAX_ACTIONS } from '../lib/playback/instanceLayout.js';
import { rampAt } from './playedActions.tsl.js';
import type { Vectors } from './tsl.js';

/** Bits of the number by which a clip is wanted, over that of the clip. */
export const PLAY_ONCE = 0x10000;
export const PLAY_IN_STEP = 0x20000;
const CLIPS = 0x10000;

/** The golden ratio less 1: its multiples lie as evenly between whole numbers as any. */
const GOLDEN = 0.6180339887498949;

/** Buffers in which a step lets instances play what they shall. */
interface WantedNodes {
  /** What each instance shall play: clip, seconds of fade, speed. */
  readonly plays: Vectors;
  /** What each was last told to: clip and speed. */
  readonly told: Vectors;
  /** What each plays, as `ActionTexels` has it. */
  readonly actions: Vectors;
  /** First frame, frames, and frames a second of each clip. */
  readonly clips: Vectors;
  /** Seconds since the epoch began, and its number. */
  readonly clock: Node<'vec2'>;
}

const isSet = (code: Node<'uint'>, bit: number) => code.bitAnd(uint(bit)).notEqual(uint(0));

/**
 * Starts the clip that an instance shall play, if it is another one than before, as `LayerActions.start` does, and has it go on at
 * the speed that it shall. Builds on the current stack.
 *
 * @param first The instance's first texel among `actions`.
 */
export function playWanted(
  { plays, told, actions, clips, clock: time }: WantedNodes,
  instance: Node<'int'>,
  first: Node<'int'>,
): void {
  const now = time.x;
  const wanted = plays.element(instance).toVar();
  const last = told.element(instance).toVar();
  const header = actions.element(first).toVar();
  const age = time.y.sub(header.w).toVar();
  const speed = max(wanted.z, 0).toVar();
  const at = (place: Node<'int'>) => first.add(1).add(place.mul(ACTION_TEXELS)).toVar();

  /** Builds what is done with each action, by its first texel and what that holds, in their order. */
  const forEach = (visit: (place: Node<'int'>, clip: Node<'vec4'>) => void) =>
    Loop(MAX_ACTIONS, ({ i }) => {
      const place = at(i);
      const clip = actions.element(place).toVar();
      If(clip.x.lessThan(0.5), () => {
        Break();
      });
      visit(place, clip);
    });

  /** Frames into the clip: what loops is never more than its length. */
  const within = (clip: Node<'vec4'>, timing: Node<'vec4'>, total: Node<'float'>): Node<'float'> => {
    const intervals = max(floor(clip.y.mul(1 / LOOP_MODES)).sub(1), 1).toVar();
    return select(
      timing.y.lessThan(REPEAT_FOREVER),
      min(total, intervals),
      total.sub(floor(total.div(intervals)).mul(intervals)),
    );
  };

  // Times count from the beginning of an epoch.
  If(age.notEqual(0), () => {
    const seconds = age.mul(CLOCK_EPOCH).toVar();
    forEach((place, clip) => {
      const timing = actions.element(place.add(1)).toVar();
      const total = within(clip, timing, clip.z.add(timing.x.mul(seconds))).toVar();
      actions.element(place).assign(vec4(clip.xy, total, clip.w));
      const ramp = actions.element(place.add(2)).toVar();
      actions.element(place.add(2)).assign(vec4(ramp.xy, ramp.z.sub(seconds), ramp.w));
    });
    header.assign(vec4(header.x.sub(seconds), header.yz, time.y));
    actions.element(first).assign(header);
  });

  const isOther = wanted.x.notEqual(last.x).toVar();
  If(isOther.or(speed.notEqual(last.y)), () => {
    const code = uint(wanted.x).toVar();
    const clipNumber = int(code.bitAnd(uint(CLIPS - 1)))
      .sub(1)
      .toVar();
    actions.element(first).assign(vec4(now, header.yzw));
    told.element(instance).assign(vec4(wanted.x, speed, 0, 0));

    // The clip that was started last, which is the last one.
    const current = int(-1).toVar();
    const clipNow = vec4(0).toVar();
    const timingNow = vec4(0).toVar();
    forEach((place, clip) => {
      current.assign(place);
      clipNow.assign(clip);
      timingNow.assign(actions.element(place.add(1)));
    });
    const total = within(clipNow, timingNow, clipNow.z.add(timingNow.x.mul(now))).toVar();

    If(isOther.not(), () => {
      If(current.greaterThanEqual(0).and(wanted.x.greaterThan(0)), () => {
        const rate = speed.mul(clips.element(clipNumber).z).toVar();
        actions.element(current).assign(vec4(clipNow.xy, total.sub(rate.mul(now)), 0));
        actions.element(current.add(1)).assign(vec4(rate, timingNow.y, 0, 0));
      });
    }).Else(() => {
      // All that plays fades out together, each from the weight that it has.
      const fade = max(wanted.y, 0).toVar();
      const kept = int(0).toVar();
      const sum = float(0).toVar();
      const least = int(0).toVar();
      const leastWeight = float(Number.MAX_SAFE_INTEGER).toVar();
      If(fade.greaterThan(0), () => {
        forEach((place, clip) => {
          const weight = rampAt(now, actions.element(place.add(2)).toVar()).toVar();
          If(weight.greaterThan(0), () => {
            const to = at(kept);
            const timing = actions.element(place.add(1)).toVar();
            actions.element(to).assign(clip);
            actions.element(to.add(1)).assign(timing);
            actions.element(to.add(2)).assign(vec4(weight, 0, now, fade.reciprocal()));
            sum.addAssign(weight);
            If(weight.lessThanEqual(leastWeight), () => {
              least.assign(kept);
              leastWeight.assign(weight);
            });
            kept.addAssign(1);
          });
        });
      });

      If(clipNumber.greaterThanEqual(0), () => {
        // The one that shows least makes way, and what it showed goes to the others.
        If(kept.equal(MAX_ACTIONS), () => {
          const factor = sum.div(sum.sub(leastWeight)).toVar();
          kept.assign(0);
          Loop(MAX_ACTIONS, ({ i }) => {
            If(i.notEqual(least), () => {
              const place = at(i);
              const to = at(kept);
              const [clip, timing, ramp] = [0, 1, 2].map((k) => actions.element(place.add(k)).toVar());
              actions.element(to).assign(clip);
              actions.element(to.add(1)).assign(timing);
              actions.element(to.add(2)).assign(vec4(min(ramp.x.mul(factor), 1), ramp.yzw));
              kept.addAssign(1);
            });
          });
        });
        const clip = clips.element(clipNumber).toVar();
        const intervals = clip.y.sub(1).toVar();
        const rate = speed.mul(clip.z).toVar();
        const isOnce = isSet(code, PLAY_ONCE).toVar();
        const start = float(0).toVar();
        If(isSet(code, PLAY_IN_STEP), () => {
          // In step with what plays; else by the instance's number, so that no two are in step.
          const share = mod(float(instance).mul(GOLDEN), 1).toVar();
          If(current.greaterThanEqual(0), () => {
            share.assign(total.div(max(floor(clipNow.y.mul(1 / LOOP_MODES)).sub(1), 1)));
          });
          start.assign(share.mul(intervals));
        });
        const to = at(kept);
        const loop = select(isOnce, float(LOOP_CLAMP + LOOP_FIRST), float(LOOP_FIRST));
        actions
          .element(to)
          .assign(vec4(clip.x, clip.y.mul(LOOP_MODES).add(loop), start.sub(rate.mul(now)), 0));
        actions.element(to.add(1)).assign(vec4(rate, select(isOnce, float(1), float(REPEAT_FOREVER)), 0, 0));
        const isFading = fade.greaterThan(0);
        actions
          .element(to.add(2))
          .assign(
            vec4(
              select(isFading, vec2(0, 1), vec2(1, 1)),
              now,
              select(isFading, fade.reciprocal(), float(0)),
            ),
          );
        kept.addAssign(1);
      });
      If(kept.lessThan(MAX_ACTIONS), () => {
        actions.element(at(kept)).assign(vec4(0));
      });
    });
  });
}
