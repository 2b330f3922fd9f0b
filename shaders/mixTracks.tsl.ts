import { Fn, float, floor, If, int, Loop, min, select, vec2, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { RANGES, SCALE, SLOT_PARTS, STEP_SLACK } from '../lib/animation/PoseTracks.js';
import { ENTRY_CONSTANT, ENTRY_STEP, ENTRY_STEPPED } from '../lib/animation/trackTexels.js';
import { ACTION_LAYER } from '../lib/playback/instanceLayout.js';
import { multiplyQuaternions, slerp } from './slerp.tsl.js';
import type { TrackTexelNodes } from './trackTexel.tsl.js';
import { componentsOf, type Elements, emptyArray } from './tsl.js';

/** What plays on an entry, layer by layer, in each in the order in which three.js mixes it. */
export interface ActionsNodes {
  /** See `MixNodes.action`; those from `count` on are not looked at. */
  actions: Elements<'vec4'>;
  count: Node<'int'>;
  /** How much of each layer over the base shows; null if there are none. */
  shares: Node<'vec4'> | null;
}

/** Reads and mixes tracks. Both of these build on the current stack. */
export interface MixNodes {
  /**
   * A clip that plays, `frame` frames into it: table; stride, to which `ACTION_LAYER` is added for each layer below; frame;
   * and weight, which is negative in additive clips.
   *
   * @param layer Null if there is but the base.
   */
  action(
    clip: Node<'int'>,
    frame: Node<'float'>,
    weight: Node<'float'>,
    layer: Node<'int'> | null,
  ): Node<'vec4'>;
  /**
   * What plays on an entry: rotation, translation and scale of a node, in that order; influences of a group of morph targets
   * are in the place of the translation.
   *
   * @param first The first of these to be mixed, and the number of the one after the last.
   */
  mix(entry: Node<'int'>, actions: ActionsNodes, first: Node<'int'>, end: Node<'int'>): Elements<'vec4'>;
}

/** Numbers of the properties of a node. */
export const PROPERTIES = 3;
/** The one in which groups of morph targets have their influences. */
export const TRANSLATION_PROPERTY = 1;

/** Twin of `mixTracks.glsl.ts`. What is used in many places is a function of the shader too, so that its code stands there once. */
export function mixTracks({ texel, key, starts, entryTexel }: TrackTexelNodes): MixNodes {
  const readTrack = Fn(
    ([entry, range, action, turns]: [Node<'int'>, Node<'int'>, Node<'vec4'>, Node<'bool'>]) => {
      const first = entry.div(ENTRY_STEP).toVar();
      const value = vec4(0).toVar();
      If(entry.bitAnd(ENTRY_CONSTANT).notEqual(0), () => {
        value.assign(texel(first));
      }).Else(() => {
        const stepped = entry.bitAnd(ENTRY_STEPPED).notEqual(0).toVar();
        const frame = action.z;
        const whole = floor(select(stepped, frame.add(STEP_SLACK), frame)).toVar();
        const stride = int(action.y)
          .bitAnd(ACTION_LAYER - 1)
          .toVar();
        const at = first.add(int(whole).mul(stride)).toVar();
        const alpha = select(stepped, float(0), frame.sub(whole)).toVar();
        value.assign(key(at, range, turns));
        If(alpha.greaterThan(0), () => {
          value.assign(mixValue(value, key(at.add(stride).toVar(), range, turns), alpha, turns));
        });
      });
      return value;
    },
    {
      name: 'readTrack',
      type: 'vec4',
      inputs: [
        { name: 'entry', type: 'int' },
        { name: 'range', type: 'int' },
        { name: 'action', type: 'vec4' },
        { name: 'turns', type: 'bool' },
      ],
    },
  );

  const mixProperty = (
    entry: Node<'int'>,
    property: Node<'int'>,
    { actions, count, shares }: ActionsNodes,
    rest: Node<'vec4'>,
  ): Node<'vec4'> => {
    const turns = property.equal(0).toVar();
    const none = vec4(0, 0, 0, select(turns, float(1), float(0))).toVar();
    const value = rest.toVar();
    const mixed = rest.toVar();
    const added = none.toVar();
    const weights = float(0).toVar();
    const addedWeights = float(0).toVar();
    const layer = int(0).toVar();
    const share = float(1).toVar();

    Loop(count, ({ i }) => {
      const action = actions.element(i).toVar();
      const entries = componentsOf(texel(int(action.x).add(entry)).toVar());
      const track = int(entries.element(property)).toVar();
      If(track.greaterThanEqual(0), () => {
        if (shares !== null) {
          const its = int(action.y).div(ACTION_LAYER).toVar();
          If(its.notEqual(layer), () => {
            value.assign(layOver(value, mixed, added, vec2(weights, addedWeights), share, turns));
            added.assign(none);
            weights.assign(0);
            addedWeights.assign(0);
            layer.assign(its);
            share.assign(componentsOf(shares).element(its.sub(1)));
          });
        }
        // Ranges of a scale come after those of the translation.
        const range = int(entries.element(int(RANGES))).add(select(property.equal(SCALE), int(2), int(0)));
        const sampled = readTrack(track, range.toVar(), action, turns).toVar();
        const weight = action.w.abs().toVar();
        If(action.w.lessThan(0), () => {
          added.assign(addValue(added, sampled, weight, turns));
          addedWeights.addAssign(weight);
        })
          .ElseIf(weights.equal(0), () => {
            mixed.assign(sampled);
            weights.assign(weight);
          })
          .Else(() => {
            weights.addAssign(weight);
            mixed.assign(mixValue(mixed, sampled, weight.div(weights), turns));
          });
      });
    });
    return layOver(value, mixed, added, vec2(weights, addedWeights), share, turns);
  };

  return {
    action(clip, frame, weight, layer) {
      const head = texel(starts.z.add(clip)).toVar();
      const signed = select(head.z.greaterThan(0.5), weight.negate(), weight);
      const stride = layer === null ? head.y : head.y.add(float(layer).mul(ACTION_LAYER));
      const stored = frame.toVar();
      // Where frames that are stored do not lie evenly in time.
      If(head.w.greaterThan(0), () => {
        const whole = floor(frame).toVar();
        const slot = int(whole).toVar();
        const four = texel(int(head.w).add(slot.shiftRight(2))).toVar();
        const packed = componentsOf(four).element(slot.bitAnd(3)).toVar();
        const first = floor(packed.div(SLOT_PARTS)).toVar();
        stored.assign(first.add(frame.sub(whole).mul(packed.sub(first.mul(SLOT_PARTS)))));
      });
      return vec4(head.x, stride, stored, signed);
    },

    mix(entry, actions, first, end) {
      const values = emptyArray(PROPERTIES);
      const rest = entryTexel(entry).add(1).toVar();
      // A loop, so that the code of all three stands in the shader once.
      Loop({ start: first, end }, ({ i }) => {
        // The loop within this one counts by the same name.
        const property = i.toVar();
        const value = mixProperty(entry, property, actions, texel(rest.add(property)).toVar());
        values.element(property).assign(value);
      });
      return values;
    },
  };
}

const MIX_INPUTS = [
  { name: 'a', type: 'vec4' },
  { name: 'b', type: 'vec4' },
  { name: 't', type: 'float' },
  { name: 'turns', type: 'bool' },
];

const mixValue = /*@__PURE__*/ Fn(
  ([a, b, t, turns]: [Node<'vec4'>, Node<'vec4'>, Node<'float'>, Node<'bool'>]) => {
    const value = a.add(b.sub(a).mul(t)).toVar();
    If(turns, () => {
      value.assign(slerp(a, b, t));
    });
    return value;
  },
  { name: 'mixValue', type: 'vec4', inputs: MIX_INPUTS },
);

const addValue = /*@__PURE__*/ Fn(
  ([a, b, t, turns]: [Node<'vec4'>, Node<'vec4'>, Node<'float'>, Node<'bool'>]) => {
    const value = a.add(b.mul(t)).toVar();
    If(turns, () => {
      value.assign(slerp(a, multiplyQuaternions(a, b), t));
    });
    return value;
  },
  { name: 'addValue', type: 'vec4', inputs: MIX_INPUTS },
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
  {
    name: 'layOver',
    type: 'vec4',
    inputs: [
      { name: 'below', type: 'vec4' },
      { name: 'mixed', type: 'vec4' },
      { name: 'added', type: 'vec4' },
      { name: 'weights', type: 'vec2' },
      { name: 'share', type: 'float' },
      { name: 'turns', type: 'bool' },
    ],
  },
);
