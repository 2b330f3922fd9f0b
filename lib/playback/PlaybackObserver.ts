/** What wants to know when instances play something else than before. Slots are counted over all layers. */
export interface PlaybackObserver {
  /** A clip begins, or its time was set: in one slot, or in all that the instance uses. */
  started(index: number, slot: number | null): void;
  /** Clips go on, but at another speed, or stand still: in one slot, or in all. */
  retimed(index: number, slot: number | null, turned: boolean): void;
  /** Two instances were exchanged. */
  swapped(i: number, j: number): void;
  /** There is room for another number of instances. */
  resized(capacity: number): void;
}
