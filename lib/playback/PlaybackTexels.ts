import { InstancedInterleavedBuffer } from 'three';
import { InstanceTexture } from '../instances/InstanceTexture.js';
import { addRange } from '../utils/addRange.js';
import { encodeFade, encodeSlot } from './encodeSlot.js';
import { CLIP_FADE, CLIP_FADE_RATE, FADES_STRIDE, OLDEST_FADE, SLOT_STRIDE } from './instanceLayout.js';
import type { LayerSlots } from './LayerSlots.js';

/** Instances within this many of each other are uploaded in one go. */
const MERGE_GAP = 32;

/** The slots of a layer as shaders read them, and which of them have to be uploaded; `instanceLayout` says how they lie. */
export class PlaybackTexels {
  /** The newest slots as WebGL reads them. */
  readonly buffer: InstancedInterleavedBuffer;
  /** The newest slots as node materials read them. */
  readonly state: InstanceTexture;
  // Nothing is kept for fades until something fades.
  private fadesTexture: InstanceTexture | null = null;

  constructor(
    private readonly capacity: number,
    private readonly layer: LayerSlots,
  ) {
    this.state = new InstanceTexture(capacity, SLOT_STRIDE);
    this.buffer = new InstancedInterleavedBuffer(this.state.data, SLOT_STRIDE);
    // WebGLRenderer clears the ranges after an update, but not after the first upload, which sends everything.
    this.buffer.onUpload(clearRanges);
  }

  /** The slots that fade out. */
  get fades(): InstanceTexture {
    return this.fadesTexture ?? nothingFades();
  }

  /**
   * Writes an instance, without marking it for upload.
   *
   * @param clock The instance's own.
   * @param held Whether it is paused.
   */
  write(index: number, clock: number, held: boolean): void {
    const { layer } = this;
    const { slots } = layer;
    const at = layer.at(index);
    const to = index * SLOT_STRIDE;
    const { data } = this.state;
    encodeSlot(slots[0], at, clock, layer.easeOf(index, 0, clock), held, data, to);
    encodeFade(slots[0], at, clock, held, data, to);
    if (!layer.hasFades(index)) return;

    this.fadesTexture ??= new InstanceTexture(this.capacity, FADES_STRIDE);
    const second = index * FADES_STRIDE;
    const oldest = second + OLDEST_FADE;
    const fades = this.fadesTexture.data;
    encodeSlot(slots[1], at, clock, layer.easeOf(index, 1, clock), held, fades, second);
    encodeFade(slots[1], at, clock, held, fades, second);
    encodeSlot(slots[2], at, clock, 0, held, fades, oldest);
    fades[oldest + CLIP_FADE] = 0;
    fades[oldest + CLIP_FADE_RATE] = 0;
  }

  /** Marks an instance for upload. */
  changed(index: number): void {
    addRange(this.buffer.updateRanges, index * SLOT_STRIDE, SLOT_STRIDE, MERGE_GAP * SLOT_STRIDE);
    this.buffer.needsUpdate = true;
    this.state.changed(index);
    if (this.layer.hasFades(index)) this.fadesTexture?.changed(index);
  }

  /** Marks all instances for upload. */
  changedAll(): void {
    this.buffer.clearUpdateRanges();
    this.buffer.addUpdateRange(0, this.capacity * SLOT_STRIDE);
    this.buffer.needsUpdate = true;
    this.state.changedAll();
    this.fadesTexture?.changedAll();
  }

  dispose(): void {
    this.state.dispose();
    this.fadesTexture?.dispose();
  }
}

/** WebGLRenderer keeps buffers that it drew for as long as it lives; so this must not hold on to anything of a crowd. */
function clearRanges(this: InstancedInterleavedBuffer): void {
  this.clearUpdateRanges();
}

let nothing: InstanceTexture | null = null;

/** Bound where a crowd never faded. */
function nothingFades(): InstanceTexture {
  nothing ??= new InstanceTexture(1, FADES_STRIDE);
  return nothing;
}
