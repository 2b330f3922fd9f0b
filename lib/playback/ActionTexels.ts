import { REST_FRAME } from '../constants.js';
import { InstanceTexture } from '../instances/InstanceTexture.js';
import { encodeSlot } from './encodeSlot.js';
import {
  ACTION_FADE_RATE,
  ACTION_FADE_START,
  ACTION_FROM,
  ACTION_TEXELS,
  ACTION_TO,
  ACTION_WARP_RATE,
  ACTION_WARP_START,
  ACTIONS_PER_ROW,
  ACTIONS_TEXELS,
  CLIP_START,
} from './instanceLayout.js';
import type { LayerSlots } from './LayerSlots.js';
import {
  SLOT_FADE_RATE,
  SLOT_FADE_START,
  SLOT_FROM,
  SLOT_START,
  SLOT_TO,
  SLOT_WARP_RATE,
  SLOT_WARP_START,
  weightAt,
} from './slots.js';

/** Numbers of an action, and of an instance. */
const ACTION_STRIDE = ACTION_TEXELS * 4;
const STRIDE = ACTIONS_TEXELS * 4;

/** What instances play as the pose pass reads it; `instanceLayout` says how it lies. */
export class ActionTexels {
  readonly texture: InstanceTexture;

  constructor(
    capacity: number,
    private readonly layer: LayerSlots,
  ) {
    this.texture = new InstanceTexture(capacity, STRIDE, ACTIONS_PER_ROW);
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
    const { data } = this.texture;
    let to = index * STRIDE;
    const end = to + STRIDE;
    const count = layer.order.count(index);
    for (let place = 0; place < count; place++) {
      const slots = layer.slotsAt(index, place);
      // What no action has of the weight is the rest pose.
      if (slots[at + SLOT_START] === REST_FRAME) continue;
      encodeSlot(slots, at, clock, held, data, to);
      if (data[to + CLIP_START] === REST_FRAME) continue;
      const weight = held ? weightAt(slots, at, clock) : 0;
      data[to + ACTION_FADE_START] = slots[at + SLOT_FADE_START];
      data[to + ACTION_FADE_RATE] = held ? 0 : slots[at + SLOT_FADE_RATE];
      data[to + ACTION_FROM] = held ? weight : slots[at + SLOT_FROM];
      data[to + ACTION_TO] = held ? weight : slots[at + SLOT_TO];
      data[to + ACTION_WARP_START] = slots[at + SLOT_WARP_START];
      data[to + ACTION_WARP_RATE] = slots[at + SLOT_WARP_RATE];
      to += ACTION_STRIDE;
    }
    if (to < end) data[to + CLIP_START] = REST_FRAME;
  }

  /** Marks an instance for upload. */
  changed(index: number): void {
    this.texture.changed(index);
  }

  /** Marks all instances for upload. */
  changedAll(): void {
    this.texture.changedAll();
  }

  dispose(): void {
    this.texture.dispose();
  }
}
