import {
  cross,
  dot,
  Fn,
  float,
  floor,
  If,
  int,
  ivec2,
  Loop,
  max,
  normalize,
  select,
  sqrt,
  vec4,
} from 'three/tsl';
import type { Node } from 'three/webgpu';
import { STEP_SLACK } from '../lib/tracks/PoseTracks.js';
import {
  ENTRY_CONSTANT,
  ENTRY_STEP,
  ENTRY_STEPPED,
  JOINT_TEXELS,
  NODE_TEXELS,
  TRACK_ROW,
} from '../lib/tracks/trackTexels.js';
import type { TexelNode } from './TexelNode.js';
import { arrayOf, componentsOf, type Rows, While, zeroRows } from './tsl.js';

/** What plays, in the order in which three.js mixes it; see `PosePassNodes.action`. */
export interface ActionsNodes {
  /** As many as there may be; those from `count` on are not looked at. */
  actions: Node<'vec4'>[];
  count: Node<'int'>;
}

/** Functions of the pose pass for one texture of tracks. All of them build on the current stack. */
export interface PosePassNodes {
  /** A clip that plays, `frame` frames into it. */
  action(clip: Node<'int'>, frame: Node<'float'>, weight: Node<'float'>): Node<'vec4'>;
  /** What a node adds to its parent's matrix. */
  localMatrix(node: Node<'int'>, actions: ActionsNodes): Rows;
  /**
   * The skinning matrix of a joint.
   *
   * @param local Reads what `localMatrix` has come to: many joints hang on the same nodes.
   */
  jointRows(joint: Node<'int'>, local: (node: Node<'int'>) => Rows): Rows;
}

/** Coefficients of `slerpShare`, the last one first. */
const SERIES = [
  [136, 8, 17],
  [105, 7, 15],
  [78, 6, 13],
  [55, 5, 11],
  [36, 4, 9],
  [21, 3, 7],
  [10, 2, 5],
  [3, 1, 3],
];

/** Twin of `slerpShare` in `posePass.glsl.ts`. */
const slerpShare = /*@__PURE__*/ Fn(
  ([t, x]: [Node<'float'>, Node<'float'>]) => {
    const tt = t.mul(t).toVar();
    const sum = float(1).toVar();
    for (const [square, above, below] of SERIES) {
      sum.assign(
        sum
          .mul(x)
          .mul(tt.mul(1 / square).sub(above / below))
          .add(1),
      );
    }
    return t.mul(sum);
  },
  {
    name: 'slerpShare',
    type: 'float',
    inputs: [
      { name: 't', type: 'float' },
      { name: 'x', type: 'float' },
    ],
  },
);

/** Twin of `slerp` in `posePass.glsl.ts`. */
const slerp = /*@__PURE__*/ Fn(
  ([start, end, t]: [Node<'vec4'>, Node<'vec4'>, Node<'float'>]) => {
    const signed = dot(start, end).toVar();
    const cosine = signed.abs().toVar();
    const a = vec4(start).toVar();
    const b = select(signed.lessThan(0), end.negate(), end).toVar();
    const middle = normalize(a.add(b)).toVar();
    const half = sqrt(max(cosine.add(1).mul(0.5), 0)).toVar();
    const t2 = t.mul(2).toVar();
    If(t2.lessThan(1), () => {
      b.assign(middle);
    }).Else(() => {
      a.assign(middle);
      t2.subAssign(1);
    });
    const x = half.sub(1).toVar();
    return a.mul(slerpShare(t2.oneMinus(), x)).add(b.mul(slerpShare(t2, x)));
  },
  {
    name: 'slerp',
    type: 'vec4',
    inputs: [
      { name: 'start', type: 'vec4' },
      { name: 'end', type: 'vec4' },
      { name: 't', type: 'float' },
    ],
  },
);

/**
 * Twin of `posePass.glsl.ts`. What is used in many places is a function of the shader too, so that its code stands there
 * once; GLSL's struct of an action is a `vec4` of table, stride, frame, and weight, which is negative in additive clips.
 *
 * @param layout Texels at which nodes, joints and clips begin.
 * @param most Actions that an instance may have.
 */
export function posePass(tracks: TexelNode, layout: Node<'ivec3'>, most: number): PosePassNodes {
  const trackTexel = Fn(
    ([at]: [Node<'int'>]) =>
      tracks.texel(ivec2(at.bitAnd(TRACK_ROW - 1), at.shiftRight(Math.log2(TRACK_ROW)))),
    { name: 'trackTexel', type: 'vec4', inputs: [{ name: 'at', type: 'int' }] },
  );

  const mixValue = Fn(
    ([a, b, t, turns]: [Node<'vec4'>, Node<'vec4'>, Node<'float'>, Node<'bool'>]) => {
      const value = a.add(b.sub(a).mul(t)).toVar();
      If(turns, () => {
        value.assign(slerp(a, b, t));
      });
      return value;
    },
    { name: 'mixValue', type: 'vec4', inputs: MIX_INPUTS },
  );

  const multiplyQuaternions = (a: Node<'vec4'>, b: Node<'vec4'>): Node<'vec4'> =>
    vec4(b.xyz.mul(a.w).add(a.xyz.mul(b.w)).add(cross(a.xyz, b.xyz)), a.w.mul(b.w).sub(dot(a.xyz, b.xyz)));

  const addValue = Fn(
    ([a, b, t, turns]: [Node<'vec4'>, Node<'vec4'>, Node<'float'>, Node<'bool'>]) => {
      const value = a.add(b.mul(t)).toVar();
      If(turns, () => {
        value.assign(slerp(a, multiplyQuaternions(a, b), t));
      });
      return value;
    },
    { name: 'addValue', type: 'vec4', inputs: MIX_INPUTS },
  );

  const readTrack = Fn(
    ([entry, action, turns]: [Node<'int'>, Node<'vec4'>, Node<'bool'>]) => {
      const first = entry.div(ENTRY_STEP).toVar();
      const value = vec4(0).toVar();
      If(entry.bitAnd(ENTRY_CONSTANT).notEqual(0), () => {
        value.assign(trackTexel(first));
      }).Else(() => {
        const stepped = entry.bitAnd(ENTRY_STEPPED).notEqual(0).toVar();
        const frame = action.z;
        const whole = floor(select(stepped, frame.add(STEP_SLACK), frame)).toVar();
        const stride = int(action.y).toVar();
        const at = first.add(int(whole).mul(stride)).toVar();
        const alpha = select(stepped, float(0), frame.sub(whole)).toVar();
        value.assign(trackTexel(at));
        If(alpha.greaterThan(0), () => {
          value.assign(mixValue(value, trackTexel(at.add(stride)), alpha, turns));
        });
      });
      return value;
    },
    {
      name: 'readTrack',
      type: 'vec4',
      inputs: [
        { name: 'entry', type: 'int' },
        { name: 'action', type: 'vec4' },
        { name: 'turns', type: 'bool' },
      ],
    },
  );

  const actionInputs = Array.from({ length: most }, (_, i) => ({ name: `action${i}`, type: 'vec4' }));
  const mixProperty = Fn(
    (inputs: MixPropertyInputs) => {
      // Only as a list: what three.js hands over knows no indices.
      const [node, property, count, rest, ...given] = inputs;
      const actions = arrayOf(given);
      const turns = property.equal(0).toVar();
      const value = vec4(rest).toVar();
      const mixed = vec4(rest).toVar();
      const added = vec4(0, 0, 0, select(turns, float(1), float(0))).toVar();
      const weights = float(0).toVar();
      const addedWeights = float(0).toVar();

      Loop(count, ({ i }) => {
        const action = actions.element(i).toVar();
        const entries = componentsOf(trackTexel(int(action.x).add(node)).toVar());
        const entry = int(entries.element(property)).toVar();
        If(entry.greaterThanEqual(0), () => {
          const sampled = readTrack(entry, action, turns).toVar();
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

      If(weights.greaterThanEqual(1), () => {
        value.assign(mixed);
      }).ElseIf(weights.greaterThan(0), () => {
        value.assign(mixValue(value, mixed, weights, turns));
      });
      If(addedWeights.greaterThan(0), () => {
        value.assign(addValue(value, added, float(1), turns));
      });
      return value;
    },
    {
      name: 'mixProperty',
      type: 'vec4',
      inputs: [
        { name: 'node', type: 'int' },
        { name: 'property', type: 'int' },
        { name: 'actionCount', type: 'int' },
        { name: 'rest', type: 'vec4' },
        ...actionInputs,
      ],
    },
  );

  // Rows of translation * rotation * scale, as Matrix4.compose has them.
  const composeRows = (q: Node<'vec4'>, t: Node<'vec4'>, s: Node<'vec4'>): Rows => {
    const d = q.xyz.add(q.xyz).toVar();
    const xd = d.mul(q.x).toVar();
    const yd = d.mul(q.y).toVar();
    const zz = q.z.mul(d.z).toVar();
    const wd = d.mul(q.w).toVar();
    const row = (x: Node<'float'>, y: Node<'float'>, z: Node<'float'>, w: Node<'float'>) =>
      vec4(x.mul(s.x), y.mul(s.y), z.mul(s.z), w);
    return [
      row(yd.y.add(zz).oneMinus(), xd.y.sub(wd.z), xd.z.add(wd.y), t.x),
      row(xd.y.add(wd.z), xd.x.add(zz).oneMinus(), yd.z.sub(wd.x), t.y),
      row(xd.z.sub(wd.y), yd.z.add(wd.x), xd.x.add(yd.y).oneMinus(), t.z),
    ];
  };

  const matrixRows = (at: Node<'int'>): Rows => [
    trackTexel(at).toVar(),
    trackTexel(at.add(1)).toVar(),
    trackTexel(at.add(2)).toVar(),
  ];

  // a * b, both as rows.
  const multiplyRows = (a: Rows, b: Rows): Rows => {
    const row = ({ x, y, z, w }: Node<'vec4'>) =>
      b[0]
        .mul(x)
        .add(b[1].mul(y))
        .add(b[2].mul(z))
        .add(vec4(0, 0, 0, w))
        .toVar();
    return [row(a[0]), row(a[1]), row(a[2])];
  };

  const nodeHead = (node: Node<'int'>): Node<'vec4'> =>
    trackTexel(layout.x.add(node.mul(NODE_TEXELS))).toVar();

  const localMatrix = (node: Node<'int'>, { actions, count }: ActionsNodes): Rows => {
    const rows = zeroRows();
    const fixedAt = int(nodeHead(node).y).toVar();
    If(fixedAt.greaterThanEqual(0), () => {
      assignRows(rows, matrixRows(fixedAt));
    }).Else(() => {
      const rest = layout.x.add(node.mul(NODE_TEXELS)).add(1).toVar();
      const mix = (property: number) =>
        mixProperty(node, int(property), count, trackTexel(rest.add(property)), ...actions).toVar();
      assignRows(rows, composeRows(mix(0), mix(1), mix(2)));
    });
    return rows;
  };

  const jointRows = (joint: Node<'int'>, local: (node: Node<'int'>) => Rows): Rows => {
    const at = layout.y.add(joint.mul(JOINT_TEXELS)).toVar();
    const node = int(trackTexel(at).z).toVar();
    const rows = matrixRows(at.add(1).toVar());
    While(node.greaterThanEqual(0), () => {
      assignRows(rows, multiplyRows(local(node), rows));
      node.assign(int(nodeHead(node).x));
    });
    return multiplyRows(matrixRows(int(0)), rows);
  };

  return {
    localMatrix,
    jointRows,
    action(clip, frame, weight) {
      const head = trackTexel(layout.z.add(clip)).toVar();
      const signed = select(head.z.greaterThan(0.5), weight.negate(), weight);
      return vec4(head.x, head.y, frame, signed);
    },
  };
}

type MixPropertyInputs = [Node<'int'>, Node<'int'>, Node<'int'>, ...Node<'vec4'>[]];

const MIX_INPUTS = [
  { name: 'a', type: 'vec4' },
  { name: 'b', type: 'vec4' },
  { name: 't', type: 'float' },
  { name: 'turns', type: 'bool' },
];

function assignRows(rows: Rows, values: Rows): void {
  rows.forEach((row, i) => {
    row.assign(values[i]);
  });
}
