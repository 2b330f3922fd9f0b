import { REST_FRAME } from '../constants.js';
import { InstanceTexture } from '../instances/InstanceTexture.js';
import type { Clock } from './Clock.js';
import { encodeSlot } from './encodeSlot.js';
import {
  ACTION_FADE_RATE,
  ACTION_FADE_START,
  ACTION_FROM,
  ACTION_LAYER,
  ACTION_TEXELS,
  ACTION_TO,
  ACTION_WARP_RATE,
  ACTION_WARP_START,
  actionsRowBits,
  actionsTexels,
  CLIP_START,
  firstAction,
  HEADER_CHANGED,
  HEADER_PHASE,
  HEADER_RATE,
} from './instanceLayout.js';
import type { LayerStack } from './LayerStack.js';
import { type PoseRates, phaseOf } from './PoseRates.js';
import { encodeRamp } from './ramps.js';
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

/** What instances play as the pose pass reads it; `instanceLayout` says how it lies. */
export class ActionTexels {
  readonly texture: InstanceTexture;
  /** Numbers of an instance, and of what stands before its actions. */
  private readonly stride: number;
  private readonly first: number;

  constructor(
    capacity: number,
    private readonly stack: LayerStack,
    private readonly time: Clock,
    private readonly rates: PoseRates,
  ) {
    const layers = stack.layers.length;
    this.stride = actionsTexels(layers) * 4;
    this.first = firstAction(layers) * 4;
    this.texture = new InstanceTexture(capacity, this.stride, 2 ** actionsRowBits(layers));
    for (let i = 0; i < capacity; i++) this.texture.data[i * this.stride + HEADER_PHASE] = phaseOf(i);
  }

  /** Writes an instance, without marking it for upload. */
  write(index: number): void {
    const { stack, time, texture, stride } = this;
    const { data } = texture;
    const clock = time.timeOf(index);
    const held = time.isPaused(index);
    const at = index * stride;
    data[at + HEADER_CHANGED] = this.rates.changedAt[index] = time.time;
    data[at + HEADER_RATE] = this.rates.get(index);
    let to = this.writeLayer(0, index, clock, held, at + this.first);
    for (let layer = 1; layer < stack.layers.length; layer++) {
      const { weights } = stack;
      encodeRamp(weights.ramps[layer - 1], weights.at(index), clock, held, data, at + layer * 4);
      if (!weights.isHidden(layer, index, clock)) to = this.writeLayer(layer, index, clock, held, to);
    }
    if (to < at + stride) data[to + CLIP_START] = 0;
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

  /** Writes the actions of a layer from `to` on; returns where those of the next one begin. */
  private writeLayer(number: number, index: number, clock: number, held: boolean, to: number): number {
    const layer = this.stack.layers[number];
    const { data } = this.texture;
    const at = layer.at(index);
    const count = layer.order.count(index);
    let next = to;
    for (let place = 0; place < count; place++) {
      const slots = layer.slotsAt(index, place);
      // What no action has of the weight is the rest pose, or what the layers below show.
      if (slots[at + SLOT_START] === REST_FRAME) continue;
      encodeSlot(slots, at, clock, held, data, next);
      if (data[next + CLIP_START] === REST_FRAME) continue;
      data[next + CLIP_START] += number * ACTION_LAYER;
      const weight = held ? weightAt(slots, at, clock) : 0;
      data[next + ACTION_FADE_START] = slots[at + SLOT_FADE_START];
      data[next + ACTION_FADE_RATE] = held ? 0 : slots[at + SLOT_FADE_RATE];
      data[next + ACTION_FROM] = held ? weight : slots[at + SLOT_FROM];
      data[next + ACTION_TO] = held ? weight : slots[at + SLOT_TO];
      data[next + ACTION_WARP_START] = slots[at + SLOT_WARP_START];
      data[next + ACTION_WARP_RATE] = slots[at + SLOT_WARP_RATE];
      next += ACTION_TEXELS * 4;
    }
    return next;
  }
}
