import { DataTexture, FloatType, RGBAFormat } from 'three';
import type { BoneTexture } from '../../animation/BoneTexture.js';
import type { BakedClip } from '../../animation/ClipTable.js';
import type { PoseTracks } from '../../animation/PoseTracks.js';
import { posedBounds } from '../../animation/posedBounds.js';
import { MIXED_POSES } from '../../constants.js';
import type { Crowd } from '../../core/Crowd.js';
import type { CrowdFeature, FeaturedCrowd } from '../../core/CrowdFeature.js';
import type { SkinnedInstancedMesh } from '../../crowd/SkinnedInstancedMesh.js';
import { checkIndex, forEachInstance, type Instances } from '../../instances/instanceRange.js';
import {
  type Actions,
  RAMP_RATE,
  RAMP_SIZE,
  RAMP_START,
  RAMP_TO,
  rampAt,
  rampDone,
  rampTo,
  setRamp,
} from '../../playback/actionNumbers.js';
import type { InstancePlayback } from '../../playback/InstancePlayback.js';
import { MASKS_PER_ROW, MAX_LAYERS } from '../../playback/instanceLayout.js';
import { BASE_LAYER, LayerActions } from '../../playback/LayerActions.js';
import { checkFade, checkWeight, type LayerReference } from '../../playback/PlayOptions.js';
import { swapItems } from '../../utils/attributes.js';
import { listNames } from '../../utils/messages.js';

/** A layer over what instances play: its clips lie over those of the layers before it, on the joints of its mask. */
export interface LayerOptions {
  /** By which `play` knows it. */
  name: string;
  /** Where it shows; without it everywhere. */
  mask?: LayerMask;
  /** Whether it adds what it plays to what lies below it: additive clips, see `AnimationUtils.makeClipAdditive`. @default false */
  additive?: boolean;
  /** Whether it moves morph targets. @default true without a mask, else false */
  morphTargets?: boolean;
  /** How much of it shows on instances to begin with, 0 to 1, see {@link AnimationLayers.setWeightAt}. @default 1 */
  weight?: number;
}

/**
 * Layers over what instances play, up to four, each over those before it. Clips are played on them by the crowd's own `play`,
 * `stop`, `setWeightAt`, `setTimeAt` and so on, which take a `layer`. They need encoding `'tracks'`.
 *
 * ```ts
 * const layers = new AnimationLayers(crowd, [{ name: 'upper', mask: ['Spine'] }]);
 * crowd.playAll('Walk').play(0, 'Wave', { layer: 'upper', fade: 0.2 });
 * layers.setWeightAt(0, 'upper', 0.5, { fade: 1 });
 * ```
 *
 * @category Play and blend
 */
export class AnimationLayers implements CrowdFeature {
  /** @internal */
  readonly posedBounds: typeof posedBounds = posedBounds;
  private readonly crowd: Crowd;
  private options: readonly LayerOptions[];
  private over: readonly MaskedLayer[] = [];
  /** Of which the masks are, and their texture. */
  private tracks: PoseTracks | null = null;
  private texture: DataTexture | null = null;

  /**
   * @throws If the crowd has some already, these are too many, have the same name or a weight out of range, a mask names what
   * the character lacks, or the bone texture's encoding is not `'tracks'`.
   *
   * @example
   * ```ts
   * new AnimationLayers(crowd, [
   *   { name: 'upper', mask: ['Spine'] }, // with all that hangs on it
   *   { name: 'lean', additive: true, weight: 0 }, // for clips of AnimationUtils.makeClipAdditive
   * ]);
   * crowd.playAll('Lean', { layer: 'lean' });
   * ```
   */
  constructor(mesh: SkinnedInstancedMesh, layers: readonly LayerOptions[]) {
    const { crowd } = mesh;
    checkLayers(layers);
    masksOf(layers, crowd.boneTexture.data.tracks);
    if (crowd.written?.plays) crowd.written.refuse();
    this.crowd = crowd;
    this.options = layers;
    crowd.use(this);
    this.renew();
  }

  /**
   * Changes how much of a layer instances show: what it leaves is what lies below it. It holds for whatever is played there.
   *
   * @param layer Its name, or its number, counted from 1.
   * @param weight 0 to 1.
   * @param options In `fade` seconds, 0 by default.
   * @throws If there is no such instance or layer, or a number is out of range.
   */
  setWeightAt(
    instances: Instances,
    layer: LayerReference,
    weight: number,
    { fade = 0 }: { fade?: number } = {},
  ): this {
    const { playback, visibility } = this.crowd;
    checkWeight(weight);
    checkFade(fade);
    const over = this.layerOf(layer);
    forEachInstance(instances, visibility, (index) => {
      over.setShare(index, playback.time.timeOf(index), weight, fade);
      playback.texels.changed(index);
    });
    return this;
  }

  /** How much of a layer an instance shows, 0 to 1, of the base 1; in the middle of a fade what it has come to. */
  getWeightAt(index: number, layer: LayerReference): number {
    const { playback, visibility } = this.crowd;
    checkIndex(index, visibility);
    const { share } = playback.layers[playback.layerIndex(layer)];
    return share?.shareAt(index, playback.time.timeOf(index)) ?? 1;
  }

  /**
   * How much of each layer shows on each node, and behind the nodes on each group of four morph targets: an RGBA texel for
   * each, `MASKS_PER_ROW` in a row. Another texture with another bone texture.
   */
  get masks(): DataTexture {
    this.refresh();
    if (this.texture === null) {
      const entries = this.over[0]?.shares.length ?? 0;
      const height = Math.max(1, Math.ceil(entries / MASKS_PER_ROW));
      const data = new Float32Array(MASKS_PER_ROW * height * 4);
      this.over.forEach(({ shares }, layer) => {
        for (let entry = 0; entry < entries; entry++) data[entry * 4 + layer] = shares[entry];
      });
      this.texture = new DataTexture(data, MASKS_PER_ROW, height, RGBAFormat, FloatType);
      this.texture.needsUpdate = true;
    }
    return this.texture;
  }

  /** Looks at masks anew where the character has become another. @internal */
  refresh(): void {
    const { tracks } = this.crowd.boneTexture.data;
    if (this.tracks === tracks) return;
    this.dropTexture();
    const masks = masksOf(this.options, tracks);
    this.tracks = tracks;
    this.over.forEach((layer, i) => {
      layer.shares = masks[i];
    });
  }

  checkBoneTexture({ data }: BoneTexture): void {
    masksOf(this.options, data.tracks);
  }

  reset(index: number): void {
    for (const layer of this.over) layer.reset(index);
    this.crowd.playback.texels.changed(index);
  }

  copy(source: AnimationLayers): void {
    if (source.options !== this.options) {
      this.options = source.options;
      this.renew();
    }
    this.over.forEach((layer, i) => {
      layer.copy(source.over[i]);
    });
    this.crowd.playback.writeAll();
  }

  cloneFor(crowd: FeaturedCrowd): AnimationLayers {
    return new AnimationLayers((crowd as Crowd).mesh as unknown as SkinnedInstancedMesh, this.options);
  }

  /** Ends the layers, with what is played on them. */
  dispose(): void {
    this.crowd.drop(this);
    this.layOver([], null);
    this.dropTexture();
  }

  private renew(): void {
    const { crowd } = this;
    this.tracks = null;
    this.over = this.options.map((options) => new MaskedLayer(crowd.capacity, options, this, crowd));
    this.layOver(this.over, this);
  }

  private layOver(layers: readonly LayerActions[], over: InstancePlayback['over']): void {
    const { crowd } = this;
    const { playback } = crowd;
    playback.layers = [playback.layers[0], ...layers];
    playback.over = over;
    playback.replaceTexels();
    for (let i = 0; i < crowd.capacity; i++) playback.observer?.started(i);
    for (const { bounds } of crowd.members) bounds.drop();
  }

  private dropTexture(): void {
    this.texture?.dispose();
    this.texture = null;
  }

  /** @throws If there is no such layer, or it is the base. */
  private layerOf(layer: LayerReference): MaskedLayer {
    const number = this.crowd.playback.layerIndex(layer);
    if (number > 0) return this.over[number - 1];
    throw new Error(
      'The base layer has no weight of its own, all others lie over it; call setWeightAt of the crowd for its clips.',
    );
  }
}

/** A layer over the base. Each instance shows so much of it as a ramp says. */
class MaskedLayer extends LayerActions {
  override readonly share: NonNullable<LayerActions['share']> = this;
  /** How much of it shows on each node, and behind them on each group of morph targets. */
  shares: Float32Array = new Float32Array(0);
  ramps: Actions;

  constructor(
    capacity: number,
    private readonly options: LayerOptions,
    private readonly layers: AnimationLayers,
    private readonly crowd: Crowd,
  ) {
    super(capacity, options.name);
    this.ramps = this.createRamps(capacity);
  }

  get additive(): boolean {
    return this.options.additive === true;
  }

  get mask(): Float32Array {
    this.layers.refresh();
    return this.shares;
  }

  /** As much as it shows on the first joint. */
  get motionShare(): number {
    const { tracks } = this.crowd.boneTexture.data;
    return tracks === null ? 1 : this.mask[tracks.jointNodes[0]];
  }

  /** One that is not additive would replace what an additive layer is to add to. */
  takes(clip: BakedClip): boolean {
    return !this.additive || this.crowd.boneTexture.data.tracks?.clips[clip.start - 1].additive === true;
  }

  shareAt(index: number, time: number): number {
    return rampAt(this.ramps, index * RAMP_SIZE, time);
  }

  setShare(index: number, time: number, weight: number, fade: number): void {
    rampTo(this.ramps, index * RAMP_SIZE, time, weight, fade);
  }

  override isFading(index: number): boolean {
    return this.ramps[index * RAMP_SIZE + RAMP_RATE] !== 0 || super.isFading(index);
  }

  override endFades(index: number, time: number): boolean {
    const at = index * RAMP_SIZE;
    const ended = super.endFades(index, time);
    if (this.ramps[at + RAMP_RATE] === 0 || rampDone(this.ramps, at, time) < 1) return ended;
    setRamp(this.ramps, at, this.ramps[at + RAMP_TO]);
    return true;
  }

  override delay(index: number, seconds: number): void {
    super.delay(index, seconds);
    this.ramps[index * RAMP_SIZE + RAMP_START] += seconds;
  }

  override reset(index: number): void {
    super.reset(index);
    this.setShare(index, 0, this.options.weight ?? 1, 0);
  }

  override resize(capacity: number): void {
    super.resize(capacity);
    const { ramps } = this;
    this.ramps = this.createRamps(capacity);
    this.ramps.set(ramps.subarray(0, capacity * RAMP_SIZE));
  }

  override swap(i: number, j: number): void {
    super.swap(i, j);
    swapItems(this.ramps, i, j, RAMP_SIZE);
  }

  override copy(source: MaskedLayer): void {
    super.copy(source);
    this.ramps.set(source.ramps.subarray(0, this.ramps.length));
  }

  private createRamps(capacity: number): Float64Array {
    const ramps = new Float64Array(capacity * RAMP_SIZE);
    const { weight = 1 } = this.options;
    for (let at = 0; at < ramps.length; at += RAMP_SIZE) rampTo(ramps, at, 0, weight, 0);
    return ramps;
  }
}

function masksOf(options: readonly LayerOptions[], tracks: PoseTracks | null): Float32Array[] {
  if (tracks === null) throw new Error(`Layers need ${MIXED_POSES}`);
  return options.map(({ mask, morphTargets = mask === undefined }) =>
    layerMask(tracks, mask, morphTargets ? 1 : 0),
  );
}

/** @throws If that are no layers. */
function checkLayers(layers: readonly LayerOptions[]): void {
  if (layers.length >= MAX_LAYERS) {
    throw new Error(`There are ${layers.length} layers; there may be ${MAX_LAYERS - 1} over the base.`);
  }
  const names = new Set([BASE_LAYER]);
  layers.forEach(({ name, weight = 1 }, i) => {
    if (names.has(name)) {
      throw new Error(
        `Layer ${i + 1} is called ${JSON.stringify(name)}; each needs a name of its own, other than "${BASE_LAYER}".`,
      );
    }
    names.add(name);
    checkWeight(weight);
  });
}

/**
 * Where a layer shows, by names of joints, or of nodes above them:
 *
 * - `['Spine']`: on these and on all that hang on them;
 * - `{ joints: ['Spine', 'Neck'], below: false }`: on these alone;
 * - `{ Spine: 0.5, Hand_R: 1 }`: by so much on each and on all that hang on it, as far as nothing else is said of them.
 */
export type LayerMask =
  | readonly string[]
  | {
      /** Names. */
      joints: readonly string[];
      /** Whether what hangs on these is meant too. @default true */
      below?: boolean;
    }
  | Readonly<Record<string, number>>;

/**
 * How much of a layer shows on each node of a character, 0 to 1, and behind the nodes on each group of morph targets.
 *
 * @param morphs How much of it shows on morph targets.
 * @throws If the mask names what is not there, or nothing at all; `caller` begins the message.
 */
function layerMask(
  { names, parents, morphRest }: PoseTracks,
  mask: LayerMask | undefined,
  morphs: number,
): Float32Array {
  const shares = new Float32Array(parents.length + morphRest.length / 4).fill(morphs, parents.length);
  if (mask === undefined) return shares.fill(1, 0, parents.length);
  const weights = weightsOf(mask);
  if (weights.size === 0)
    throw new Error('The mask of a layer names no joint; leave it out for all of them.');
  for (const name of weights.keys()) {
    if (names.includes(name)) continue;
    throw new Error(
      `The mask of a layer names "${name}", which is no joint of the character; it has ${listNames(names, name)}.`,
    );
  }
  const below = !('joints' in mask) || mask.below !== false || !Array.isArray(mask.joints);
  // Parents come before children.
  for (let node = 0; node < parents.length; node++) {
    const inherited = below && parents[node] >= 0 ? shares[parents[node]] : 0;
    shares[node] = weights.get(names[node]) ?? inherited;
  }
  if (shares.every((share) => share === 0)) throw new Error('The mask of a layer lets it show nowhere.');
  return shares;
}

/** What a mask says of each name. */
function weightsOf(mask: LayerMask): Map<string, number> {
  const list = Array.isArray(mask) ? mask : (mask as { joints?: unknown }).joints;
  if (Array.isArray(list)) return new Map(list.map((name) => [String(name), 1]));
  return new Map(
    Object.entries(mask as Record<string, number>).map(([name, weight]) => {
      if (weight >= 0 && weight <= 1) return [name, weight];
      throw new Error(`The mask of a layer gives "${name}" a weight of ${weight}; use a number from 0 to 1.`);
    }),
  );
}
