import type { Crowd } from '../core/Crowd.js';
import { type CrowdFeature, type FeaturedCrowd, featureOf } from '../core/CrowdFeature.js';
import type { CameraView } from '../culling/CrowdViews.js';
import { addStage, type CrowdStage, STAGE_LAYERS, type ViewStage } from '../culling/CrowdViews.js';

const _kept: number[] = [];

/**
 * On which layers instances are, where that is not said by the crowd's `layers`: cameras draw those that are on one of their own, and
 * rays hit them, as three.js has it for objects.
 */
export class InstanceLayers implements CrowdFeature, CrowdStage {
  readonly stage = STAGE_LAYERS;
  /** Goes up with each change. */
  version = 0;
  /** Bits of the layers, of instances that have their own. */
  private masks = new Map<number, number>();
  private unionBits = 0;
  private unionVersion = 0;

  constructor(crowd: Crowd) {
    crowd.use(this);
    crowd.layers = this;
    addStage(crowd.views, this);
  }

  /** Puts an instance of a crowd on layers of its own; with null it is on those of the crowd. */
  static set(crowd: Crowd, index: number, mask: number | null): void {
    const found = featureOf(crowd, InstanceLayers);
    if (found !== null || mask !== null) (found ?? new InstanceLayers(crowd)).set(index, mask);
  }

  cloneFor(crowd: FeaturedCrowd): InstanceLayers {
    return new InstanceLayers(crowd as Crowd);
  }

  /** Layers that any instance is on by itself, as bits: for them the meshes of the crowd have to be drawn too. */
  get union(): number {
    if (this.unionVersion !== this.version) {
      this.unionVersion = this.version;
      this.unionBits = 0;
      for (const mask of this.masks.values()) this.unionBits |= mask;
    }
    return this.unionBits;
  }

  get isUsed(): boolean {
    return this.masks.size > 0;
  }

  /** Puts an instance on layers of its own; with null it is on those of the crowd. */
  set(index: number, mask: number | null): void {
    if (mask === null) this.masks.delete(index);
    else this.masks.set(index, mask);
    this.version++;
  }

  forView(view: CameraView): ViewStage {
    let version = -1;
    let viewerMask = 0;
    let crowdMask = 0;
    return {
      update: ({ crowd: { layersMask } }) => {
        if (!view.byLayers) return true;
        const same = viewerMask === view.lodCamera.layers.mask && crowdMask === layersMask;
        return version === this.version && (same || !this.isUsed);
      },
      apply: (_matrix, { crowd: { layersMask } }) => {
        version = this.version;
        viewerMask = view.lodCamera.layers.mask;
        crowdMask = layersMask;
        if (view.byLayers && this.isUsed) this.filter(view.seen, viewerMask, crowdMask);
      },
    };
  }

  test(index: number, mask: number, crowdMask: number): boolean {
    return ((this.masks.get(index) ?? crowdMask) & mask) !== 0;
  }

  /** Clears the bits of instances that are on none of some layers: bit `id & 31` of word `id >> 5`. */
  private filter(bits: Int32Array, mask: number, crowdMask: number): void {
    _kept.length = 0;
    for (const [id, own] of this.masks) {
      const bit = 1 << (id & 31);
      if ((own & mask) !== 0 && (bits[id >> 5] & bit) !== 0) _kept.push(id);
      bits[id >> 5] &= ~bit;
    }
    if ((crowdMask & mask) === 0) bits.fill(0);
    for (const id of _kept) bits[id >> 5] |= 1 << (id & 31);
  }

  resize(capacity: number): void {
    for (const id of this.masks.keys()) if (id >= capacity) this.masks.delete(id);
    this.version++;
  }

  swap(i: number, j: number): void {
    if (!this.isUsed) return;
    const one = this.masks.get(i) ?? null;
    this.set(i, this.masks.get(j) ?? null);
    this.set(j, one);
  }

  reset(index: number): void {
    if (this.masks.has(index)) this.set(index, null);
  }

  copy(source: InstanceLayers): void {
    this.masks = new Map(source.masks);
    this.version++;
  }

  dispose(): void {
    this.masks.clear();
    this.version++;
  }
}
