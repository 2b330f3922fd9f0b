import type { Object3DEventMap } from 'three';
import type { BoneTexture } from '../animation/BoneTexture.js';
import type { Influences } from '../constants.js';
import type { InstanceAction } from '../objects/InstanceAction.js';
import type { SkinnedInstance } from '../objects/SkinnedInstance.js';
import type { FinishedEvent, LoopEvent, MarkerEvent } from '../playback/PlaybackEvents.js';

/** How a mesh of a crowd is drawn. */
export interface DrawOptions {
  /** Joints that a vertex follows at most; its strongest are kept. @default 4 */
  influences?: Influences;
  /** The same in shadow maps, where two or one are often enough. @default influences */
  shadowInfluences?: Influences;
  /** Whether two baked frames are mixed; else the nearest is shown. @default true */
  interpolate?: boolean;
}

/** How a crowd is drawn. */
export interface SkinnedInstancedMeshOptions extends DrawOptions {}

/** Whose clip an event is about. */
export interface EventOfAction {
  /** The action that plays the clip, of an instance as an object; not there for what was played by index. */
  action?: InstanceAction<SkinnedInstance>;
}

/** Events of a crowd; none costs anything while nobody listens to it. */
export interface SkinnedInstancedMeshEventMap extends Object3DEventMap {
  /** An instance ran the last repetition of its clip, as `AnimationMixer` dispatches it. */
  finished: Omit<FinishedEvent, 'type'> & EventOfAction;
  /** An instance came to the end of its clip and begins anew; one event for all times in one update. */
  loop: Omit<LoopEvent, 'type'> & EventOfAction;
  /** An instance played past a marker that {@link BoneTexture.addMarker} put on its clip. */
  marker: Omit<MarkerEvent, 'type'> & EventOfAction;
}
