import type { Intersection, Object3D } from 'three';
import type { InstanceData } from '../instances/InstanceData.js';
import type { PlaybackEvent } from '../playback/PlaybackEvents.js';

/** The objects that stand for instances of a crowd, see `SkinnedInstance`. */
export interface CrowdObjects extends InstanceData {
  /** An instance exists no more. */
  deleted(id: number): void;
  /** Instances exist again, and are visible, because `count` was raised. */
  returned(start: number, end: number): void;
  /** The instances were replaced by those of another crowd. */
  copied(): void;
  /** Call before instances are moved from where they are. */
  beforeMove(): void;
  /** Call once they were: objects go where their instances are. */
  afterMove(): void;
  /** Whether a ray may hit an instance: not if its hits in a mesh are in the list already. */
  mayHit(id: number, mesh: Object3D, intersects: readonly Intersection[]): boolean;
  /** The object that stands for an instance; null if none does. */
  objectOf(id: number): Object3D | null;
  /** The clock of the crowd has moved, and its events were dispatched. */
  advanced(): void;
  /** Whether an object has listeners for a type of events. */
  hears(type: string): boolean;
  /** Something happened to what the instance of an object plays. */
  tell(object: Object3D, event: PlaybackEvent): void;
}
