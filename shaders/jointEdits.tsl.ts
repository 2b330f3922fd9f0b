import {
  abs,
  Break,
  clamp,
  cross,
  dot,
  Fn,
  float,
  If,
  int,
  Loop,
  length,
  min,
  normalize,
  select,
  uniform,
  vec3,
  vec4,
} from 'three/tsl';
import type { Node } from 'three/webgpu';
import {
  EDIT_COSINE,
  EDIT_KIND,
  EDIT_MODELS,
  EDIT_NODE,
  EDIT_SINE,
  EDIT_TEXELS,
  EDIT_WEIGHT,
  HEADER_COUNTS,
  HEADER_FADE_RATE,
  HEADER_FADE_START,
  HEADER_FIRST,
  HEADER_FROM,
  HEADER_LIVE,
  HEADER_TEXELS,
  HEADER_TO,
  KIND_ADD,
  KIND_LOOK_AT,
  KIND_POSITION,
  KIND_ROTATION,
  LIVE_TEXELS,
  OPPOSITE,
} from './editLayout.js';
import type { CreatePoseEditNodes } from './posePass.tsl.js';
import { multiplyQuaternions, slerp } from './slerp.tsl.js';
import { type TexelNode, texels } from './TexelNode.js';
import { layoutOf, type Rows, While } from './tsl.js';

/** What `EditStore` has for shaders. */
interface EditNodes {
  headers: TexelNode;
  edits: TexelNode;
  live: TexelNode;
  /** Live poses in a row of their texture. */
  livePerRow: Node<'int'>;
  clock: Node<'float'>;
}

/** Edits of joints and live poses, for the steps of the pose pass. Twin of `jointEdits.glsl.ts`. */
export const jointEditNodes: CreatePoseEditNodes = (textures, clock, nodes) => {
  const read = textures.map(({ layered }) => texels(layered));
  const [headers, edits, live] = read;
  const livePerRow = uniform(1, 'int');
  const all = { headers, edits, live, livePerRow, clock };
  return {
    use(others) {
      for (let i = 0; i < read.length; i++) read[i].value = others[i].layered;
      livePerRow.value = others[2].perRow;
    },
    editLocals: (instance, node, transform) => editLocals(all, nodes, instance, node, transform),
    modelEdits: (instance) => modelEdits(all, instance),
  };
};

/** The number in a texel that has this place among the numbers of an instance or an edit. */
const numberOf = ({ x, y, z, w }: Node<'vec4'>, place: number): Node<'float'> => [x, y, z, w][place % 4];

const adds = (kind: Node<'int'>): Node<'bool'> => kind.bitAnd(KIND_ADD).notEqual(0);

/** Turns from one rotation to another. */
const turnTo = /*@__PURE__*/ Fn(
  ([from, to, weight]: [Node<'vec4'>, Node<'vec4'>, Node<'float'>]) => {
    const value = vec4(to).toVar();
    If(weight.lessThan(1), () => {
      value.assign(slerp(from, to, weight));
    });
    return value;
  },
  /*@__PURE__*/ layoutOf('turnTo', 'vec4', { start: 'vec4', end: 'vec4', weight: 'float' }),
);

const moveTo = (from: Node<'vec4'>, to: Node<'vec4'>, weight: Node<'float'>): Node<'vec4'> =>
  select(weight.greaterThanEqual(1), to, from.add(to.sub(from).mul(weight)));

/**
 * Applies an instance's live pose and edits to the local transform of a node. Builds on the current stack.
 *
 * @param nodes How many nodes a live pose has.
 * @param transform Variables for rotation, position and scale.
 */
function editLocals(
  { headers, edits, live, livePerRow, clock }: EditNodes,
  nodes: Node<'int'>,
  instance: Node<'int'>,
  node: Node<'int'>,
  transform: readonly Node<'vec4'>[],
): void {
  const [rotation, position, scale] = transform;
  const [lists] = headers.instanceTexels(instance, HEADER_TEXELS, int(0), 1);
  const number = int(numberOf(lists, HEADER_LIVE)).toVar();
  If(number.greaterThan(0), () => {
    const [ramp] = headers.instanceTexels(instance, HEADER_TEXELS, int(1), 1);
    const from = numberOf(ramp, HEADER_FROM);
    const rate = numberOf(ramp, HEADER_FADE_RATE);
    const passed = clamp(clock.sub(numberOf(ramp, HEADER_FADE_START)).mul(rate), 0, 1);
    const done = select(rate.equal(0), float(1), passed);
    const weight = from.add(numberOf(ramp, HEADER_TO).sub(from).mul(done)).toVar();
    const row = number.sub(1).div(livePerRow).toVar();
    const place = number.sub(1).sub(row.mul(livePerRow)).mul(nodes).add(node).mul(LIVE_TEXELS).toVar();
    const [turn, way, size] = live.rowTexels(place, row, LIVE_TEXELS).map((texel) => texel.toVar());
    If(way.w.notEqual(0).and(weight.greaterThan(0)), () => {
      rotation.assign(turnTo(rotation, turn, weight));
      position.assign(moveTo(position, way, weight));
      scale.assign(moveTo(scale, size, weight));
    });
  });

  const first = int(numberOf(lists, HEADER_FIRST)).toVar();
  const count = int(numberOf(lists, HEADER_COUNTS))
    .bitAnd(EDIT_MODELS - 1)
    .toVar();
  Loop(count, ({ i }) => {
    const edit = first.add(i).toVar();
    const [head] = edits.instanceTexels(edit, EDIT_TEXELS, int(0), 1);
    const edited = int(numberOf(head, EDIT_NODE)).toVar();
    // They are sorted by node.
    If(edited.greaterThan(node), () => {
      Break();
    });
    If(edited.equal(node), () => {
      const [value] = edits.instanceTexels(edit, EDIT_TEXELS, int(1), 1);
      const weight = numberOf(head, EDIT_WEIGHT).toVar();
      const kind = int(numberOf(head, EDIT_KIND)).toVar();
      const property = kind.bitAnd(KIND_LOOK_AT).toVar();
      If(property.equal(KIND_ROTATION), () => {
        const turned = select(adds(kind), multiplyQuaternions(rotation, value), value).toVar();
        rotation.assign(turnTo(rotation, turned, weight));
      })
        .ElseIf(property.equal(KIND_POSITION), () => {
          const added = position.add(value.mul(weight));
          position.assign(select(adds(kind), added, moveTo(position, value, weight)));
        })
        .Else(() => {
          const multiplied = scale.mul(value.sub(1).mul(weight).add(1));
          scale.assign(select(adds(kind), multiplied, moveTo(scale, value, weight)));
        });
    });
  });
}

/**
 * Finds the edits of an instance that are relative to the root. The function that it returns applies those of a node to the
 * node's rows, which are variables; it is to be called for the nodes of a chain from the root down, since so the edits are sorted.
 * Both build on the current stack.
 */
function modelEdits(
  { headers, edits }: { headers: TexelNode; edits: TexelNode },
  instance: Node<'int'>,
): (node: Node<'int'>, rows: Rows) => void {
  const [lists] = headers.instanceTexels(instance, HEADER_TEXELS, int(0), 1);
  const counts = int(numberOf(lists, HEADER_COUNTS)).toVar();
  const next = int(numberOf(lists, HEADER_FIRST))
    .add(counts.bitAnd(EDIT_MODELS - 1))
    .toVar();
  const last = next.add(counts.shiftRight(Math.log2(EDIT_MODELS))).toVar();
  return (node, rows) => {
    While(next.lessThan(last), () => {
      const [head] = edits.instanceTexels(next, EDIT_TEXELS, int(0), 1);
      const edited = int(numberOf(head, EDIT_NODE)).toVar();
      If(edited.greaterThan(node), () => {
        Break();
      });
      If(edited.equal(node), () => {
        const [value, axis] = edits.instanceTexels(next, EDIT_TEXELS, int(1), 2);
        editModel(head, value, axis.xyz, rows);
      });
      next.addAssign(1);
    });
  };
}

const column = (rows: Rows, i: 'x' | 'y' | 'z' | 'w'): Node<'vec3'> =>
  vec3(rows[0][i], rows[1][i], rows[2][i]);

/** Applies an edit to a node's matrix relative to the root: twin of `editModel` in `modelEdits.ts`. */
function editModel(head: Node<'vec4'>, value: Node<'vec4'>, axis: Node<'vec3'>, rows: Rows): void {
  const weight = numberOf(head, EDIT_WEIGHT).toVar();
  const kind = int(numberOf(head, EDIT_KIND)).toVar();
  const property = kind.bitAnd(KIND_LOOK_AT).toVar();
  If(property.equal(KIND_POSITION), () => {
    const place = vec4(column(rows, 'w'), 0).toVar();
    const moved = select(adds(kind), place.add(value.mul(weight)), moveTo(place, value, weight)).toVar();
    rows[0].assign(vec4(rows[0].xyz, moved.x));
    rows[1].assign(vec4(rows[1].xyz, moved.y));
    rows[2].assign(vec4(rows[2].xyz, moved.z));
  }).Else(() => {
    const turn = vec4(value).toVar();
    If(property.equal(KIND_LOOK_AT), () => {
      turnToTarget(head, value, axis, rows, turn);
    }).ElseIf(adds(kind).not(), () => {
      const now = rotationOf(rows);
      // A node that is flattened has no rotation, and stays as it is.
      const flat = dot(now, now).equal(0);
      turn.assign(select(flat, IDENTITY(), multiplyQuaternions(value, vec4(now.xyz.negate(), now.w))));
    });
    turnRows(turnTo(IDENTITY(), turn, weight).toVar(), rows);
  });
}

const IDENTITY = (): Node<'vec4'> => vec4(0, 0, 0, 1);

/** Turns a node about its own origin. */
function turnRows(q: Node<'vec4'>, rows: Rows): void {
  const turned = (v: Node<'vec3'>) => {
    const across = cross(q.xyz, v).add(v.mul(q.w)).toVar();
    return v.add(cross(q.xyz, across).mul(2)).toVar();
  };
  const [x, y, z] = (['x', 'y', 'z'] as const).map((i) => turned(column(rows, i).toVar()));
  rows[0].assign(vec4(x.x, y.x, z.x, rows[0].w));
  rows[1].assign(vec4(x.y, y.y, z.y, rows[1].w));
  rows[2].assign(vec4(x.z, y.z, z.z, rows[2].w));
}

/** The rotation of a matrix, as `Matrix4.decompose` has it; zero if it flattens space. */
function rotationOf(rows: Rows): Node<'vec4'> {
  const q = vec4(0).toVar();
  const [x, y, z] = (['x', 'y', 'z'] as const).map((i) => column(rows, i).toVar());
  const size = vec3(length(x), length(y), length(z)).toVar();
  If(min(size.x, min(size.y, size.z)).greaterThan(0), () => {
    x.divAssign(select(dot(cross(x, y), z).lessThan(0), size.x.negate(), size.x));
    y.divAssign(size.y);
    z.divAssign(size.z);
    const squares = vec4(
      x.x.sub(y.y).sub(z.z),
      y.y.sub(x.x).sub(z.z),
      z.z.sub(x.x).sub(y.y),
      x.x.add(y.y).add(z.z),
    )
      .add(1)
      .toVar();
    const differences = vec3(y.z.sub(z.y), z.x.sub(x.z), x.y.sub(y.x)).toVar();
    const sums = vec3(x.y.add(y.x), x.z.add(z.x), y.z.add(z.y)).toVar();
    // All numbers of the quaternion, times the largest of them.
    If(squares.w.greaterThanEqual(1), () => {
      q.assign(vec4(differences, squares.w));
    })
      .ElseIf(squares.x.greaterThanEqual(squares.y).and(squares.x.greaterThanEqual(squares.z)), () => {
        q.assign(vec4(squares.x, sums.xy, differences.x));
      })
      .ElseIf(squares.y.greaterThanEqual(squares.z), () => {
        q.assign(vec4(sums.x, squares.y, sums.z, differences.y));
      })
      .Else(() => {
        q.assign(vec4(sums.yz, squares.z, differences.z));
      });
    q.assign(normalize(q));
  });
  return q;
}

/** Finds how a node has to turn so that its axis points at the target; the identity if there is no such turn. */
function turnToTarget(
  head: Node<'vec4'>,
  value: Node<'vec4'>,
  axis: Node<'vec3'>,
  rows: Rows,
  q: Node<'vec4'>,
): void {
  const direction = vec3(dot(rows[0].xyz, axis), dot(rows[1].xyz, axis), dot(rows[2].xyz, axis)).toVar();
  const target = value.xyz.sub(column(rows, 'w')).toVar();
  q.assign(IDENTITY());
  If(dot(direction, direction).greaterThan(0).and(dot(target, target).greaterThan(0)), () => {
    direction.assign(normalize(direction));
    // Half way between both: turning by twice the angle to there goes all the way, without a sine or an angle.
    const half = direction.add(normalize(target)).toVar();
    const size = length(half).toVar();
    If(size.lessThan(OPPOSITE), () => {
      const across = abs(direction.x).greaterThan(abs(direction.z));
      const side = select(
        across,
        vec3(direction.y.negate(), direction.x, 0),
        vec3(0, direction.z.negate(), direction.y),
      ).toVar();
      q.assign(vec4(normalize(side), 0));
    }).Else(() => {
      half.divAssign(size);
      q.assign(vec4(cross(direction, half), dot(direction, half)));
    });
    const cosine = numberOf(head, EDIT_COSINE).toVar();
    If(q.w.lessThan(cosine), () => {
      q.assign(vec4(normalize(q.xyz).mul(numberOf(value, EDIT_SINE)), cosine));
    });
  });
}
