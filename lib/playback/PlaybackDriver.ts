/**
 * Who tells instances what to play by actions of objects, see `skinned-instanced-mesh/objects`, instead of by index. It writes
 * what they play by `InstancePlayback.setActions`, and dispatches `finished` and `loop` of what it steers itself.
 */
export interface PlaybackDriver {
  /** Whether actions say what plays on a layer of an instance. */
  steers(index: number, layer: number): boolean;
  /** An instance is told by index what to play from now on, on one layer or, without a number, on all: its actions end. */
  released(index: number, layer?: number): void;
  /** An instance that was paused goes on; so many seconds passed meanwhile. */
  resumed(index: number, missed: number): void;
  /** Other clips of the same names have taken the place of the present ones. */
  clipsChanged(): void;
  /** Time has passed, and events of what it does not steer were dispatched. */
  advanced(): void;
  /** Two instances were exchanged. */
  swapped(i: number, j: number): void;
  /** There is room for another number of instances. */
  resized(capacity: number): void;
}
