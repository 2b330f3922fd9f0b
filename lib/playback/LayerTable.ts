import { DataTexture, FloatType, RGBAFormat } from 'three';
import { MIXED_POSES } from '../constants.js';
import type { BakedClip } from '../poses/ClipTable.js';
import { type LayerMask, layerMask } from '../tracks/layerMask.js';
import type { PoseTracks } from '../tracks/PoseTracks.js';
import { describe } from '../utils/describe.js';
import { MAX_LAYERS } from './instanceLayout.js';
import { checkWeight, type LayerReference } from './PlayOptions.js';

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
  /** How much of it shows on instances to begin with, 0 to 1, see `setLayerWeightAt`. @default 1 */
  weight?: number;
}

/** Name of the layer that all others lie over. */
export const BASE_LAYER = 'base';

/** Texels in a row of the texture of masks: a power of two. */
export const MASKS_PER_ROW = 256;

/** The layers of a crowd: how many there are, what they are called, and where they show. */
export class LayerTable {
  /** With the base. */
  readonly count: number;
  /** The base first. */
  readonly names: readonly string[];
  private tracks: PoseTracks | null = null;
  private shares: readonly Float32Array[] = [];
  private texture: DataTexture | null = null;

  /**
   * @param options Of the layers over the base.
   * @param character Tracks of the character, null if it has none. Asked anew each time, since they may change.
   */
  constructor(
    readonly options: readonly LayerOptions[],
    private readonly character: () => PoseTracks | null,
  ) {
    this.count = options.length + 1;
    this.names = [BASE_LAYER, ...options.map(({ name }) => name)];
  }

  /** Weights of the layers over the base that instances have to begin with. */
  get initialWeights(): number[] {
    return this.options.map(({ weight = 1 }) => weight);
  }

  /**
   * How much of each layer over the base shows on each node, and behind the nodes on each group of four morph targets: an
   * RGBA texel for each, `MASKS_PER_ROW` in a row. Another texture with another bone texture.
   */
  get masks(): DataTexture {
    const shares = this.current();
    if (this.texture === null) {
      const entries = shares[0]?.length ?? 0;
      const height = Math.max(1, Math.ceil(entries / MASKS_PER_ROW));
      const data = new Float32Array(MASKS_PER_ROW * height * 4);
      shares.forEach((share, layer) => {
        for (let entry = 0; entry < entries; entry++) data[entry * 4 + layer] = share[entry];
      });
      this.texture = new DataTexture(data, MASKS_PER_ROW, height, RGBAFormat, FloatType);
      this.texture.needsUpdate = true;
    }
    return this.texture;
  }

  /** How much of a layer shows on each node, and behind them on each group of morph targets; null for all of it everywhere. */
  maskOf(layer: number): Float32Array | null {
    return layer === 0 ? null : this.current()[layer - 1];
  }

  /**
   * Number of a layer; that of the base, if none is meant.
   *
   * @throws If there is no such layer.
   */
  indexOf(layer: LayerReference | undefined, caller: string): number {
    if (layer === undefined) return 0;
    const index = typeof layer === 'number' ? layer : this.names.indexOf(layer);
    if (Number.isInteger(index) && index >= 0 && index < this.count) return index;
    const names = this.names.map((name) => `"${name}"`).join(', ');
    throw new Error(
      `${caller}: no layer ${describe(layer)}; the crowd has ${names}. Others are an option of it: layers.`,
    );
  }

  /** Whether a layer may play a clip: one that is not additive would replace what an additive layer is to add to. */
  takes(layer: number, clip: BakedClip): boolean {
    return !this.isAdditive(layer) || this.character()?.clips[clip.start - 1].additive === true;
  }

  /** @throws If a layer may not play a clip. */
  checkClip(layer: number, clip: BakedClip, caller: string): void {
    if (this.takes(layer, clip)) return;
    throw new Error(
      `${caller}: clip "${clip.name}" is not additive, and layer "${this.names[layer]}" takes no others; call AnimationUtils.makeClipAdditive before it is baked.`,
    );
  }

  /**
   * By how much a layer moves instances by the root motion of its clips, or keeps those of the layers below from doing so: as
   * much as it shows on the first joint.
   */
  motionShare(layer: number): number {
    const tracks = this.character();
    return layer === 0 || tracks === null ? 1 : this.current()[layer - 1][tracks.jointNodes[0]];
  }

  /** Whether a layer adds to those below it. */
  isAdditive(layer: number): boolean {
    return layer > 0 && this.options[layer - 1].additive === true;
  }

  /**
   * Checks that the layers can lie over a character.
   *
   * @throws If it has no tracks, or lacks what a mask names.
   */
  check(tracks: PoseTracks | null, caller: string): void {
    masksOf(this.options, tracks, caller);
  }

  dispose(): void {
    this.texture?.dispose();
    this.texture = null;
  }

  /** The masks as they lie over the character there is now. */
  private current(): readonly Float32Array[] {
    const tracks = this.character();
    if (this.tracks !== tracks) {
      this.dispose();
      this.tracks = tracks;
      this.shares = masksOf(this.options, tracks, 'SkinnedInstancedMesh');
    }
    return this.shares;
  }
}

function masksOf(
  options: readonly LayerOptions[],
  tracks: PoseTracks | null,
  caller: string,
): Float32Array[] {
  if (options.length === 0) return [];
  if (tracks === null) {
    throw new Error(`${caller}: layers need ${MIXED_POSES}`);
  }
  return options.map(({ name, mask, morphTargets = mask === undefined }) =>
    layerMask(tracks, mask, morphTargets ? 1 : 0, `${caller}: layer "${name}"`),
  );
}

/** @throws If that are no layers. */
export function checkLayers(layers: readonly LayerOptions[], caller: string): void {
  if (!Array.isArray(layers)) {
    throw new Error(
      `${caller}: layers is ${describe(layers)}; pass an array like [{ name: 'upper', mask: ['Spine'] }].`,
    );
  }
  if (layers.length >= MAX_LAYERS) {
    throw new Error(`${caller}: ${layers.length} layers; there may be ${MAX_LAYERS - 1} over the base.`);
  }
  const names = new Set<unknown>([BASE_LAYER]);
  layers.forEach((layer, i) => {
    const { name, weight = 1 } = (layer ?? {}) as Partial<LayerOptions>;
    if (typeof name !== 'string' || names.has(name)) {
      throw new Error(
        `${caller}: layer ${i + 1} is called ${JSON.stringify(name)}; each needs a name of its own, other than "${BASE_LAYER}".`,
      );
    }
    names.add(name);
    checkWeight(weight, `${caller}: layer "${name}"`);
  });
}
