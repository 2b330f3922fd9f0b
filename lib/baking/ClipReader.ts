import { AdditiveAnimationBlendMode, type AnimationClip, type KeyframeTrack, Quaternion } from 'three';
import { type Rig, TRS_SIZE } from '../poses/Rig.js';
import { PROPERTY_OFFSETS } from '../tracks/mixPose.js';
import { ROTATION, TRANSLATION } from '../tracks/PoseTracks.js';
import { MAX_TRACK_TEXELS } from '../tracks/trackTexels.js';
import type { Steps } from '../utils/steps.js';
import { bindTracks, interpolantOf } from './bindTracks.js';
import { type Channel, type ClipChannels, channelsOf, repeats } from './channels.js';
import { findKeyGrid, LOOSE_TOLERANCE } from './keyGrid.js';
import { nodesAbove } from './PoseSampler.js';
import { type TrackTargets, trackTargetsOf } from './trackTargets.js';
import { SkippedTracks } from './trackWarnings.js';

/**
 * Values that differ by less count as the same: a few steps of float32 at 1. Exporters write joints that stand still with the
 * rounding errors of their arithmetic. For positions, multiplied by the character's size.
 */
const STILL_EPSILON = 3e-7;

/** Seconds by which tracks are read late, so that a key whose time was rounded up is not missed by a track that jumps. */
const KEY_SLACK = 1e-7;

/** Frames per second at which clips that have to be sampled are sampled first. */
const FIRST_FPS = 30;

/** Numbers of keys that are copied between two steps. */
const NUMBERS = 4096;

/** Frames that are sampled between two steps. */
const FRAMES = 8;

/** Texels of channels that are sampled before it is known which of them move, for each one that a texture may have. */
const SPARE = 4;

const _value = /*@__PURE__*/ new Quaternion();
const _rest = /*@__PURE__*/ new Quaternion();

/** A clip as it will be stored. */
export interface StoredClip {
  fps: number;
  frames: number;
  /** See `TrackClip`. */
  error: number;
  additive: boolean;
  channels: Channel[];
  /** The way that was taken out of its poses, see `BakedClip.rootMotion`; null if none was. */
  rootMotion: Float32Array | null;
}

/** Reads the clips of one character into channels. */
export class ClipReader {
  /** Tracks that could not be read. */
  readonly skipped: SkippedTracks;
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
    this.skipped = new SkippedTracks(rig);
    this.trs = rig.rest.slice();
    this.influences = rig.morphRest.slice();
    this.targets = trackTargetsOf(rig);
    this.needed = nodesAbove(rig.parents, rig.jointNodes);
  }

  /** The clip's keys as they are; null if it has to be sampled, since it has curves or its keys fit no frame rate. */
  *store(clip: AnimationClip): Steps<StoredClip | null> {
    const content = this.read(clip);
    const fps = content.curved ? null : findKeyGrid(keyTimes(content.moving, clip.duration));
    return fps === null ? null : yield* this.fill(clip, content, fps);
  }

  /** The clip, sampled at a frame rate; null if that is more than any texture holds. */
  *sample(clip: AnimationClip, fps: number): Steps<StoredClip | null> {
    return yield* this.fill(clip, this.read(clip), fps);
  }

  /** The frame rate at which a clip that has to be sampled is sampled first. */
  firstRate(clip: AnimationClip): number {
    return findKeyGrid(keyTimes(this.read(clip).moving, clip.duration), LOOSE_TOLERANCE) || FIRST_FPS;
  }

  private read(clip: AnimationClip): ClipChannels {
    return channelsOf(clip.tracks, this.rig, this.targets, this.needed, this.morphs);
  }

  private *fill(
    clip: AnimationClip,
    { channels, others }: ClipChannels,
    fps: number,
  ): Steps<StoredClip | null> {
    const { duration } = clip;
    const frames = fps === 0 ? 1 : Math.max(1, Math.round(duration * fps)) + 1;
    const step = frames === 1 ? 0 : duration / (frames - 1);
    // Which channels move is known once their values are read: keys that differ by no more than rounding take no room.
    const most = MAX_TRACK_TEXELS / frames;
    if (most < 1 && channels.some(({ isConstant }) => !isConstant)) return null;
    let moving = 0;
    let numbers = 0;
    for (const channel of channels) {
      if (channel.track === null) continue;
      const { times, values } = channel.track;
      channel.values = values;
      // What lies between keys that are the same is the same too.
      if (frames === 1) channel.isConstant = true;
      else if (!channel.isConstant) this.findConstant(channel);
      if (!channel.isConstant && ++moving > most) return null;
      if (!channel.isConstant && !isEveryFrame(times, frames, step))
        channel.values = sampledKeys(channel.track, channel.size, frames, step);
      numbers += values.length;
      if (numbers < NUMBERS) continue;
      numbers = 0;
      yield 0;
    }
    const open = channels.filter(({ track }) => track === null);
    if (open.length > SPARE * most) return null;
    const additive = clip.blendMode === AdditiveAnimationBlendMode;
    yield* this.sampleOthers(clip, open, others, frames, step, additive);
    if (moving + open.filter(({ isConstant }) => !isConstant).length > most) return null;
    const rate = duration === 0 ? 0 : (frames - 1) / duration;
    return { fps: rate, frames, error: 0, additive, channels, rootMotion: null };
  }

  /** Fills the channels whose tracks are splines or hold a part of a property, an angle, or influences. */
  private *sampleOthers(
    clip: AnimationClip,
    open: readonly Channel[],
    others: KeyframeTrack[],
    frames: number,
    step: number,
    additive: boolean,
  ): Steps<void> {
    if (others.length === 0) return;
    const { rig, trs, influences } = this;
    trs.set(rig.rest);
    influences.set(rig.morphRest);
    const content: AnimationClip = Object.create(clip, { tracks: { value: others } });
    const bound = bindTracks(rig, content, trs, influences, this.targets);
    this.skipped.add(bound);

    const sampled = open.map(({ size }) => new Float32Array(frames * size));
    const tracks = [...bound.tracks, ...bound.morphs];
    for (let frame = 0; frame < (open.length === 0 ? 0 : frames); frame++) {
      if (frame % FRAMES === 0) yield 0;
      for (const { interpolant, apply } of tracks) {
        interpolant.evaluate(frame * step + KEY_SLACK);
        apply?.();
      }
      open.forEach((channel, i) => {
        this.readChannel(channel, additive, sampled[i], frame * channel.size);
      });
    }
    open.forEach((channel, i) => {
      channel.values = sampled[i];
      this.findConstant(channel);
    });
  }

  /** Finds whether a channel that has a value in every frame never changes. */
  findConstant(channel: Channel): void {
    channel.isConstant = repeats(channel.values, channel.size, this.toleranceOf(channel));
  }

  /** Of additive clips, tracks hold by how much a property differs from the rest pose. */
  private readChannel(
    { node, property, size }: Channel,
    additive: boolean,
    out: Float32Array,
    to: number,
  ): void {
    const { rig, trs, influences } = this;
    const group = node - rig.parents.length;
    const from = group < 0 ? node * TRS_SIZE + PROPERTY_OFFSETS[property] : group * 4;
    const source = group < 0 ? trs : influences;
    const rest = group < 0 ? rig.rest : rig.morphRest;
    if (additive && property === ROTATION) {
      _value.fromArray(source, from).premultiply(_rest.fromArray(rest, from).invert()).toArray(out, to);
      return;
    }
    for (let i = 0; i < size; i++)
      out[to + i] = (source[from + i] ?? 0) - (additive ? (rest[from + i] ?? 0) : 0);
  }

  private toleranceOf({ property }: Channel): number {
    return STILL_EPSILON * (property === TRANSLATION ? this.size : 1);
  }
}

/** The value of a track in every frame. */
function sampledKeys(track: KeyframeTrack, size: number, frames: number, step: number): Float32Array {
  const sampled = new Float32Array(frames * size);
  const value = new Float64Array(size);
  const interpolant = interpolantOf(track, value);
  for (let frame = 0; frame < frames; frame++) {
    interpolant.evaluate(frame * step + KEY_SLACK);
    sampled.set(value, frame * size);
  }
  return sampled;
}

/** Whether a track has one key on each frame of its clip. */
function isEveryFrame(times: ArrayLike<number>, frames: number, step: number): boolean {
  if (times.length !== frames) return false;
  for (let frame = 0; frame < frames; frame++) {
    if (!(Math.abs(times[frame] - frame * step) < step / 2)) return false;
  }
  return true;
}

/** The key times of tracks and the end of their clip. Tracks often share one array of times. */
function keyTimes(tracks: readonly KeyframeTrack[], duration: number): number[] {
  if (tracks.length === 0) return [];
  const times = [duration];
  for (const array of new Set(tracks.map((track) => track.times))) for (const time of array) times.push(time);
  return times;
}
