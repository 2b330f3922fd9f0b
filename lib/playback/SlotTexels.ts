import { InstancedInterleavedBuffer } from 'three';
import { REPEAT_FOREVER, REST_FRAME } from '../constants.js';
import { InstanceTexture } from '../instances/InstanceTexture.js';
import { addRange } from '../utils/addRange.js';
import { encodeSlot } from './encodeSlot.js';
import {
  CLIP_COUNT,
  CLIP_FADE,
  CLIP_FADE_RATE,
  CLIP_PASSES,
  CLIP_START,
  FADES_STRIDE,
  OLDEST_FADE,
  packCount,
  SLOT_STRIDE,
} from './instanceLayout.js';
import type { LayerSlots } from './LayerSlots.js';
import { SLOT_FADE_RATE, SLOT_FADE_START, SLOT_FROM, SLOT_TO, type Slots, weightAt } from './slots.js';

/** Instances within this many of each other are uploaded in one go. */
const MERGE_GAP = 32;

/** What instances play as shaders read it where each vertex poses itself; `instanceLayout` says how it lies. */
export class SlotTexels {
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
    return this.fadesTexture ?? sharedEmptyFades();
  }

  /**
   * Writes an instance, without marking it for upload.
   *
   * @param clock The instance's own.
   * @param held Whether it is paused.
   */
  write(index: number, clock: number, held: boolean): void {
    const { layer } = this;
    const at = layer.at(index);
    const to = index * SLOT_STRIDE;
    const { data } = this.state;
    const count = layer.order.count(index);
    if (count === 0) {
      writeRest(data, to);
      return;
    }
    writeSlot(layer.slotsAt(index, count - 1), at, clock, held, count > 1, data, to);
    if (count === 1) return;

    this.fadesTexture ??= new InstanceTexture(this.capacity, FADES_STRIDE);
    const fades = this.fadesTexture.data;
    const second = index * FADES_STRIDE;
    writeSlot(layer.slotsAt(index, count - 2), at, clock, held, count > 2, fades, second);
    if (count > 2) writeSlot(layer.slotsAt(index, 0), at, clock, held, false, fades, second + OLDEST_FADE);
  }

  /** Marks an instance for upload. */
  changed(index: number): void {
    addRange(this.buffer.updateRanges, index * SLOT_STRIDE, SLOT_STRIDE, MERGE_GAP * SLOT_STRIDE);
    this.buffer.needsUpdate = true;
    this.state.changed(index);
    if (this.layer.order.count(index) > 1) this.fadesTexture?.changed(index);
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

function writeRest(out: Float32Array, to: number): void {
  out.fill(0, to, to + SLOT_STRIDE);
  out[to + CLIP_START] = REST_FRAME;
  out[to + CLIP_COUNT] = packCount(1, 0);
  out[to + CLIP_PASSES] = REPEAT_FOREVER;
}

/** @param covers Whether there are slots below, to which the slot leaves what it does not show. */
function writeSlot(
  slots: Slots,
  at: number,
  clock: number,
  held: boolean,
  covers: boolean,
  out: Float32Array,
  to: number,
): void {
  encodeSlot(slots, at, clock, held, out, to);
  let share = 0;
  let rate = 0;
  if (covers && held) {
    share = 1 - weightAt(slots, at, clock);
  } else if (covers) {
    const from = slots[at + SLOT_FROM];
    rate = (slots[at + SLOT_TO] - from) * slots[at + SLOT_FADE_RATE];
    share = 1 - (rate === 0 ? slots[at + SLOT_TO] : from) + rate * slots[at + SLOT_FADE_START];
  }
  out[to + CLIP_FADE] = share;
  out[to + CLIP_FADE_RATE] = rate;
}

/** WebGLRenderer keeps buffers that it drew for as long as it lives; so this must not hold on to anything of a crowd. */
function clearRanges(this: InstancedInterleavedBuffer): void {
  this.clearUpdateRanges();
}

let emptyFades: InstanceTexture | null = null;

/** Bound where a crowd never faded. */
function sharedEmptyFades(): InstanceTexture {
  emptyFades ??= new InstanceTexture(1, FADES_STRIDE);
  return emptyFades;
}
