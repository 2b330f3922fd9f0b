import { composeNode, STILL } from '../character/collectRig.js';
import { AFFINE_SIZE } from '../constants.js';
import { type Rig, TRS_SIZE } from '../poses/Rig.js';
import {
  NODE_ENTRIES,
  type PoseTracks,
  TRACK_ABSENT,
  TRACK_CONSTANT,
  TRACK_STEP,
  TRACK_TREMBLES,
  type TrackClip,
} from '../tracks/PoseTracks.js';
import type { Steps } from '../utils/steps.js';
import type { StoredClip } from './ClipReader.js';
import { type Channel, trembles } from './channels.js';
import { invertedRest, nodesAbove } from './PoseSampler.js';
import type { PlannedClip } from './planClips.js';

/** A node of pose tracks, before it is packed. */
interface PackedNode {
  /** Index among the rig's nodes; -1 for a node that stands for a pivot. */
  node: number;
  /** Index among the packed nodes, or -1. */
  parent: number;
  /** Its local matrix, 12 numbers, if no clip moves it; else null. */
  fixed: ArrayLike<number> | null;
}

/** Packs stored clips of one character into tracks. */
export class TrackPacker {
  /** Joints, and the nodes above them. */
  private readonly nodes: PackedNode[] = [];
  /** Index of each node of the rig among `nodes`; -1 for those that are left out. */
  private readonly place: Int32Array;
  private readonly morphRest: Float64Array;

  constructor(
    private readonly rig: Rig,
    morphs: boolean,
  ) {
    this.morphRest = new Float64Array(morphs ? Math.ceil(rig.morphRest.length / 4) * 4 : 0);
    if (morphs) this.morphRest.set(rig.morphRest);
    this.place = new Int32Array(rig.parents.length).fill(-1);
    // The packed node that the children of each node of the rig hang on.
    const ends = this.place.slice();
    nodesAbove(rig.parents, rig.jointNodes).forEach((needed, node) => {
      if (needed === 0) return;
      const parent = node === 0 ? -1 : ends[rig.parents[node]];
      const fixed = rig.fixed[node] === 1 ? this.fixedMatrix(node) : null;
      const pivot = fixed === null ? rig.pivots.get(node) : undefined;
      if (pivot === undefined) {
        ends[node] = this.place[node] = this.add({ node, parent, fixed });
        return;
      }
      // A node that turns about a pivot is one that turns about its origin between two that move everything there and back.
      const [x, y, z] = pivot;
      const there = this.add({ node: -1, parent, fixed: [1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z] });
      this.place[node] = this.add({ node, parent: there, fixed: null });
      const back = [1, 0, 0, -x, 0, 1, 0, -y, 0, 0, 1, -z];
      ends[node] = this.add({ node: -1, parent: this.place[node], fixed: back });
    });
  }

  /** @param named The clips, in the order of `stored`. */
  *pack(
    named: readonly Pick<PlannedClip, 'clip' | 'name'>[],
    stored: readonly StoredClip[],
  ): Steps<PoseTracks> {
    const entries = this.nodes.length + this.morphRest.length / 4;
    const table = new Uint32Array(stored.length * entries * NODE_ENTRIES).fill(TRACK_ABSENT);
    const constants = new Constants();
    const moving: Channel[][] = stored.map(() => []);
    // Most constants are those that the same property has in the clip before.
    const before = new Int32Array(entries * NODE_ENTRIES).fill(-1);
    for (const [clip, { channels }] of stored.entries()) {
      for (const channel of channels) {
        if (!channel.isConstant) {
          moving[clip].push(channel);
          continue;
        }
        const entry = this.entryOf(channel.node, channel.property);
        before[entry] = constants.add(channel.values, channel.size, before[entry]);
        const bits = TRACK_CONSTANT | (trembles(channel) ? TRACK_TREMBLES : 0);
        table[clip * before.length + entry] = (before[entry] | bits) >>> 0;
      }
      yield 0;
    }

    const clips: TrackClip[] = [];
    let texels = constants.count;
    stored.forEach(({ fps, frames, error, additive }, clip) => {
      moving[clip].forEach(({ node, property, stepped }, i) => {
        const entry = clip * entries * NODE_ENTRIES + this.entryOf(node, property);
        table[entry] = (texels + i + (stepped ? TRACK_STEP : 0)) >>> 0;
      });
      const { name } = named[clip];
      const { duration } = named[clip].clip;
      clips.push({ name, duration, fps, frames, stride: moving[clip].length, error, additive });
      texels += frames * moving[clip].length;
    });

    const keys = new Float32Array(texels * 4);
    keys.set(constants.values);
    let at = constants.count * 4;
    for (const [clip, { frames }] of stored.entries()) {
      // Frame by frame, so that shaders find the tracks of one frame next to each other.
      const stride = moving[clip].length * 4;
      for (const { values, size } of moving[clip]) {
        const length = frames * size;
        for (let from = 0, to = at; from < length; from += size, to += stride) {
          keys[to] = values[from];
          keys[to + 1] = values[from + 1];
          keys[to + 2] = values[from + 2];
          if (size === 4) keys[to + 3] = values[from + 3];
        }
        at += 4;
      }
      at += (frames - 1) * stride;
      yield 0;
    }
    return { ...this.packNodes(), keys, shorts: null, table, clips };
  }

  private fixedMatrix(node: number): ArrayLike<number> {
    const { rest, pivots, restLocal } = this.rig;
    if (node !== 0) return restLocal.subarray(node * AFFINE_SIZE, (node + 1) * AFFINE_SIZE);
    // The root's own transform is no part of the poses: `PoseTracks.before` takes it back.
    const matrix = new Float64Array(AFFINE_SIZE);
    composeNode(rest, 0, pivots, matrix, 0);
    return matrix;
  }

  private add(node: PackedNode): number {
    return this.nodes.push(node) - 1;
  }

  /** Where a property of one of the rig's nodes, or a group of morph targets, is in a clip's part of the table. */
  private entryOf(node: number, property: number): number {
    const { rig, nodes, place } = this;
    const count = rig.parents.length;
    return (node < count ? place[node] : nodes.length + node - count) * NODE_ENTRIES + property;
  }

  private packNodes(): Omit<PoseTracks, 'keys' | 'shorts' | 'table' | 'clips'> {
    const { rig, nodes, place } = this;
    const rest = new Float64Array(nodes.length * TRS_SIZE);
    const fixedMatrices = new Float64Array(nodes.length * AFFINE_SIZE).fill(Number.NaN);
    nodes.forEach(({ node, fixed }, i) => {
      const trs = node === -1 ? STILL : rig.rest.subarray(node * TRS_SIZE, (node + 1) * TRS_SIZE);
      rest.set(trs, i * TRS_SIZE);
      if (fixed !== null) fixedMatrices.set(fixed, i * AFFINE_SIZE);
    });
    return {
      names: nodes.map(({ node }) => (node === -1 ? '' : rig.names[node])),
      parents: Int32Array.from(nodes, ({ parent }) => parent),
      rest,
      fixed: fixedMatrices,
      before: invertedRest(rig),
      morphRest: this.morphRest,
      inverses: this.packInverses(),
      jointNodes: Int32Array.from(rig.jointNodes, (node) => place[node]),
    };
  }

  /** A joint with a pivot ends before the node that moves everything back, so that what clips move is the joint's own node. */
  private packInverses(): Float64Array {
    const { jointNodes, jointInverses, pivots, fixed } = this.rig;
    const inverses = jointInverses.slice();
    jointNodes.forEach((node, joint) => {
      const pivot = fixed[node] === 1 ? undefined : pivots.get(node);
      pivot?.forEach((value, row) => {
        inverses[joint * AFFINE_SIZE + row * 4 + 3] -= value;
      });
    });
    return inverses;
  }
}

/** Texels of values that do not change, each of which is stored once. */
class Constants {
  readonly values: number[] = [];
  /** The texel that was added last of those with the same hash. */
  private readonly latest = new Map<number, number>();
  /** For each texel the one before it with the same hash, or -1. */
  private readonly before: number[] = [];
  private readonly texel = new Float32Array(4);
  private readonly bits = new Int32Array(this.texel.buffer);

  get count(): number {
    return this.before.length;
  }

  /**
   * Index of the texel that holds a value.
   *
   * @param size How many numbers the value has.
   * @param likely A texel that may well be the one, or -1.
   */
  add(value: ArrayLike<number>, size: number, likely: number): number {
    const { values, latest, before, texel, bits } = this;
    if (likely !== -1 && isSame(value, size, values, likely * 4)) return likely;
    // Adding zero makes the negative zero a positive one, which has other bits.
    for (let i = 0; i < 4; i++) texel[i] = i < size ? value[i] + 0 : 0;
    let hash = 0;
    for (let i = 0; i < 4; i++) hash = Math.imul(hash ^ bits[i] ^ (bits[i] >>> 15), 0x5bd1e995);
    // Small enough for JavaScript engines to handle it as an integer.
    hash >>>= 2;
    const newest = latest.get(hash) ?? -1;
    for (let index = newest; index !== -1; index = before[index]) {
      if (isSame(texel, 4, values, index * 4)) return index;
    }
    values.push(texel[0], texel[1], texel[2], texel[3]);
    latest.set(hash, this.count);
    return before.push(newest) - 1;
  }
}

/** Whether a value of three or four numbers is the texel at a place of an array. */
function isSame(a: ArrayLike<number>, size: number, b: readonly number[], at: number): boolean {
  const last = size === 4 ? a[3] : 0;
  return a[0] === b[at] && a[1] === b[at + 1] && a[2] === b[at + 2] && last === b[at + 3];
}
