import type { PlaybackEvent } from '../playback/playbackEventTypes.js';
import { PlacedInstance } from './PlacedInstance.js';

/**
 * An instance of a crowd that is an object of its own, as a `SkinnedMesh` would be: placed by `position`, `rotation` and `scale`,
 * with children, anywhere in the scene.
 *
 * It begins as a child of its crowd, and is drawn at once. In the crowd it is one of the instances, known there by
 * {@link PlacedInstance.instanceId}.
 */
export class SkinnedInstance extends PlacedInstance {
  override readonly type: string = 'SkinnedInstance';
  /** For type testing. */
  readonly isSkinnedInstance = true;

  /** @internal */
  told(event: PlaybackEvent): void {
    this.dispatchEvent({ ...event });
  }
}
