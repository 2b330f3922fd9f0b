import { AFFINE_SIZE } from '../constants.js';
import { type Rig, TRS_SIZE } from '../poses/Rig.js';
import {
  NODE_ENTRIES,
  type PoseTracks,
  TRACK_ABSENT,
  TRACK_CONSTANT,
  TRACK_STEP,
  type TrackClip,
} from '../tracks/PoseTracks.js';
import type { StoredClip } from './ClipReader.js';
import { nodesAbove } from './nodesAbove.js';
import { invertedRest } from './PoseSampler.js';
import type { PlannedClip } from './planClips.js';

/** Packs stored clips of one character into tracks. */
export class TrackPacker {
  /** Nodes of the rig that are kept: joints, and what is above them. */
  private readonly kept: number[] = [];
  /** Index of each node of the rig among those that are kept; -1 for others. */
  private readonly place: Int32Array;
  private readonly morphRest: Float64Array;

  constructor(
    private readonly rig: Rig,
    morphs: boolean,
  ) {
    this.morphRest = new Float64Array(morphs ? Math.ceil(rig.morphRest.length / 4) * 4 : 0);
    if (morphs) this.morphRest.set(rig.morphRest);
    this.place = Int32Array.from(nodesAbove(rig.parents, rig.jointNodes), (needed, node) =>
      needed === 1 ? this.kept.push(node) - 1 : -1,
    );
  }

  /** @param named The clips, in the order of `stored`. */
  pack(named: readonly Pick<PlannedClip, 'clip' | 'name'>[], stored: readonly StoredClip[]): PoseTracks {
    const entries = this.kept.length + this.morphRest.length / 4;
    const table = new Uint32Array(stored.length * entries * NODE_ENTRIES).fill(TRACK_ABSENT);
    const constants = new Constants();
    const moving = stored.map(({ channels }) => channels.filter(({ isConstant }) => !isConstant));
    stored.forEach(({ channels }, clip) => {
      for (const { node, property, values, size, isConstant } of channels) {
        if (!isConstant) continue;
        const entry = clip * entries * NODE_ENTRIES + this.entryOf(node, property);
        table[entry] = (constants.add(values, size) | TRACK_CONSTANT) >>> 0;
      }
    });

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
    stored.forEach(({ frames }, clip) => {
      // Frame by frame, so that shaders find the tracks of one frame next to each other.
      const stride = moving[clip].length * 4;
      moving[clip].forEach(({ values, size }, i) => {
        for (let frame = 0; frame < frames; frame++) {
          const to = at + frame * stride + i * 4;
          for (let k = 0; k < size; k++) keys[to + k] = values[frame * size + k];
        }
      });
      at += frames * stride;
    });
    return { ...this.nodes(), keys, table, clips };
  }

  /** Where a property of one of the rig's nodes, or a group of morph targets, is in a clip's part of the table. */
  private entryOf(node: number, property: number): number {
    const { rig, kept, place } = this;
    const nodes = rig.parents.length;
    return (node < nodes ? place[node] : kept.length + node - nodes) * NODE_ENTRIES + property;
  }

  private nodes(): Omit<PoseTracks, 'keys' | 'table' | 'clips'> {
    const { rig, kept, place } = this;
    const rest = new Float64Array(kept.length * TRS_SIZE);
    const fixed = new Float64Array(kept.length * AFFINE_SIZE).fill(Number.NaN);
    kept.forEach((node, i) => {
      rest.set(rig.rest.subarray(node * TRS_SIZE, (node + 1) * TRS_SIZE), i * TRS_SIZE);
      if (node !== 0 && rig.fixed[node] === 1) {
        fixed.set(rig.restLocal.subarray(node * AFFINE_SIZE, (node + 1) * AFFINE_SIZE), i * AFFINE_SIZE);
      }
    });
    return {
      names: kept.map((node) => rig.names[node]),
      parents: Int32Array.from(kept, (node) => (node === 0 ? -1 : place[rig.parents[node]])),
      rest,
      fixed,
      before: invertedRest(rig),
      morphRest: this.morphRest,
      inverses: rig.jointInverses.slice(),
      jointNodes: Int32Array.from(rig.jointNodes, (node) => place[node]),
    };
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
   */
  add(value: ArrayLike<number>, size: number): number {
    const { values, latest, before, texel, bits } = this;
    // Adding zero makes the negative zero a positive one, which has other bits.
    for (let i = 0; i < 4; i++) texel[i] = i < size ? value[i] + 0 : 0;
    let hash = 0;
    for (let i = 0; i < 4; i++) hash = Math.imul(hash ^ bits[i] ^ (bits[i] >>> 15), 0x5bd1e995);
    // Small enough for JavaScript engines to handle it as an integer.
    hash >>>= 2;
    const newest = latest.get(hash) ?? -1;
    for (let index = newest; index !== -1; index = before[index]) {
      if (isSame(texel, values, index * 4)) return index;
    }
    values.push(texel[0], texel[1], texel[2], texel[3]);
    latest.set(hash, this.count);
    return before.push(newest) - 1;
  }
}

function isSame(a: Float32Array, b: readonly number[], at: number): boolean {
  return a[0] === b[at] && a[1] === b[at + 1] && a[2] === b[at + 2] && a[3] === b[at + 3];
}
