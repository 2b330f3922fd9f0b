import { bool, float, If, int, Loop, min, select, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { CHAIN_NODES, JOINT_TEXELS, SEGMENT_NODES } from '../lib/animation/trackTexels.js';
import type { InstanceTexture } from '../lib/instances/InstanceTexture.js';
import type { bodyNodes } from './bodies.tsl.js';
import { mixTracks } from './mixTracks.tsl.js';
import { mixActions, type PlayedTexels } from './playedActions.tsl.js';
import type { TrackTexelNodes } from './trackTexel.tsl.js';
import {
  assignRows,
  componentsOf,
  composeRows,
  inverseRows,
  multiplyRows,
  type Rows,
  rowsOf,
  zeroRows,
} from './tsl.js';

/** What a pose is made of. */
export interface PoseSize {
  /** Nodes that joints hang on. */
  nodes: Node<'int'>;
  joints: Node<'int'>;
  /** What the last step computes of an instance. */
  columns: Node<'int'>;
  /** Whether there are groups of four morph targets besides. */
  morphs: boolean;
}

type BodyNodes = ReturnType<typeof bodyNodes>;

/** Nodes for what edits poses, see `PoseEditor`, which come with that. All but the first build on the current stack. */
export interface PoseEditNodes {
  /** Lets them read the `PoseEditor.textures` of the crowd that is posed. */
  use(textures: readonly InstanceTexture[]): void;
  /** Changes the local transform of a node: variables for rotation, position and scale. */
  editLocals(instance: Node<'int'>, node: Node<'int'>, transform: readonly Node<'vec4'>[]): void;
  /**
   * Gives a function that changes the rows of a node's matrix relative to the root. It is called for the nodes of a chain from
   * the root down.
   */
  modelEdits(instance: Node<'int'>): (node: Node<'int'>, rows: Rows) => void;
}

/**
 * @param textures Those of one of the crowds.
 * @param nodes How many a pose has.
 */
export type CreatePoseEditNodes = (
  textures: readonly InstanceTexture[],
  clock: Node<'float'>,
  nodes: Node<'int'>,
) => PoseEditNodes;

/**
 * The first step of the pass, for each entry of each instance: samples and mixes what plays. The rows are the node's local
 * matrix; of a group of morph targets, the first row is what clips add to their influences. Twin of `sampleStepGLSL`.
 * Builds on the current stack.
 */
export function sampleStep(
  tracks: TrackTexelNodes,
  played: PlayedTexels,
  { nodes, morphs }: PoseSize,
  edits: PoseEditNodes | null,
  bodies: BodyNodes | null,
): (instance: Node<'int'>, entry: Node<'int'>) => Rows {
  const { texel, matrixRows, entryTexel } = tracks;
  const mixOf = mixTracks(tracks);
  return (instance, entry) => {
    const rows = zeroRows();
    const head = entryTexel(entry).toVar();
    const isNode = (morphs ? entry.lessThan(nodes) : bool(true)).toVar();
    const fixedAt = int(select(isNode, texel(head).y, -1)).toVar();
    If(fixedAt.greaterThanEqual(0), () => {
      assignRows(rows, matrixRows(fixedAt));
    }).Else(() => {
      const [rotation, translation, scale] = mixActions(instance, entry, played, mixOf);
      If(isNode, () => {
        bodies?.fit(instance, entry, translation);
        edits?.editLocals(instance, entry, [rotation, translation, scale]);
        assignRows(rows, composeRows(rotation, translation, scale));
      }).Else(() => {
        // Less those at rest, which three.js adds itself.
        rows[0].assign(translation.sub(texel(head.add(2))));
      });
    });
    return rows;
  };
}

/**
 * A step between the two where chains are long and no pose is edited, for each entry of each instance: the local matrices of the
 * node's segment down to it. Twin of `segmentStepGLSL`. Builds on the current stack.
 */
export function segmentStep(
  { texel, entryTexel }: TrackTexelNodes,
  { nodes }: PoseSize,
): (entry: Node<'int'>, entryRows: (entry: Node<'int'>) => Rows) => Rows {
  return (entry, entryRows) => {
    const rows = entryRows(entry);
    If(entry.lessThan(nodes), () => {
      const head = texel(entryTexel(entry)).toVar();
      Loop(int(head.z).toVar(), () => {
        const parent = int(head.x).toVar();
        assignRows(rows, multiplyRows(entryRows(parent), rows));
        head.assign(texel(entryTexel(parent)));
      });
    });
    return rows;
  };
}

/**
 * The second step, for each column of each instance, which are its joints, then groups of four morph targets, and one more: the
 * instance's matrix times the joint's skinning matrix; or a copy of the influences; or the inverse of the instance's matrix. Twin of
 * `composeStepGLSL`. Builds on the current stack.
 *
 * @param segments Whether `segmentStep` came before.
 * @param placeOf The columns of an instance's matrix.
 */
export function composeStep(
  { starts, texel, matrixRows }: TrackTexelNodes,
  { nodes, joints, columns, morphs }: PoseSize,
  edits: PoseEditNodes | null,
  bodies: BodyNodes | null,
  segments: boolean,
  placeOf: (instance: Node<'int'>) => readonly Node<'vec4'>[],
): (instance: Node<'int'>, column: Node<'int'>, entryRows: (entry: Node<'int'>) => Rows) => Rows {
  // The local matrices from the root down to the joint, then its inverse bind matrix.
  const jointRows = (
    instance: Node<'int'>,
    joint: Node<'int'>,
    localRows: (node: Node<'int'>) => Rows,
  ): Rows => {
    const head = starts.y.add(joint.mul(JOINT_TEXELS)).toVar();
    const chain = texel(head).toVar();
    const first = int(chain.x).toVar();
    const chained = vec4(0).toVar();
    const rows = matrixRows(int(0));
    const inverse = () => bodies?.inverse(instance, joint) ?? matrixRows(head.add(1).toVar());
    if (segments) {
      Loop(
        int(chain.y)
          .add(SEGMENT_NODES - 1)
          .div(SEGMENT_NODES),
        ({ i }) => {
          const end = float(i.mul(SEGMENT_NODES).add(SEGMENT_NODES - 1));
          const last = int(min(end, chain.y.sub(1))).toVar();
          chained.assign(texel(first.add(last.shiftRight(Math.log2(CHAIN_NODES)))));
          const node = int(componentsOf(chained).element(last.bitAnd(CHAIN_NODES - 1))).toVar();
          assignRows(rows, multiplyRows(rows, localRows(node)));
        },
      );
      return multiplyRows(rows, inverse());
    }
    const edit = edits?.modelEdits(instance);
    Loop(int(chain.y), ({ i }) => {
      If(i.bitAnd(CHAIN_NODES - 1).equal(0), () => {
        chained.assign(texel(first.add(i.shiftRight(Math.log2(CHAIN_NODES)))));
      }).Else(() => {
        chained.assign(chained.yzwx);
      });
      const node = int(chained.x).toVar();
      assignRows(rows, multiplyRows(rows, localRows(node)));
      edit?.(node, rows);
    });
    return multiplyRows(rows, inverse());
  };

  return (instance, column, entryRows) => {
    const rows = zeroRows();
    If(column.equal(columns.sub(1)), () => {
      assignRows(rows, inverseRows(rowsOf(placeOf(instance))));
    }).Else(() => {
      // The instance's matrix last: so far from the origin, as three.js's own bones, nothing is lost that is small.
      const place = () => {
        const skinning = jointRows(instance, column, entryRows);
        assignRows(rows, multiplyRows(rowsOf(placeOf(instance)), skinning));
      };
      if (!morphs) place();
      else {
        If(column.lessThan(joints), place).Else(() => {
          rows[0].assign(entryRows(column.add(nodes).sub(joints).toVar())[0]);
        });
      }
    });
    return rows;
  };
}
