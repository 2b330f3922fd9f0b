/** What happened to an instance's clip; the first two as `AnimationMixer` has them. */
export type PlaybackEvent = FinishedEvent | LoopEvent | MarkerEvent;

/** A clip ran its last repetition. */
export interface FinishedEvent {
  /** For telling events apart. */
  type: 'finished';
  /** Index of the instance. */
  instanceId: number;
  /** Name of the clip. */
  clip: string;
  /** Name of the layer on which it plays: `'base'`, or one of the crowd's option `layers`. */
  layer: string;
  /** 1, or -1 when played in reverse. */
  direction: 1 | -1;
}

/** A clip came to its end and begins anew, or in a ping-pong turns around; at most one for each update. */
export interface LoopEvent {
  /** For telling events apart. */
  type: 'loop';
  /** Index of the instance. */
  instanceId: number;
  /** Name of the clip. */
  clip: string;
  /** Name of the layer on which it plays: `'base'`, or one of the crowd's option `layers`. */
  layer: string;
  /** How often it did so in this update, as a rule 1; negative when played in reverse. */
  loopDelta: number;
}

/** An instance played past a marker, see `BoneTexture.addMarker`. */
export interface MarkerEvent {
  /** For telling events apart. `'mark'` is the former name, which goes with the next version. */
  type: 'marker' | 'mark';
  /** Index of the instance. */
  instanceId: number;
  /** Name of the clip. */
  clip: string;
  /** Name of the layer on which it plays: `'base'`, or one of the crowd's option `layers`. */
  layer: string;
  /** What the marker is called. */
  name: string;
  /** Seconds into the clip at which the marker is. */
  time: number;
  /** 1, or -1 when the clip ran backwards here: in reverse, or on the way back of a ping-pong. */
  direction: 1 | -1;
}

/** @deprecated Use `MarkerEvent`. */
export type MarkEvent = MarkerEvent;

export type PlaybackEventType = PlaybackEvent['type'];

/** All types of events that playing has. */
export const PLAYBACK_EVENT_TYPES: readonly PlaybackEventType[] = ['finished', 'loop', 'marker', 'mark'];
