import { bool, floor, If, int, Loop, max, min, select, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { CHAIN_NODES, JOINT_TEXELS } from '../lib/animation/trackTexels.js';
import { CLOCK_EPOCH } from '../lib/constants.js';
import type { InstanceTexture } from '../lib/instances/InstanceTexture.js';
import { HEADER_CHANGED, HEADER_EPOCH, HEADER_PHASE, HEADER_RATE } from '../lib/playback/instanceLayout.js';
import { mixTracks } from './mixTracks.tsl.js';
import { mixActions, type PlayedTexels, playedTexel } from './playedActions.tsl.js';
import type { TrackTexelNodes } from './trackTexel.tsl.js';
import { assignRows, componentsOf, composeRows, multiplyRows, type Rows, zeroRows } from './tsl.js';

/** What a pose is made of. */
export interface PoseSize {
  /** Nodes that joints hang on. */
  nodes: Node<'int'>;
  joints: Node<'int'>;
  /** Whether there are groups of four morph targets besides. */
  morphs: boolean;
}

/** Nodes for what edits poses, see `PoseEditor`, which come with that. All but the first build on the current stack. */
export interface PoseEditNodes {
  /** Lets them read the `PoseEditor.textures` of the crowd that is posed. */
  use(textures: readonly InstanceTexture[]): void;
  /** Whether an instance was changed since a time of the clock. */
  editedSince(instance: Node<'int'>, time: Node<'float'>): Node<'bool'>;
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

/** When instances were posed last. */
export interface PosedNodes {
  /** Seconds of the clock. */
  lastClock: Node<'float'>;
  /** How many instances have a pose from then; none if all of them are due. */
  posedCount: Node<'int'>;
}

/** What stands before an instance's actions. Builds on the current stack. */
function headerOf(
  instance: Node<'int'>,
  { actions, clock, layers }: PlayedTexels,
): Record<Header, Node<'float'>> {
  const { first, row } = playedTexel(instance, layers);
  const header = componentsOf(actions.rowTexels(first, row, 1)[0].toVar());
  const at = (place: number) => header.element(int(place)).toVar();
  // In seconds of the present epoch.
  const changed = at(HEADER_CHANGED).sub(clock.y.sub(at(HEADER_EPOCH)).mul(CLOCK_EPOCH));
  return { changed, rate: at(HEADER_RATE), phase: at(HEADER_PHASE) };
}

type Header = 'changed' | 'rate' | 'phase';

/** Whether a pose of a rate was due between two times of the clock; at a rate of 0 there is one in every frame. */
const isTime = (
  rate: Node<'float'>,
  phase: Node<'float'>,
  from: Node<'float'>,
  to: Node<'float'>,
): Node<'bool'> => {
  const posesBy = (time: Node<'float'>) => floor(time.mul(rate).add(phase));
  return rate.equal(0).or(posesBy(to).notEqual(posesBy(from)));
};

/**
 * Whether an instance has changed since it was last posed, or it is time for its next pose. Builds on the current stack.
 */
export function isDue(
  instance: Node<'int'>,
  played: PlayedTexels,
  { lastClock, posedCount }: PosedNodes,
  edits: PoseEditNodes | null,
): Node<'bool'> {
  const due = instance.greaterThanEqual(posedCount).toVar();
  If(due.not(), () => {
    const { changed, rate, phase } = headerOf(instance, played);
    due.assign(changed.greaterThanEqual(lastClock).or(isTime(rate, phase, lastClock, played.clock.x)));
    if (edits !== null) due.assign(due.or(edits.editedSince(instance, lastClock)));
  });
  return due;
}

/** When one instance was last posed. */
export interface PosedAtNodes {
  /** Seconds of the clock. */
  clock: Node<'float'>;
  /** Whether the clock has gone on from there. */
  isKnown: Node<'bool'>;
}

/**
 * `isDue` where each instance has a time at which it was last posed, maybe in this frame. Twin of `ActionTexels.isDue`. Builds on
 * the current stack.
 *
 * @param levelRate Poses a second at the level of detail at which it is drawn; the lower of both rates holds.
 */
export function isStale(
  instance: Node<'int'>,
  played: PlayedTexels,
  { clock: posedAt, isKnown }: PosedAtNodes,
  edits: PoseEditNodes | null,
  levelRate: Node<'float'> | null = null,
): Node<'bool'> {
  const clock = played.clock.x;
  const stale = isKnown.not().toVar();
  If(stale.not(), () => {
    const { changed, rate: own, phase } = headerOf(instance, played);
    const rate = (levelRate === null ? own : lowerRate(own, levelRate)).toVar();
    // Another camera may have had it posed in this frame.
    const isLate = clock.notEqual(posedAt).and(isTime(rate, phase, posedAt, clock));
    stale.assign(changed.greaterThanEqual(posedAt).or(isLate));
    if (edits !== null) stale.assign(stale.or(edits.editedSince(instance, posedAt)));
  });
  return stale;
}

/** The lower of two rates, of which 0 is that of the frames. */
const lowerRate = (own: Node<'float'>, other: Node<'float'>): Node<'float'> =>
  select(own.greaterThan(0).and(other.greaterThan(0)), min(own, other), max(own, other));

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
 * The second step, for each column of each instance, which are its joints, then groups of four morph targets: a joint's
 * skinning matrix, or a copy of the influences. Twin of `composeStepGLSL`. Builds on the current stack.
 */
export function composeStep(
  { starts, texel, matrixRows }: TrackTexelNodes,
  { nodes, joints, morphs }: PoseSize,
  edits: PoseEditNodes | null,
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
    return multiplyRows(rows, matrixRows(head.add(1).toVar()));
  };

  return (instance, column, entryRows) => {
    if (!morphs) return jointRows(instance, column, entryRows);
    const rows = zeroRows();
    If(column.lessThan(joints), () => {
      assignRows(rows, jointRows(instance, column, entryRows));
    }).Else(() => {
      rows[0].assign(entryRows(column.add(nodes).sub(joints).toVar())[0]);
    });
    return rows;
  };
}
