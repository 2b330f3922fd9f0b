import type { BoneTexture } from '../../animation/BoneTexture.js';
import type { BakedClip, ClipReference } from '../../animation/ClipTable.js';
import type { Crowd } from '../../core/Crowd.js';
import type { CrowdFeature, FeaturedCrowd } from '../../core/CrowdFeature.js';
import type { SkinnedInstancedMesh } from '../../crowd/SkinnedInstancedMesh.js';
import { checkIndex, forEachInstance, type Instances } from '../../instances/instanceRange.js';
import { changeRate, FADING_OUT, hasBit } from '../../playback/actionNumbers.js';
import { MAX_ACTIONS } from '../../playback/instanceLayout.js';
import { valueFor } from '../../playback/PlayOptions.js';
import { resized, swapItems } from '../../utils/attributes.js';
import { checkFinite } from '../../utils/messages.js';

/** A clip, and the number at which it shows alone. */
export type BlendStop = readonly [clip: ClipReference, value: number];

/** An instance plays so many clips at once; one of them may be fading out. */
const MOST = MAX_ACTIONS - 1;
const FADE_END = 1;
/** Numbers of an instance. */
export const STRIDE = 2;

/** How instances begin with a blend. */
export interface BlendOptions {
  /** Seconds in which it fades in over what they play. @default 0 */
  fade?: number;
  /** How far into their length the clips are, 0 to 1; a function of the index lets instances be out of step with each other. @default 0 */
  phase?: number | ((index: number) => number);
  /** Whether instances begin anew that play the blend already. @default false */
  restart?: boolean;
}

/**
 * Blends clips by one number of each instance: idle, walk and run by speed. Between two stops both show, by how near the number is to
 * each, and all run in step: their lengths are brought together, so that feet meet the ground at the same time. Beyond the last stop its
 * clip runs faster in proportion.
 *
 * ```ts
 * const gait = new ClipBlend(crowd, [['Idle', 0], ['Walk', 1.4], ['Run', 4]]);
 * gait.play(crowd.all, { phase: Math.random });
 * // each frame, units a second
 * gait.setValues(speeds);
 * ```
 *
 * What is played otherwise takes its place, until `play` is called again. Needs encoding `'tracks'`.
 *
 * @category Play and blend
 */
export class ClipBlend implements CrowdFeature {
  protected clips: BakedClip[] = [];
  protected readonly at: number[];
  /** Of each instance its value, when the fade with which it has begun ends, and what else a class keeps; NaN for none. */
  protected numbers: Float64Array;

  /**
   * @param stops Two or three, by increasing value.
   * @throws If the crowd has a blend already, a clip is not there, or there are more or fewer stops, or their values do not increase.
   */
  constructor(
    protected readonly crowd: SkinnedInstancedMesh,
    protected readonly stops: readonly BlendStop[],
  ) {
    const values = stops.map(([, value]) => value);
    if (
      stops.length < 2 ||
      stops.length > MOST ||
      values.some((value, i) => !(value > (values[i - 1] ?? -Infinity)))
    )
      throw new Error(
        `The values of the blend's stops are ${values.join(', ')}; use two or three that increase.`,
      );
    crowd.playback.checkMixes('A blend');
    this.at = values;
    this.numbers = new Float64Array(crowd.capacity * this.stride).fill(NaN);
    this.boneTextureReplaced();
    crowd.use(this);
  }

  /** Lets instances play the blend, by the values that they have. Those that play it already go on, whatever the `phase`. */
  play(instances: Instances, { fade = 0, phase = 0, restart = false }: BlendOptions = {}): this {
    const { crowd, clips } = this;
    const [layer] = crowd.playback.layers;
    forEachInstance(instances, crowd.visibility, (index) => {
      const share = valueFor(phase, index);
      checkFinite(share, 'phase');
      if (!restart && this.isPlayingAt(index)) return;
      // In the middle of another fade there is no room for what fades out.
      layer.endFades(index, crowd.playback.time.timeOf(index));
      const seconds = layer.count(index) + clips.length > MAX_ACTIONS ? 0 : fade;
      clips.forEach((clip, stop) => {
        // The first takes the place of what plays, the others join it.
        const weight = stop === 0 ? undefined : 0;
        const time = share * clip.duration;
        crowd.play(index, clip.name, { fade: weight ?? seconds, weight, time, restart: true });
      });
      this.numbers[index * this.stride + FADE_END] = crowd.elapsed + seconds;
      this.write(index);
    });
    return this;
  }

  /** The number of an instance; where it does not play the blend, for when it does. */
  setValueAt(index: number, value: number): this {
    checkIndex(index, this.crowd.visibility);
    checkFinite(value, 'value');
    this.set(index, value);
    return this;
  }

  /** The number of an instance; 0 if it was given none. */
  getValueAt(index: number): number {
    checkIndex(index, this.crowd.visibility);
    return this.valueFor(index);
  }

  /** The numbers of the first instances, in the order of their ids. Only those that have changed cost anything. */
  setValues(values: ArrayLike<number>): this {
    const end = Math.min(values.length, this.crowd.count);
    for (let index = 0; index < end; index++) this.set(index, values[index]);
    return this;
  }

  /** Whether an instance plays the blend, and nothing else has taken its place. */
  isPlayingAt(index: number): boolean {
    checkIndex(index, this.crowd.visibility);
    const [layer] = this.crowd.playback.layers;
    return this.clips.every(({ start }) => {
      const place = layer.find(index, start);
      return place >= 0 && !hasBit(layer.actions(place), layer.at(index), FADING_OUT);
    });
  }

  resize(capacity: number): void {
    this.numbers = resized(this.numbers, capacity * this.stride, NaN);
  }

  swap(i: number, j: number): void {
    swapItems(this.numbers, i, j, this.stride);
  }

  reset(index: number): void {
    this.numbers.fill(NaN, index * this.stride, (index + 1) * this.stride);
  }

  copy({ numbers }: ClipBlend): void {
    this.numbers.set(numbers.subarray(0, this.numbers.length));
  }

  cloneFor(crowd: FeaturedCrowd): ClipBlend {
    return new ClipBlend((crowd as Crowd).mesh as SkinnedInstancedMesh, this.stops);
  }

  /** @throws If it has not all clips. */
  checkBoneTexture(boneTexture: BoneTexture): void {
    for (const [clip] of this.stops) boneTexture.clipIndex(clip);
  }

  /** Finds the clips anew, by name. */
  boneTextureReplaced(): void {
    const { clipTable } = this.crowd.boneTexture;
    this.clips = this.stops.map(([clip]) => clipTable.find(clip));
  }

  /** Instances go on playing as they do. */
  dispose(): void {
    this.crowd.crowd.drop(this);
  }

  protected get stride(): number {
    return STRIDE;
  }

  protected valueFor(index: number): number {
    return this.numbers[index * this.stride] || 0;
  }

  protected set(index: number, value: number): void {
    if (this.valueFor(index) === value) return;
    this.numbers[index * this.stride] = value;
    if (this.isPlayingAt(index)) this.write(index);
  }

  /** Seconds that the clip of a stop takes where `share` of the one after `stop` shows. */
  protected lengthOf(_of: number, stop: number, share: number): number {
    return this.clips[stop].duration * (1 - share) + this.clips[stop + 1].duration * share;
  }

  /** Writes weights and speeds of an instance that plays the clips. */
  private write(index: number): void {
    const { at, clips, crowd } = this;
    const { playback } = crowd;
    const [layer] = playback.layers;
    const now = playback.time.timeOf(index);
    const value = this.valueFor(index);
    let stop = 0;
    while (stop < at.length - 2 && value >= at[stop + 1]) stop++;
    const share = Math.min(Math.max((value - at[stop]) / (at[stop + 1] - at[stop]), 0), 1);
    const last = at[at.length - 1];
    const faster = last > 0 ? Math.max(value / last, 1) : 1;
    const fade = Math.max(this.numbers[index * this.stride + FADE_END] - now || 0, 0);
    if (!playback.isPaused(index)) layer.settle(index, now);
    clips.forEach(({ start, count }, i) => {
      const weight = i === stop ? 1 - share : i === stop + 1 ? share : 0;
      layer.changeWeight(index, now, start, weight, fade);
      // In each clip the same share of its length passes in a second.
      const length = this.lengthOf(i, stop, share);
      const rate = length > 0 ? ((count - 1) / length) * faster : 0;
      changeRate(layer.actions(layer.find(index, start)), layer.at(index), now, rate);
    });
    playback.texels.changed(index);
    playback.observer?.retimed(index, false);
  }
}
