import { Vector4 } from 'three';
import { describe } from '../utils/describe.js';

/** A channel of vertex colours. */
export type Channel = 'r' | 'g' | 'b' | 'a';

/**
 * A vector that takes the channel out of a colour.
 *
 * @throws If there is no such channel.
 */
export function channelOf(channel: Channel, caller: string): Vector4 {
  const index = 'rgba'.indexOf(channel);
  if (typeof channel === 'string' && channel.length === 1 && index >= 0) {
    // three.js's vectors of four begin with a last component of 1.
    return new Vector4(0, 0, 0, 0).setComponent(index, 1);
  }
  throw new Error(`${caller}: channel is ${describe(channel)}; use 'r', 'g', 'b' or 'a'.`);
}
