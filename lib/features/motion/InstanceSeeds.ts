import type { CrowdFeature, FeaturedCrowd } from '../../core/CrowdFeature.js';
import { InstanceTexture } from '../../instances/InstanceTexture.js';
import { swapItems } from '../../utils/attributes.js';

/** Numbers of a texel: shaders read the first. */
const STRIDE = 4;

/**
 * What the random numbers of instances are made of: its id, until an instance is exchanged with another and takes its own
 * along. There is nothing in memory, and nothing on a GPU, as long as none was exchanged.
 */
export class InstanceSeeds implements CrowdFeature {
  private seeds: Uint32Array | null = null;
  private made: InstanceTexture | null = null;

  private capacity: number;

  constructor(crowd: FeaturedCrowd & { readonly capacity: number }) {
    this.capacity = crowd.capacity;
    crowd.use(this);
  }

  /** Whether some instance has another seed than its id. */
  get areSwapped(): boolean {
    return this.seeds !== null;
  }

  /** Seeds as shaders read them; null as long as each is the instance's id. It is made when it is first asked for. */
  get texture(): InstanceTexture | null {
    const { seeds, capacity } = this;
    if (seeds !== null && this.made === null) {
      this.made = new InstanceTexture(capacity, STRIDE);
      for (let i = 0; i < capacity; i++) this.made.data[i * STRIDE] = seeds[i];
    }
    return this.made;
  }

  of(index: number): number {
    return this.seeds === null ? index : this.seeds[index];
  }

  swap(i: number, j: number): void {
    this.seeds ??= Uint32Array.from({ length: this.capacity }, (_, id) => id);
    swapItems(this.seeds, i, j, 1);
    this.changed(i);
    this.changed(j);
  }

  reset(index: number): void {
    if (this.seeds === null || this.seeds[index] === index) return;
    this.seeds[index] = index;
    this.changed(index);
  }

  resize(capacity: number): void {
    const { seeds } = this;
    this.replace(seeds && Uint32Array.from({ length: capacity }, (_, id) => seeds[id] ?? id), capacity);
  }

  copy({ seeds, capacity }: InstanceSeeds): void {
    this.replace(seeds?.slice() ?? null, capacity);
  }

  cloneFor(crowd: FeaturedCrowd & { readonly capacity: number }): InstanceSeeds {
    return new InstanceSeeds(crowd);
  }

  dispose(): void {
    this.made?.dispose();
  }

  private changed(index: number): void {
    if (this.made === null || this.seeds === null) return;
    this.made.data[index * STRIDE] = this.seeds[index];
    this.made.changed(index);
  }

  private replace(seeds: Uint32Array | null, capacity: number): void {
    this.made?.dispose();
    this.made = null;
    this.seeds = seeds;
    this.capacity = capacity;
  }
}
