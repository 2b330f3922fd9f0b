import { bool, int } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { CLOCK_EPOCH } from '../lib/constants.js';
import { actionsRowBits, actionsTexels, firstAction, HEADER_EPOCH } from '../lib/playback/instanceLayout.js';
import frameAtNodes from './frameAt.glsl.js?nodes=frameAtGLSL';
import { inLayers, type TexelNode } from './TexelNode.js';
import { variablesOf } from './tsl.js';

/** What a crowd plays. */
export interface PlayedTexels {
  /** The actions of all instances, see `ActionTexels`. */
  actions: Pick<TexelNode, 'rowTexels'>;
  /** Seconds since the epoch began, and its number. */
  clock: Node<'vec2'>;
  /** What there is for layers over the base, see `layersGLSL`; null if there are none. */
  over: object | null;
  /** How many layers there are, with the base. */
  layers: number;
}

/** What `playedTexelGLSL` needs. */
export const playedNeeds = ({ actions, clock, layers }: Omit<PlayedTexels, 'over'>) => ({
  CROWD_PLAYED: inLayers(actions),
  CROWD_CLOCK: clock.x,
  CROWD_EPOCH: clock.y,
  PLAYED_LAYERS: int(layers),
  PLAYED_FIRST: int(firstAction(layers)),
  PLAYED_TEXELS: int(actionsTexels(layers)),
  PLAYED_ROW_BITS: int(actionsRowBits(layers)),
});

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
