import { Break, bool, float, If, int, Loop } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { CLOCK_EPOCH, REST_FRAME } from '../lib/constants.js';
import {
  ACTION_TEXELS,
  actionsRowBits,
  actionsTexels,
  firstAction,
  HEADER_EPOCH,
  MAX_ACTIONS,
} from '../lib/playback/instanceLayout.js';
import frameAtNodes from './frameAt.glsl.js?nodes=frameAtGLSL';
import type { TrackMixer } from './mixTracks.tsl.js';
import type { TexelNode } from './TexelNode.js';
import { componentsOf, variablesOf } from './tsl.js';

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

/** The frames that an action shows, and how they mix; see `frameAtGLSL`. */
type FrameMix = Record<'frame0' | 'frame1' | 'alpha', Node<'float'>>;

const functions = frameAtNodes<{
  rampAt(clock: Node<'float'>, ramp: Node<'vec4'>): Node<'float'>;
  shownFrames(clip: Node, timing: Node, clock: Node, age: Node, start: Node, interpolate: Node): FrameMix;
}>;

/** How a number goes from one to another. */
export const rampAt = (clock: Node<'float'>, ramp: Node<'vec4'>) => functions().rampAt(clock, ramp);

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
export const actionFrames = (
  clip: Node<'vec4'>,
  timing: Node<'vec4'>,
  { clock, age }: ReturnType<typeof playedClock>,
  start: Node<'float'>,
  interpolate: boolean,
): FrameMix => variablesOf(functions().shownFrames(clip, timing, clock, age, start, bool(interpolate)));

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
 * @returns Variables for rotation, translation and scale; influences of morph targets are in the place of the translation.
 */
export function mixActions(
  instance: Node<'int'>,
  entry: Node<'int'>,
  { actions: texels, clock, over, layers }: PlayedTexels,
  { texel, entryTexel, mixedOver, actionOf, mixAll, endAll }: TrackMixer,
): readonly Node<'vec4'>[] {
  const { first, row } = playedTexel(instance, layers);
  const texelsAt = (at: Node<'int'>, count: number): Node<'vec4'>[] =>
    texels.rowTexels(at, row, count).map((texel) => texel.toVar());

  const played = playedClock(clock, texelsAt(first, 1)[0]);
  const ramps = over === null ? [] : texelsAt(first.add(1).toVar(), layers - 1);
  const shares = over?.shares(entry, played.since, ramps) ?? null;
  const rest = entryTexel(entry).add(1).toVar();
  const restOf = (property: number) => mixedOver(texel(rest.add(property)).toVar(), bool(property === 0));
  const mixed = variablesOf({ rotation: restOf(0), translation: restOf(1), scale: restOf(2) });
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
        endAll(mixed, share);
        layer.assign(its);
        share.assign(componentsOf(shares).element(its.sub(1)));
      });
    }
    If(share.greaterThan(0), () => {
      const [timing, weights] = texelsAt(at.add(1).toVar(), 2);
      const weight = rampAt(played.since, weights).toVar();
      If(weight.greaterThan(0), () => {
        // Frames are counted from 1 in any clip, so that 0 is free to mean the rest pose.
        const { frame0, alpha } = actionFrames(clip, timing, played, float(1), true);
        If(frame0.notEqual(REST_FRAME), () => {
          mixAll(mixed, entry, variablesOf(actionOf(clip, frame0.sub(1).add(alpha), weight)));
        });
      });
    });
    at.addAssign(ACTION_TEXELS);
  });
  endAll(mixed, share);
  return [mixed.rotation.below, mixed.translation.below, mixed.scale.below];
}
