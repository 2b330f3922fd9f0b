import { AFFINE_SIZE } from '../constants.js';
import { runAll } from '../utils/slices.js';
import type { JointBoxes } from './jointBoxes.js';
import {
  NODE_ENTRIES,
  type PoseTracks,
  RANGES,
  TRACK_ABSENT,
  TRACK_CONSTANT,
  TRACK_STEP,
  TRACK_TEXEL,
  type TrackClip,
} from './PoseTracks.js';
import { TRS_SIZE } from './Rig.js';

/** Texels in a row of the texture; a power of two that every device has room for. */
export const TRACK_ROW = 2048;

/** Keys a frame of what bodies have in place of a translation: with one, soles between two are over 1 % of the height below the ground. */
export const OWN_KEYS = 2;

/** Texels in a row of the texture with keys of 16 bits; a power of two. */
export const SHORT_ROW = 256;
/** Numbers of 16 bits in a row: eight to a texel of four 32-bit numbers. */
export const SHORTS_PER_ROW = SHORT_ROW * 8;

/** Table entries are texel addresses times this; the remainder says how the track's frames are read. */
export const ENTRY_STEP = 4;
export const ENTRY_CONSTANT = 1;
export const ENTRY_STEPPED = 2;
/** Table entry for a property that a clip has no track for. */
export const ENTRY_ABSENT = -1;

/** Texels, or keys of 16 bits, that there may be: table entries are floats, and exact up to 2^24. */
export const MAX_TRACK_TEXELS = 2 ** 22;

/** How many texels the tracks take, or keys of 16 bits if there are more of those. */
export function trackSize(tracks: PoseTracks): number {
  const texels = trackLayout(tracks).keys + tracks.keys.length / 4;
  return Math.max(texels, (tracks.shorts?.length ?? 0) / 4);
}

/**
 * Texels of a node: one for its parent, where its fixed matrix is, how many nodes are before it in its segment of a chain, and how many
 * joints there are in all; then its rotation, translation and scale at rest.
 */
export const NODE_TEXELS = 4;
/**
 * Texels of a joint, in the order of a palette's columns: one that says at which texel its chain begins, how many nodes are in it, which
 * node the joint is itself, and its number; then three for the rows of its inverse bind matrix.
 */
export const JOINT_TEXELS = 4;
/** Nodes in a texel of a chain. A chain is all nodes whose local matrices make up a joint's: the root first, the joint last. */
export const CHAIN_NODES = 4;
/**
 * Nodes of a long chain that are multiplied with each other, before joints multiply what these segments came to: so a joint of a
 * rope of 200 multiplies 16 and 13 matrices at most, not 200.
 */
export const SEGMENT_NODES = 16;
/** Chains with more nodes are long. Below, one more step costs more than it saves. */
const LONG_CHAIN = 2 * SEGMENT_NODES;

/** Where the parts of pose tracks begin among their texels. First of all come `PoseTracks.before` and the fixed matrices. */
export function trackLayout({ parents, fixed, jointNodes, morphRest, clips }: PoseTracks) {
  const entries = parents.length + morphRest.length / 4;
  let nodes = 3;
  for (let node = 0; node < parents.length; node++) if (!Number.isNaN(fixed[node * AFFINE_SIZE])) nodes += 3;
  const joints = nodes + entries * NODE_TEXELS;
  const chains = joints + jointNodes.length * JOINT_TEXELS;
  let first = chains;
  let hasLongChains = false;
  for (const node of jointNodes) {
    const length = chainLength(parents, node);
    hasLongChains ||= length > LONG_CHAIN;
    first += Math.ceil(length / CHAIN_NODES);
  }
  const table = first + clips.length;
  const slots = table + clips.length * entries;
  const keys = clips.reduce((sum, clip) => sum + slotTexels(clip), slots);
  return { nodes, joints, chains, clips: first, table, slots, keys, hasLongChains };
}

/** Texels for where the frames of a clip lie in time. */
const slotTexels = ({ slots }: TrackClip): number => Math.ceil((slots?.length ?? 0) / 4);

/** Nodes from the root to a node, itself among them. */
function chainLength(parents: Int32Array, node: number): number {
  let length = 0;
  for (let at = node; at !== -1; at = parents[at]) length++;
  return length;
}

/** Entries of the table, or hundreds of keys, that are written between two steps. */
const STEP = 1024;

/**
 * For each joint its column of a palette. First come those that vertices follow, so that rows need not hold the others; without tracks
 * there are no palettes, and each has its own number.
 */
export function columnsOf(tracks: PoseTracks | null, boxes: JointBoxes): number[] {
  const columns: number[] = [];
  let next = 0;
  for (const free of [false, true]) {
    for (let at = 0; at < boxes.length; at += 6)
      if ((tracks !== null && boxes[at] > boxes[at + 3]) === free) columns[at / 6] = next++;
  }
  return columns;
}

/** Writes pose tracks as texels: matrices, nodes, joints, chains, clips, table and keys, one after another. */
export function trackTexels(tracks: PoseTracks, boxes: JointBoxes) {
  return runAll(trackTexelSteps(tracks, boxes));
}

/** {@link trackTexels}, step by step, so that a page can go on between them. */
export function* trackTexelSteps(
  tracks: PoseTracks,
  boxes: JointBoxes,
): Generator<number, { texels: Float32Array; height: number; layout: ReturnType<typeof trackLayout> }, void> {
  const { parents, rest, fixed, before, jointNodes, inverses, morphRest, table, clips, keys, shorts } =
    tracks;
  const entries = parents.length + morphRest.length / 4;
  const matrices: number[] = [...before];
  const matrixOf = (node: number): number => {
    const at = node * AFFINE_SIZE;
    if (Number.isNaN(fixed[at])) return -1;
    matrices.push(...fixed.subarray(at, at + AFFINE_SIZE));
    return matrices.length / 4 - 3;
  };
  const fixedAt = Array.from(parents, (_, node) => matrixOf(node));

  const layout = trackLayout(tracks);
  const height = Math.ceil((layout.keys + keys.length / 4) / TRACK_ROW);
  const texels = new Float32Array(height * TRACK_ROW * 4);
  yield 0;

  texels.set(matrices);
  for (let node = 0; node < parents.length; node++) {
    const above = (chainLength(parents, node) - 1) % SEGMENT_NODES;
    const [x, y, z, ...turn] = rest.subarray(node * TRS_SIZE, (node + 1) * TRS_SIZE);
    const scale = turn.splice(4);
    const numbers = [parents[node], fixedAt[node], above, jointNodes.length, ...turn, x, y, z, 0, ...scale];
    texels.set(numbers, (layout.nodes + node * NODE_TEXELS) * 4);
  }
  for (let group = 0; group < morphRest.length / 4; group++) {
    // The texel in which a node has its translation at rest.
    const at = (layout.nodes + (parents.length + group) * NODE_TEXELS + 2) * 4;
    texels.set(morphRest.subarray(group * 4, group * 4 + 4), at);
  }
  let chain = layout.chains;
  const columns = columnsOf(tracks, boxes);
  for (let joint = 0; joint < jointNodes.length; joint++) {
    const at = (layout.joints + columns[joint] * JOINT_TEXELS) * 4;
    const length = chainLength(parents, jointNodes[joint]);
    const inverse = inverses.subarray(joint * AFFINE_SIZE, (joint + 1) * AFFINE_SIZE);
    texels.set([chain, length, jointNodes[joint], joint, ...inverse], at);
    for (let i = length, node = jointNodes[joint]; i-- > 0; node = parents[node])
      texels[chain * 4 + i] = node;
    chain += Math.ceil(length / CHAIN_NODES);
  }
  let slotsAt = layout.slots;
  clips.forEach((one, clip) => {
    const { stride, additive, slots } = one;
    const head = [layout.table + clip * entries, stride, additive ? 1 : 0, slots === null ? 0 : slotsAt];
    texels.set(head, (layout.clips + clip) * 4);
    if (slots !== null) texels.set(slots, slotsAt * 4);
    slotsAt += slotTexels(one);
  });
  for (let i = 0; i < table.length; i++) {
    if (i % STEP === 0) yield 0;
    const entry = table[i];
    const isFloat = shorts === null || (entry & TRACK_CONSTANT) !== 0;
    const flags = (entry & TRACK_CONSTANT ? ENTRY_CONSTANT : 0) + (entry & TRACK_STEP ? ENTRY_STEPPED : 0);
    texels[layout.table * 4 + i] =
      entry === TRACK_ABSENT
        ? ENTRY_ABSENT
        : ((isFloat ? layout.keys : 0) + (entry & TRACK_TEXEL)) * ENTRY_STEP + flags;
    if (i % NODE_ENTRIES === RANGES && entry !== TRACK_ABSENT)
      texels[layout.table * 4 + i] = layout.keys + entry;
  }
  for (let from = 0; from < keys.length; from += STEP * 100) {
    texels.set(keys.subarray(from, from + STEP * 100), layout.keys * 4 + from);
    yield 0;
  }
  return { texels, height, layout };
}
