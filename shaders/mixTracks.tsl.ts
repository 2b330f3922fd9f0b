import { bool, clamp, Fn, float, floor, If, int, min, select, vec2, vec3, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { RANGES, SCALE, SLOT_HEAD, STEP_SLACK } from '../lib/animation/PoseTracks.js';
import { ENTRY_CONSTANT, ENTRY_STEP, ENTRY_STEPPED } from '../lib/animation/trackTexels.js';
import { multiplyQuaternions, slerp } from './slerp.tsl.js';
import type { TrackTexelNodes } from './trackTexel.tsl.js';
import { componentsOf, layoutOf } from './tsl.js';

/**
 * What plays on an entry: rotation, translation and scale of a node, in that order; influences of a group of morph targets are
 * in the place of the translation. The methods build on the current stack.
 */
export interface TransformMix {
  /** Variables; the rest pose as long as no layer was ended. */
  readonly values: readonly Node<'vec4'>[];
  /** Mixes a clip that plays on a layer, `frame` frames into it. */
  add(clip: Node<'int'>, frame: Node<'float'>, weight: Node<'float'>): void;
  /** Lays what was mixed since the last layer over what lies below it. */
  endLayer(share: Node<'float'>): void;
}

/** Properties of a node: the first is turned, the last one's ranges come after the others'. */
const PROPERTIES = [0, 1, SCALE];

/** What the actions of a layer have come to in a property, and what those below it show. */
interface Mixed {
  turns: Node<'bool'>;
  below: Node<'vec4'>;
  value: Node<'vec4'>;
  added: Node<'vec4'>;
  /** Sums of the weights of both. */
  weights: Node<'vec2'>;
}

/** Twin of `mixTracks.glsl.ts`. What is used in many places is a function of the shader too, so that its code stands there once. */
export function mixTracks({
  texel,
  key,
  starts,
  entryTexel,
}: TrackTexelNodes): (entry: Node<'int'>) => TransformMix {
  const readTrack = Fn(
    ([entry, range, action, turns]: [Node<'int'>, Node<'int'>, Node<'vec3'>, Node<'bool'>]) => {
      const first = entry.div(ENTRY_STEP).toVar();
      const value = vec4(0).toVar();
      If(entry.bitAnd(ENTRY_CONSTANT).notEqual(0), () => {
        value.assign(texel(first));
      }).Else(() => {
        const stepped = entry.bitAnd(ENTRY_STEPPED).notEqual(0).toVar();
        const frame = action.z;
        const whole = floor(select(stepped, frame.add(STEP_SLACK), frame)).toVar();
        const stride = int(action.y).toVar();
        const at = first.add(int(whole).mul(stride)).toVar();
        const alpha = select(stepped, float(0), frame.sub(whole)).toVar();
        value.assign(key(at, range, turns));
        If(alpha.greaterThan(0), () => {
          value.assign(mixValue(value, key(at.add(stride).toVar(), range, turns), alpha, turns));
        });
      });
      return value;
    },
    /*@__PURE__*/ layoutOf('readTrack', 'vec4', {
      entry: 'int',
      range: 'int',
      action: 'vec3',
      turns: 'bool',
    }),
  );

  const mixAction = (
    { turns, value, added, weights }: Mixed,
    entry: Node<'int'>,
    range: Node<'int'>,
    { place, weight, additive }: { place: Node<'vec3'>; weight: Node<'float'>; additive: Node<'bool'> },
  ): void => {
    If(entry.greaterThanEqual(0), () => {
      const sampled = readTrack(entry, range, place, turns).toVar();
      If(additive, () => {
        added.assign(addValue(added, sampled, weight, turns));
        weights.y.addAssign(weight);
      })
        .ElseIf(weights.x.equal(0), () => {
          value.assign(sampled);
          weights.x.assign(weight);
        })
        .Else(() => {
          weights.x.addAssign(weight);
          value.assign(mixValue(value, sampled, weight.div(weights.x), turns));
        });
    });
  };

  return (entry) => {
    const rest = entryTexel(entry).add(1).toVar();
    const mixed = PROPERTIES.map((property): Mixed => {
      const below = texel(rest.add(property)).toVar();
      const turns = bool(property === 0);
      return {
        turns,
        below,
        value: below.toVar(),
        added: nothing(property).toVar(),
        weights: vec2(0).toVar(),
      };
    });
    return {
      values: mixed.map(({ below }) => below),

      add(clip, frame, weight) {
        const head = texel(starts.z.add(clip)).toVar();
        const stored = frame.toVar();
        // Where frames that are stored do not lie evenly in time.
        If(head.w.greaterThan(0), () => {
          const even = texel(int(head.w)).toVar();
          const place = clamp(frame.sub(even.x).mul(even.y), 0, even.z).toVar();
          const whole = floor(place).toVar();
          const [from, to] = [0, 1].map((next) => {
            const slot = int(whole)
              .add(SLOT_HEAD + next)
              .toVar();
            const four = texel(int(head.w).add(slot.shiftRight(2))).toVar();
            return componentsOf(four).element(slot.bitAnd(3)).toVar();
          });
          const uneven = from.add(place.sub(whole).mul(to.sub(from)));
          stored.assign(select(even.w.equal(0), place, uneven));
        });
        const action = {
          place: vec3(head.xy, stored).toVar(),
          weight,
          additive: head.z.greaterThan(0.5).toVar(),
        };
        const entries = texel(int(head.x).add(entry)).toVar();
        const tracks = [entries.x, entries.y, entries.z, entries.w];
        mixed.forEach((one, property) => {
          // Ranges of a scale come after those of the translation.
          const range = int(tracks[RANGES]).add(property === SCALE ? 2 : 0);
          mixAction(one, int(tracks[property]).toVar(), range.toVar(), action);
        });
      },

      endLayer(share) {
        mixed.forEach(({ turns, below, value, added, weights }, property) => {
          below.assign(layOver(below, value, added, weights, share, turns));
          added.assign(nothing(property));
          weights.assign(vec2(0));
        });
      },
    };
  };
}

/** What additive clips change if there is none. */
const nothing = (property: number): Node<'vec4'> => vec4(0, 0, 0, property === 0 ? 1 : 0);

const MIX_INPUTS = { a: 'vec4', b: 'vec4', t: 'float', turns: 'bool' };

const mixValue = /*@__PURE__*/ Fn(
  ([a, b, t, turns]: [Node<'vec4'>, Node<'vec4'>, Node<'float'>, Node<'bool'>]) => {
    const value = a.add(b.sub(a).mul(t)).toVar();
    If(turns, () => {
      value.assign(slerp(a, b, t));
    });
    return value;
  },
  /*@__PURE__*/ layoutOf('mixValue', 'vec4', MIX_INPUTS),
);

const addValue = /*@__PURE__*/ Fn(
  ([a, b, t, turns]: [Node<'vec4'>, Node<'vec4'>, Node<'float'>, Node<'bool'>]) => {
    const value = a.add(b.mul(t)).toVar();
    If(turns, () => {
      value.assign(slerp(a, multiplyQuaternions(a, b), t));
    });
    return value;
  },
  /*@__PURE__*/ layoutOf('addValue', 'vec4', MIX_INPUTS),
);

/** Lays a layer over what those below it show. `weights` are those of what is mixed, and of what is added. */
const layOver = /*@__PURE__*/ Fn(
  ([below, mixed, added, weights, share, turns]: [
    Node<'vec4'>,
    Node<'vec4'>,
    Node<'vec4'>,
    Node<'vec2'>,
    Node<'float'>,
    Node<'bool'>,
  ]) => {
    const value = below.toVar();
    const t = min(weights.x, 1).mul(share).toVar();
    If(t.greaterThanEqual(1), () => {
      value.assign(mixed);
    }).ElseIf(t.greaterThan(0), () => {
      value.assign(mixValue(value, mixed, t, turns));
    });
    If(weights.y.greaterThan(0), () => {
      value.assign(addValue(value, added, share, turns));
    });
    return value;
  },
  /*@__PURE__*/ layoutOf('layOver', 'vec4', {
    below: 'vec4',
    mixed: 'vec4',
    added: 'vec4',
    weights: 'vec2',
    share: 'float',
    turns: 'bool',
  }),
);
