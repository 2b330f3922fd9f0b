import type { AnimationClip } from 'three';
import { AFFINE_SIZE } from '../constants.js';
import { type Rig, TRS_SIZE } from '../poses/Rig.js';
import { composeModel, mixMorphs, mixPose } from '../tracks/mixPose.js';
import {
  NODE_ENTRIES,
  type PoseTracks,
  TRACK_ABSENT,
  TRACK_CONSTANT,
  TRACK_STEP,
  type TrackClip,
} from '../tracks/PoseTracks.js';
import { multiplyAffine } from '../utils/affine.js';
import { nodesAbove } from './nodesAbove.js';
import { invertedRest, PoseSampler } from './PoseSampler.js';
import { ClipReader, type StoredClip } from './storeClip.js';

/** Frames per second beyond which curves are not sampled, however far off they are. */
const MAX_FPS = 480;

/** A clip to store, and the name it gets. */
export interface NamedClip {
  clip: AnimationClip;
  name: string;
}

/** What storing clips as tracks needs to know of a character. */
export interface TrackOptions {
  /** Boxes of the vertices that follow each joint, at which errors are measured. */
  boxes: Float32Array;
  /** Of the character, in scene units. */
  size: number;
  /** Largest error of clips that cannot be stored as they are, as a share of `size`. */
  maxError: number;
  /** Whether clips move morph targets, which are then stored too. */
  morphs: boolean;
  /** How far a morph target at full influence moves a vertex at most, in scene units. */
  morphReach: number;
}

/**
 * Stores clips as keys on their own grids. Linear and stepped tracks whose keys stand on one grid are exact at any time;
 * others (splines, Euler angles, keys at odd times) are sampled ever more finely until `maxError` holds.
 */
export function* bakeTracks(
  rig: Rig,
  clips: readonly NamedClip[],
  options: TrackOptions,
): Generator<number, PoseTracks, void> {
  const reader = new ClipReader(rig, options.size, options.morphs);
  const nodes = new TrackNodes(rig, options.morphs);
  const stored: StoredClip[] = [];
  for (const [i, named] of clips.entries()) {
    let one = reader.store(named.clip);
    if (one === null) {
      const sampler = new PoseSampler(rig);
      for (let fps = reader.firstRate(named.clip); ; fps *= 2) {
        one = reader.store(named.clip, fps) as StoredClip;
        one.error = errorOf(rig, nodes, named, one, sampler, options);
        if (one.error <= options.maxError || fps * 2 > MAX_FPS) break;
        yield i / clips.length;
      }
    }
    stored.push(one);
    yield (i + 1) / clips.length;
  }
  return nodes.pack(clips, stored);
}

/** The nodes that joints hang on, and the packing of clips over them. */
class TrackNodes {
  /** Index of each node of the rig among those that are kept; -1 for others. */
  private readonly place: Int32Array;
  private readonly kept: number[] = [];

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

  private placeOf(node: number): number {
    const { rig, kept, place } = this;
    return node < rig.parents.length ? place[node] : kept.length + node - rig.parents.length;
  }

  pack(clips: readonly NamedClip[], stored: readonly StoredClip[]): PoseTracks {
    const { kept } = this;
    const entries = kept.length + this.morphRest.length / 4;
    const table = new Uint32Array(clips.length * entries * NODE_ENTRIES).fill(TRACK_ABSENT);
    const constants = new Map<string, number>();
    const constantValues: number[] = [];
    let texels = 0;
    for (const { channels } of stored) {
      for (const { values } of channels) {
        if (values.length > 4) continue;
        const key = values.join();
        if (constants.has(key)) continue;
        constants.set(key, texels++);
        constantValues.push(...values);
      }
    }

    const made: TrackClip[] = [];
    stored.forEach(({ fps, frames, error, additive, channels }, clip) => {
      const moving = channels.filter(({ values }) => values.length > 4);
      for (const channel of channels) {
        const entry = (clip * entries + this.placeOf(channel.node)) * NODE_ENTRIES + channel.property;
        table[entry] =
          channel.values.length > 4
            ? (texels + moving.indexOf(channel) + (channel.stepped ? TRACK_STEP : 0)) >>> 0
            : ((constants.get(channel.values.join()) as number) | TRACK_CONSTANT) >>> 0;
      }
      made.push({
        name: clips[clip].name,
        duration: clips[clip].clip.duration,
        fps,
        frames,
        stride: moving.length,
        error,
        additive,
      });
      texels += frames * moving.length;
    });

    const keys = new Float32Array(texels * 4);
    keys.set(constantValues);
    let at = constantValues.length;
    for (const { frames, channels } of stored) {
      const moving = channels.filter(({ values }) => values.length > 4);
      for (let frame = 0; frame < frames; frame++) {
        for (const { values } of moving) {
          for (let i = 0; i < 4; i++) keys[at++] = values[frame * 4 + i];
        }
      }
    }
    return { ...this.describe(), keys, table, clips: made };
  }

  private describe(): Pick<
    PoseTracks,
    'parents' | 'rest' | 'fixed' | 'before' | 'jointNodes' | 'inverses' | 'morphRest'
  > {
    const { rig, kept, place } = this;
    const rest = new Float64Array(kept.length * TRS_SIZE);
    const fixed = new Float64Array(kept.length * AFFINE_SIZE).fill(Number.NaN);
    kept.forEach((node, i) => {
      rest.set(rig.rest.subarray(node * TRS_SIZE, (node + 1) * TRS_SIZE), i * TRS_SIZE);
      if (node !== 0 && rig.fixed[node] === 1) {
        fixed.set(rig.restLocal.subarray(node * AFFINE_SIZE, (node + 1) * AFFINE_SIZE), i * AFFINE_SIZE);
      }
    });
    const before = invertedRest(rig);
    return {
      parents: Int32Array.from(kept, (node) => (node === 0 ? -1 : place[rig.parents[node]])),
      rest,
      fixed,
      before,
      morphRest: this.morphRest,
      inverses: rig.jointInverses.slice(),
      jointNodes: Int32Array.from(rig.jointNodes, (node) => place[node]),
    };
  }
}

/** How far stored keys put the corners of the joints' boxes from where the clip's own tracks do, between frames. */
function errorOf(
  rig: Rig,
  nodes: TrackNodes,
  named: NamedClip,
  stored: StoredClip,
  sampler: PoseSampler,
  { boxes, size, morphReach }: TrackOptions,
): number {
  const tracks = nodes.pack([named], [stored]);
  const joints = rig.jointNames.length;
  const trs = new Float64Array(tracks.rest.length);
  const model = new Float64Array(tracks.parents.length * AFFINE_SIZE);
  const actual = new Float64Array(AFFINE_SIZE);
  const expected = new Float64Array(joints * AFFINE_SIZE);
  const actions = [{ clip: 0, frame: 0, weight: 1 }];
  const layers = [{ actions, weight: 1, mask: null }];
  const influences = new Float64Array(tracks.morphRest.length);
  sampler.setClip(named.clip);
  let worst = 0;
  for (let half = 0; half < (stored.frames - 1) * 2; half++) {
    // In the middle of each frame, where a straight line is farthest from a curve, and near its ends, where jumps are.
    actions[0].frame = (half >> 1) + (half & 1 ? 0.98 : 0.5);
    sampler.sample(actions[0].frame / stored.fps, expected);
    mixMorphs(tracks, layers, influences);
    sampler.influences.forEach((influence, i) => {
      if (i < influences.length) worst = Math.max(worst, Math.abs(influence - influences[i]) * morphReach);
    });
    mixPose(tracks, layers, trs);
    composeModel(tracks, trs, model);
    for (let joint = 0; joint < joints; joint++) {
      if (boxes[joint * 6] > boxes[joint * 6 + 3]) continue;
      multiplyAffine(
        model,
        tracks.jointNodes[joint] * AFFINE_SIZE,
        rig.jointInverses,
        joint * AFFINE_SIZE,
        actual,
        0,
      );
      worst = Math.max(worst, cornersApart(actual, expected, joint, boxes));
    }
  }
  return worst / size;
}

function cornersApart(a: Float64Array, b: Float64Array, joint: number, boxes: Float32Array): number {
  const m = joint * AFFINE_SIZE;
  let worst = 0;
  for (let corner = 0; corner < 8; corner++) {
    const x = boxes[joint * 6 + (corner & 1) * 3];
    const y = boxes[joint * 6 + 1 + ((corner >> 1) & 1) * 3];
    const z = boxes[joint * 6 + 2 + (corner >> 2) * 3];
    let square = 0;
    for (let row = 0; row < 12; row += 4) {
      const apart =
        (a[row] - b[m + row]) * x +
        (a[row + 1] - b[m + row + 1]) * y +
        (a[row + 2] - b[m + row + 2]) * z +
        a[row + 3] -
        b[m + row + 3];
      square += apart * apart;
    }
    worst = Math.max(worst, square);
  }
  return Math.sqrt(worst);
}
