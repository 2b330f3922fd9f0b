import {
  AdditiveAnimationBlendMode,
  type AnimationClip,
  InterpolateDiscrete,
  InterpolateLinear,
  type KeyframeTrack,
  NormalAnimationBlendMode,
} from 'three';
import { type Rig, TRS_SIZE } from '../poses/Rig.js';
import { ROTATION, SCALE, TRANSLATION } from '../tracks/PoseTracks.js';
import {
  type BoundTrack,
  type BoundTracks,
  bindTracks,
  type TrackTarget,
  TrackTargets,
} from './bindTracks.js';
import { findKeyGrid } from './keyGrid.js';
import { nodesAbove } from './nodesAbove.js';

/** What tracks of a property are called, and where it lies among a node's ten numbers. */
const PROPERTIES: Record<string, { property: number; offset: number; size: number }> = {
  quaternion: { property: ROTATION, offset: 3, size: 4 },
  rotation: { property: ROTATION, offset: 3, size: 4 },
  position: { property: TRANSLATION, offset: 0, size: 3 },
  scale: { property: SCALE, offset: 7, size: 3 },
};

/**
 * By how much values may differ and still count as one: a few steps of float32 at 1. Exporters write joints that stand still
 * with the noise of their arithmetic. Positions are taken relative to the character's size.
 */
const STILL = 3e-7;

/** Frames per second at which clips whose tracks are curved, or whose keys stand on no grid, are first sampled. */
const FIRST_FPS = 30;

/** A property of a node that a clip has tracks for, and its value in every frame. */
export interface StoredChannel {
  /** Index among the rig's nodes; behind them come groups of four morph targets. */
  node: number;
  property: number;
  stepped: boolean;
  /** Four numbers a frame; of one frame only if it never changes. */
  values: Float32Array;
}

/** A clip as it will be stored. */
export interface StoredClip {
  fps: number;
  frames: number;
  /** See `TrackClip`. */
  error: number;
  additive: boolean;
  channels: StoredChannel[];
  bound: BoundTracks;
}

/** Reads the clips of one character into channels. */
export class ClipReader {
  private readonly trs: Float64Array;
  private readonly influences: Float64Array;
  private readonly targets: TrackTargets;
  private readonly needed: Uint8Array;

  /**
   * @param size Of the character, in scene units.
   * @param morphs Whether morph targets are read too.
   */
  constructor(
    private readonly rig: Rig,
    private readonly size: number,
    private readonly morphs: boolean,
  ) {
    this.trs = rig.rest.slice();
    this.influences = rig.morphRest.slice();
    this.targets = new TrackTargets(rig);
    this.needed = nodesAbove(rig.parents, rig.jointNodes);
  }

  /**
   * The clip's keys on their own grid, or sampled at `fps`.
   *
   * @returns Null if the clip has a grid no frame rate holds, or curves, and no `fps` was given.
   */
  store(clip: AnimationClip, fps?: number): StoredClip | null {
    const additive = clip.blendMode === AdditiveAnimationBlendMode;
    this.trs.set(this.rig.rest);
    this.influences.set(this.rig.morphRest);
    const bound = bindTracks(this.rig, withPlainBlendMode(clip), this.trs, this.influences, this.targets);
    const { channels, moving, curved } = this.channelsOf(clip);
    const grid = fps ?? (curved ? null : findKeyGrid(keyTimes(moving, clip.duration)));
    if (grid === null) return null;

    const frames = grid === 0 ? 1 : Math.max(1, Math.round(clip.duration * grid)) + 1;
    for (const channel of channels) channel.values = new Float32Array(frames * 4);
    const timeOf = (frame: number) => (frames === 1 ? 0 : (frame / (frames - 1)) * clip.duration + KEY_SLACK);
    const slow = this.copyKeys(clip, bound, channels, frames, timeOf);
    for (let frame = 0; frame < (slow.size > 0 ? frames : 0); frame++) {
      for (const track of bound.tracks) if (track.apply !== null) evaluate(track, timeOf(frame));
      for (const track of bound.morphs) evaluate(track, timeOf(frame));
      for (const channel of slow) this.readChannel(channel, frame);
    }
    for (const channel of channels) {
      const tolerance = STILL * (channel.property === TRANSLATION ? this.size : 1);
      if (isStill(channel.values, 4, tolerance)) channel.values = channel.values.slice(0, 4);
    }
    const rate = clip.duration === 0 ? 0 : (frames - 1) / clip.duration;
    return { fps: rate, frames, error: 0, additive, channels, bound };
  }

  /**
   * Fills the channels of tracks that are all a property has: keys as they are where each frame has one, else what the track's
   * own interpolant makes of them.
   *
   * @returns The channels that are left: those whose tracks hold a part of a property, an angle, or influences.
   */
  private copyKeys(
    clip: AnimationClip,
    bound: BoundTracks,
    channels: readonly StoredChannel[],
    frames: number,
    timeOf: (frame: number) => number,
  ): Set<StoredChannel> {
    const left = new Set(channels);
    const byPlace = new Map(channels.map((channel) => [channel.node * 4 + channel.property, channel]));
    const direct = new Map(
      bound.tracks.filter(({ apply }) => apply === null).map((track) => [track.track, track]),
    );
    for (const track of clip.tracks) {
      const target = this.targets.find(track.name);
      const place = PROPERTIES[target.property];
      const channel = place && byPlace.get(target.node * 4 + place.property);
      if (channel === undefined || place === undefined) continue;
      const one = direct.get(track);
      const { values } = channel;
      if (one === undefined) {
        // A track of one value throughout, which binding has set already.
        if (!bound.tracks.some((other) => other.track === track)) {
          for (let frame = 0; frame < frames; frame++) this.readChannel(channel, frame);
          left.delete(channel);
        }
        continue;
      }
      left.delete(channel);
      if (track.times.length === frames && interpolationOf(track) !== undefined && frames > 1) {
        const from = track.values;
        for (let frame = 0; frame < frames; frame++) {
          for (let i = 0; i < place.size; i++) values[frame * 4 + i] = from[frame * place.size + i];
        }
        continue;
      }
      const result = one.interpolant.resultBuffer as Float64Array;
      for (let frame = 0; frame < frames; frame++) {
        one.interpolant.evaluate(timeOf(frame));
        for (let i = 0; i < place.size; i++) values[frame * 4 + i] = result[i];
      }
    }
    return left;
  }

  private readChannel({ node, property, values }: StoredChannel, frame: number): void {
    const group = node - this.rig.parents.length;
    if (group >= 0) {
      for (let i = 0; i < 4; i++) values[frame * 4 + i] = this.influences[group * 4 + i] ?? 0;
      return;
    }
    const at = node * TRS_SIZE + OFFSET_OF[property];
    const size = property === ROTATION ? 4 : 3;
    for (let i = 0; i < size; i++) values[frame * 4 + i] = this.trs[at + i];
  }

  /** The rate at which a clip without a grid is first sampled. */
  firstRate(clip: AnimationClip): number {
    const { moving } = this.channelsOf(clip);
    return findKeyGrid(keyTimes(moving, clip.duration)) || FIRST_FPS;
  }

  private channelsOf(clip: AnimationClip): {
    channels: StoredChannel[];
    moving: KeyframeTrack[];
    curved: boolean;
  } {
    const found = new Map<number, StoredChannel>();
    const moving: KeyframeTrack[] = [];
    let curved = false;
    const channelOf = (node: number, property: number): StoredChannel => {
      const key = node * 4 + property;
      let channel = found.get(key);
      if (channel === undefined) {
        channel = { node, property, stepped: false, values: NO_VALUES };
        found.set(key, channel);
      }
      return channel;
    };
    for (const track of clip.tracks) {
      const target = this.targets.find(track.name);
      const groups = this.morphs ? morphGroups(this.rig, target) : [];
      for (const group of groups) channelOf(this.rig.parents.length + group, TRANSLATION);
      if (groups.length > 0) {
        if (isStill(track.values, track.getValueSize(), 0)) continue;
        moving.push(track);
        // Groups hold targets of several tracks, which need not all jump.
        if (interpolationOf(track) !== InterpolateLinear) curved = true;
        continue;
      }
      const place = PROPERTIES[target.property];
      if (place === undefined || target.node === -1 || !this.needed[target.node]) continue;
      const channel = channelOf(target.node, place.property);
      if (isStill(track.values, track.getValueSize(), 0)) continue;
      moving.push(track);
      const interpolation = interpolationOf(track);
      const whole = target.component === undefined && target.property !== 'rotation';
      if (interpolation === InterpolateDiscrete && whole) channel.stepped = true;
      // A part of a vector is as straight as the whole; an angle is not.
      else if (interpolation !== InterpolateLinear || target.property === 'rotation') curved = true;
    }
    return { channels: [...found.values()], moving, curved };
  }
}

const NO_VALUES = /*@__PURE__*/ new Float32Array(0);
/** Seconds: a key that is rounded to just behind its frame must not be missed by a track that jumps there. */
const KEY_SLACK = 1e-7;
const OFFSET_OF = [3, 0, 7];

function evaluate({ interpolant, apply }: BoundTrack, time: number): void {
  interpolant.evaluate(time);
  apply?.();
}

/** Groups of four among the rig's morph targets that a track writes to. */
function morphGroups(rig: Rig, { node, property, component }: TrackTarget): number[] {
  if (property !== 'morphTargetInfluences' || node === -1) return [];
  const part = rig.parts.find((candidate) => candidate.node === node);
  if (part === undefined || part.morphOffset < 0) return [];
  const index = component === undefined ? 0 : (part.morphIndices[component] ?? Number(component));
  const first = part.morphOffset + index;
  const last = component === undefined ? first + part.morphCount - 1 : first;
  return Array.from({ length: (last >> 2) - (first >> 2) + 1 }, (_, i) => (first >> 2) + i);
}

/** Additive clips hold deltas, which are stored as they are: `bindTracks` would add them to the rest pose. */
function withPlainBlendMode(clip: AnimationClip): AnimationClip {
  if (clip.blendMode !== AdditiveAnimationBlendMode) return clip;
  return Object.create(clip, { blendMode: { value: NormalAnimationBlendMode } }) as AnimationClip;
}

/** Undefined for what loaders put in the place of three.js's own. */
function interpolationOf(track: KeyframeTrack): number | undefined {
  return (track as unknown as { getInterpolation(): number | undefined }).getInterpolation();
}

function* keyTimes(tracks: readonly KeyframeTrack[], duration: number): Generator<number> {
  if (tracks.length === 0) return;
  yield duration;
  for (const { times } of tracks) yield* times;
}

function isStill(values: ArrayLike<number>, size: number, tolerance: number): boolean {
  for (let i = size; i < values.length; i++) {
    if (Math.abs(values[i] - values[i % size]) > tolerance) return false;
  }
  return true;
}
