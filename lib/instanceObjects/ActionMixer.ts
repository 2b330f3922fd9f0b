import type { PlayedAction } from './PlayedAction.js';

/** What an action needs of the mixer that it belongs to. */
export interface ActionMixer<T> {
  /** Whose actions these are. */
  readonly owner: T;
  /** Seconds of the mixer's time. */
  readonly time: number;
  /** Seconds since the crowd's beginning. */
  readonly elapsed: number;
  /** Brings an action up to the last update, so that it can be read or changed. */
  sync(action: PlayedAction): void;
  /** Call after an action was changed. */
  changed(action: PlayedAction): void;
  isActive(action: PlayedAction): boolean;
  activate(action: PlayedAction): void;
  deactivate(action: PlayedAction): void;
}
